#include "attica/theory/trees/floors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/core/parallel.hpp"
#include "attica/core/random.hpp"
#include "attica/theory/trees/belief.hpp"
#include "attica/theory/trees/sequence_laws.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr double kMostSiblingTerms = 67108864;  // 2^26
constexpr double kSems = 3;

/// -sum_a p(a) log q(a); infinite if q excludes what p does not.
template <class P, class Q>
double cross_entropy_of(const P& p, const Q& q) {
  double total = 0;
  for (Index a = 0; a < p.size(); ++a) {
    if (p[a] > 0) total -= p[a] * std::log(q[a]);
  }
  return total;
}

/// Whether every tuple has exactly one parent, at every level.
bool has_one_parent(const FilteredTree& tree) {
  return std::ranges::all_of(tree.rules, [](const MatrixXd& rule) {
    return ((rule.array() > 0).cast<int>().colwise().sum() == 1).all();
  });
}

/// The levels above the heads of blocks as a tree of their own, whose leaves are the heads.
FilteredTree top_of(const FilteredTree& tree, int level) {
  FilteredTree top = tree;
  top.depth = tree.depth - level;
  if (tree.rules.size() > 1) {
    top.rules.assign(tree.rules.begin(), tree.rules.begin() + top.depth);
  }
  return top;
}

/// What a leaf's letter makes of the letters above it, given the siblings on the way: its block's
/// head, and the probability of all these tuples given the head.
struct Climb {
  Index head;
  double weight;
};

/// Sums over heads and siblings.
class Siblings {
 public:
  Siblings(const FilteredTree& tree, int level)
      : q_(tree.alphabet),
        level_(level),
        blocks_(tree.nodes(tree.depth - level)),
        tree_(tree),
        top_(top_of(tree, level)) {
    for (const MatrixXd& rule : tree.rules) {
      std::vector<Index> parents(static_cast<std::size_t>(rule.cols()));
      for (Index c = 0; c < rule.cols(); ++c) {
        rule.col(c).maxCoeff(&parents[static_cast<std::size_t>(c)]);
      }
      parents_.push_back(std::move(parents));
    }
  }

  /// E -log b_k under the law of the heads `data` (P_k's, or P_l's); the tuples below the heads
  /// are the same under both.
  double loss(const VectorXd& data) const {
    const VectorXd own = sequence_law(top_, 0);
    const Index positions = tree_.nodes(level_);
    Index siblings = 1;
    for (int d = 0; d < level_; ++d) siblings *= tree_.tuples() / q_;
    double total = 0;
    std::vector<Climb> climbs(static_cast<std::size_t>(q_));
    for (Index position = 0; position < positions; ++position) {
      for (Index seen = 0; seen < siblings; ++seen) {
        for (Index a = 0; a < q_; ++a) {
          climbs[static_cast<std::size_t>(a)] = climb(position, seen, a);
        }
        for (Index stride = 1; stride < own.size(); stride *= q_) {
          total += over_heads(own, data, stride, climbs);
        }
      }
    }
    return total / static_cast<double>(positions * blocks_);
  }

  FilteredTree top() const { return top_; }

 private:
  Climb climb(Index position, Index seen, Index letter) const {
    const Index beside = tree_.tuples() / q_;  // letters of the siblings
    Climb c{.head = letter, .weight = 1};
    for (int d = tree_.depth - 1; d >= tree_.depth - level_; --d) {
      const std::size_t which = tree_.rules.size() == 1 ? 0 : static_cast<std::size_t>(d);
      Index stride = 1;
      for (Index k = position % tree_.children; k + 1 < tree_.children; ++k) stride *= q_;
      const Index rest = seen % beside;
      const Index tuple = rest / stride * stride * q_ + c.head * stride + rest % stride;
      const Index parent = parents_[which][static_cast<std::size_t>(tuple)];
      c.weight *= tree_.rules[which](parent, tuple);
      c.head = parent;
      position /= tree_.children;
      seen /= beside;
    }
    return c;
  }

  /// The sum over the heads of all blocks, of which the leaf's is the digit of that stride.
  double over_heads(const VectorXd& own,
                    const VectorXd& data,
                    Index stride,
                    const std::vector<Climb>& climbs) const {
    double total = 0;
    for (Index high = 0; high < own.size(); high += stride * q_) {
      for (Index low = high; low < high + stride; ++low) {
        double sum = 0;
        for (const Climb& c : climbs) sum += c.weight * own[low + c.head * stride];
        for (const Climb& c : climbs) {
          const double p = c.weight * data[low + c.head * stride];
          if (p > 0) total -= p * std::log(c.weight * own[low + c.head * stride] / sum);
        }
      }
    }
    return total;
  }

  Index q_;
  int level_;
  Index blocks_;
  FilteredTree tree_, top_;
  std::vector<std::vector<Index>> parents_;  ///< of every tuple, by rule
};

double siblings_loss(const FilteredTree& tree, int level, bool full) {
  const Siblings sums(tree, level);
  return sums.loss(sequence_law(sums.top(), full ? tree.depth - level : 0));
}

/// Mean entropy of the root given the sequence, of joint laws with a column for every root.
double root_entropy(const FilteredTree& tree, const MatrixXd& laws) {
  const MatrixXd joint = tree.root.asDiagonal() * laws.transpose();
  double total = 0;
  for (Index x = 0; x < joint.cols(); ++x) {
    const double sum = joint.col(x).sum();
    if (sum > 0) total += sum * cross_entropy_of(joint.col(x) / sum, joint.col(x) / sum);
  }
  return total;
}

Index drawn_letter(const double* probabilities, Index count, Index step, RandomStream& stream) {
  double left = stream.uniform();
  Index a = 0;
  while (a + 1 < count && left >= probabilities[a * step]) left -= probabilities[step * a++];
  // Rounding may leave a last letter that has probability 0.
  while (probabilities[a * step] == 0) --a;
  return a;
}

/// Sequences of P_k from the laws of heads given the root.
class FilteredSequences {
 public:
  FilteredSequences(const FilteredTree& tree, int level)
      : tree_(tree),
        head_(tree.depth - level),
        paths_(paths_from_root(tree, head_)),
        leaves_(static_cast<std::size_t>(tree.leaves())) {}

  const std::vector<int>& draw(RandomStream& stream) {
    const Index root = drawn_letter(tree_.root.data(), tree_.alphabet, 1, stream);
    for (std::size_t j = 0; j < paths_.size(); ++j) {
      const double* row = paths_[j].data() + root;
      grow(head_,
           static_cast<Index>(j),
           drawn_letter(row, tree_.alphabet, tree_.alphabet, stream),
           stream);
    }
    return leaves_;
  }

 private:
  void grow(int level, Index node, Index letter, RandomStream& stream) {
    if (level == tree_.depth) {
      leaves_[static_cast<std::size_t>(node)] = static_cast<int>(letter);
      return;
    }
    Index tuple =
        drawn_letter(tree_.rule(level).data() + letter, tree_.tuples(), tree_.alphabet, stream);
    for (int i = tree_.children; i-- > 0; tuple /= tree_.alphabet) {
      grow(level + 1, node * tree_.children + i, tuple % tree_.alphabet, stream);
    }
  }

  FilteredTree tree_;
  int head_;
  std::vector<MatrixXd> paths_;
  std::vector<int> leaves_;
};

/// Passes messages; false if the predictor excludes these leaves.
bool allowed(BeliefPropagation& predictor, const std::vector<int>& leaves) {
  try {
    predictor.pass(leaves);
  } catch (const Error&) {
    return false;
  }
  return true;
}

/// What is averaged of a sequence, by the laws under the data's level and the predictor's.
enum class Drawn { loss, root };

Floor drawn_floor(
    const FilteredTree& tree, int predictor, int level, Drawn what, const FloorSampling& plan) {
  constexpr std::int64_t kParts = 16;
  struct Sums {
    double sum = 0, squares = 0;
  };
  std::vector<std::int64_t> parts(static_cast<std::size_t>(kParts));
  for (std::int64_t k = 0; k < kParts; ++k) parts[static_cast<std::size_t>(k)] = k;
  const std::vector<Sums> all = parallel_map(parts, [&](std::int64_t part) {
    RandomStream stream({.seed = 1,
                         .id = StreamId::theory,
                         .point = static_cast<std::uint64_t>(level),
                         .step = static_cast<std::uint64_t>(part)});
    FilteredSequences source(tree, level);
    BeliefPropagation right(tree, level);
    BeliefPropagation other(tree, predictor);
    Sums sums;
    const std::int64_t count =
        plan.sequences * (part + 1) / kParts - plan.sequences * part / kParts;
    for (std::int64_t k = 0; k < count; ++k) {
      const std::vector<int>& leaves = source.draw(stream);
      right.pass(leaves);
      double value = 0;
      if (what == Drawn::root) {
        value = cross_entropy_of(right.root(), right.root());
      } else {
        if (predictor != level && !allowed(other, leaves)) {
          sums.sum = std::numeric_limits<double>::infinity();
          return sums;
        }
        const MatrixXd& p = right.leaf_laws();
        const MatrixXd& f = predictor == level ? p : other.leaf_laws();
        for (Index m = 0; m < p.cols(); ++m) value += cross_entropy_of(p.col(m), f.col(m));
        value /= static_cast<double>(p.cols());
      }
      sums.sum += value;
      sums.squares += value * value;
    }
    return sums;
  });
  Sums total;
  for (const Sums& part : all) {
    total.sum += part.sum;
    total.squares += part.squares;
  }
  const auto n = static_cast<double>(plan.sequences);
  const double mean = total.sum / n;
  if (!std::isfinite(mean)) return {.value = mean, .error = 0};
  const double variance = std::max(0.0, total.squares / n - mean * mean);
  return {.value = mean, .error = kSems * std::sqrt(variance / (n - 1))};
}

FloorRoute chosen(const FilteredTree& tree, int level, FloorRoute route) {
  if (route != FloorRoute::automatic) {
    if (!has_route(tree, level, route)) {
      const bool sums = route == FloorRoute::enumeration;
      throw invalid_parameter(
          "theory.route",
          sums ? "enumeration" : "siblings",
          sums ? "at most 2^20 sequences, alphabet^(children^depth), or theory.route = \"auto\""
               : fmt::format("a rule of which every tuple has one parent, with fewer than 2^26 "
                             "heads and siblings at level {}, or theory.route = \"auto\"",
                             level));
    }
    return route;
  }
  for (const FloorRoute r : {FloorRoute::enumeration, FloorRoute::siblings}) {
    if (has_route(tree, level, r)) return r;
  }
  return FloorRoute::monte_carlo;
}

}  // namespace

bool has_route(const FilteredTree& tree, int level, FloorRoute route) {
  if (route == FloorRoute::enumeration) return tree.sequences() <= kMostSequences;
  if (route != FloorRoute::siblings) return true;
  if (!has_one_parent(tree)) return false;
  const double heads = top_of(tree, level).sequences();
  const double siblings =
      std::pow(static_cast<double>(tree.tuples()) / tree.alphabet, static_cast<double>(level));
  return heads <= kMostSequences &&
         heads * siblings * static_cast<double>(tree.leaves()) <= kMostSiblingTerms;
}

Floor own_floor(const FilteredTree& tree, int level, FloorRoute route, const FloorSampling& plan) {
  return cross_floor(tree, level, level, route, plan);
}

Floor full_floor(const FilteredTree& tree, int level, FloorRoute route, const FloorSampling& plan) {
  return cross_floor(tree, level, tree.depth, route, plan);
}

Floor window_floor(const FilteredTree& tree,
                   int level,
                   FloorRoute route,
                   const FloorSampling& plan) {
  Floor floor;
  const std::vector<FilteredTree> all = blocks(tree, level);
  for (const FilteredTree& block : all) {
    // A block of one leaf has no other: the entropy of its letter.
    const Floor one = level == 0
                          ? Floor{.value = cross_entropy_of(block.root, block.root), .error = 0}
                          : own_floor(block, level, route, plan);
    floor.value += one.value / static_cast<double>(all.size());
    floor.error += one.error / static_cast<double>(all.size());
  }
  return floor;
}

Floor root_floor(const FilteredTree& tree, int level, FloorRoute route, const FloorSampling& plan) {
  switch (chosen(tree, level, route)) {
    case FloorRoute::enumeration:
      return {.value = root_entropy(tree, sequence_laws(tree, level)), .error = 0};
    case FloorRoute::siblings:
      return {.value = root_entropy(tree, sequence_laws(top_of(tree, level), 0)), .error = 0};
    default:
      return drawn_floor(tree, level, level, Drawn::root, plan);
  }
}

Floor cross_floor(const FilteredTree& tree,
                  int predictor,
                  int level,
                  FloorRoute route,
                  const FloorSampling& plan) {
  FloorRoute by = chosen(tree, predictor, route);
  // Siblings give the losses of a predictor on its own data and on full data.
  if (by == FloorRoute::siblings && predictor != level && level != tree.depth) {
    by = FloorRoute::monte_carlo;
  }
  if (by == FloorRoute::siblings) {
    return {.value = siblings_loss(tree, predictor, level != predictor), .error = 0};
  }
  if (by == FloorRoute::monte_carlo) return drawn_floor(tree, predictor, level, Drawn::loss, plan);
  return {
      .value = masked_loss(sequence_law(tree, level), sequence_law(tree, predictor), tree.alphabet),
      .error = 0};
}

}  // namespace attica
