#include "attica/theory/joma/latent_tree.hpp"

#include <array>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/solvers/statistics/distributions.hpp"

namespace attica {

using Eigen::Array2d;
using Eigen::Index;
using Eigen::VectorXd;

namespace {

/// P(a node is 1) from that of its ancestor, so many edges above. Products of probabilities do not
/// cancel, as spins do when tokens are rare.
double descended(const LatentTree& tree, int edges, double ancestor) {
  // |rho|^n = 1 - 2 lost, and an odd power of a negative rho turns everything round.
  const double lost = edges == 0 ? 0 : -0.5 * std::expm1(edges * std::log(std::abs(tree.rho)));
  const bool turned = tree.rho < 0 && edges % 2 == 1;
  const double like = turned ? 1 - ancestor : ancestor;
  const double unlike = turned ? ancestor : 1 - ancestor;
  return (1 - lost) * like + lost * unlike;
}

/// P(1) of the root child above a leaf, over the prior or of one class.
double root_child_probability(const LatentTree& tree, Index leaf, std::optional<Index> given) {
  const auto q = tree.root_child.row(leaf >> (tree.depth - 1));
  return given ? q[*given] : q.dot(tree.prior);
}

/// Sum over the child's values of P(child | parent) times what is below it.
Array2d through_edge(double rho, const Array2d& below) {
  const double keep = 0.5 * (1 + rho);
  return {keep * below[0] + (1 - keep) * below[1], (1 - keep) * below[0] + keep * below[1]};
}

using Level = std::vector<Array2d>;  ///< by node, then value 0, 1

}  // namespace

double leaf_probability(const LatentTree& tree, Index l, std::optional<Index> given) {
  return descended(tree, tree.depth - 1, root_child_probability(tree, l, given));
}

double pair_probability(const LatentTree& tree, Index l, Index m, std::optional<Index> given) {
  const int height = tree.ancestor_height(l, m);
  if (height < tree.depth) {
    const double common =
        descended(tree, tree.depth - 1 - height, root_child_probability(tree, l, given));
    const double if_one = descended(tree, height, 1);
    const double if_zero = descended(tree, height, 0);
    return common * if_one * if_one + (1 - common) * if_zero * if_zero;
  }
  // Independent given the class.
  const auto of_class = [&](Index k) {
    return leaf_probability(tree, l, k) * leaf_probability(tree, m, k);
  };
  if (given) return of_class(*given);
  double sum = 0;
  for (Index k = 0; k < tree.classes(); ++k) sum += tree.prior[k] * of_class(k);
  return sum;
}

double conditional_probability(const LatentTree& tree,
                               Index l,
                               Index m,
                               std::optional<Index> given) {
  const double condition = leaf_probability(tree, m, given);
  require(condition > 0, "rho", tree.rho, "a tree whose leaves are 1 with positive probability");
  return l == m ? 1 : pair_probability(tree, l, m, given) / condition;
}

double pair_chi_square_p(const LatentTree& tree, Index leaf, const Eigen::MatrixXd& counts) {
  const double samples = counts.sum();
  double chi_square = 0;
  int cells = 0;
  for (Index k = 0; k < tree.classes(); ++k) {
    const double both = pair_probability(tree, leaf, 0, k);
    const double first = leaf_probability(tree, 0, k);
    const double second = leaf_probability(tree, leaf, k);
    const std::array<double, 4> exact = {
        1 - first - second + both, second - both, first - both, both};
    for (Index cell = 0; cell < 4; ++cell) {
      const double expected = samples * tree.prior[k] * exact[static_cast<std::size_t>(cell)];
      constexpr double kImpossible = 1e-9;
      if (expected < kImpossible) {
        if (counts(k, cell) > 0) return 0;
        continue;
      }
      ++cells;
      const double off = counts(k, cell) - expected;
      chi_square += off * off / expected;
    }
  }
  return cells > 1 ? chi_square_tail(chi_square, cells - 1) : 1;
}

TreePosterior tree_posterior(const LatentTree& tree, std::span<const int> leaves) {
  require(static_cast<Index>(leaves.size()) == tree.leaves(),
          "leaves",
          static_cast<double>(leaves.size()),
          "one number per leaf");
  // Upwards: below[d][i](y) = P(evidence below node i of level d | y), rescaled.
  std::vector<Level> below(static_cast<std::size_t>(tree.depth) + 1);
  Level& bottom = below.back();
  for (const int y : leaves) {
    require(y >= -1 && y <= 1, "leaves", y, "-1, 0 or 1");
    bottom.push_back(y < 0 ? Array2d(1, 1) : y == 0 ? Array2d(1, 0) : Array2d(0, 1));
  }
  double log_scale = 0;
  for (auto d = static_cast<std::size_t>(tree.depth); d-- > 1;) {
    for (std::size_t i = 0; i < below[d + 1].size(); i += 2) {
      Array2d product =
          through_edge(tree.rho, below[d + 1][i]) * through_edge(tree.rho, below[d + 1][i + 1]);
      const double scale = product.maxCoeff();
      if (scale > 0) {
        product /= scale;
        log_scale += std::log(scale);
      }
      below[d].push_back(product);
    }
  }
  const Index children = tree.root_child.rows();
  Eigen::ArrayXXd seen(children, tree.classes());  // P(evidence below a | k)
  for (Index a = 0; a < children; ++a) {
    const Array2d& at = below[1][static_cast<std::size_t>(a)];
    seen.row(a) = at[0] + (at[1] - at[0]) * tree.root_child.row(a).array();
  }
  TreePosterior posterior;
  posterior.classes = tree.prior.array() * seen.colwise().prod().transpose();
  const double evidence = posterior.classes.sum();
  require(evidence > 0, "leaves", 0, "evidence of positive probability");
  posterior.classes /= evidence;
  posterior.log_evidence = std::log(evidence) + log_scale;

  // Downwards: above[i](y) = P(y, evidence elsewhere), up to scale.
  Level above;
  for (Index a = 0; a < children; ++a) {
    Array2d message(0, 0);
    for (Index k = 0; k < tree.classes(); ++k) {
      double weight = tree.prior[k];
      for (Index b = 0; b < children; ++b) {
        if (b != a) weight *= seen(b, k);
      }
      message += weight * Array2d(1 - tree.root_child(a, k), tree.root_child(a, k));
    }
    above.push_back(message);
  }
  for (std::size_t d = 1; d <= static_cast<std::size_t>(tree.depth); ++d) {
    VectorXd marginal(static_cast<Index>(above.size()));
    Level next;
    for (std::size_t i = 0; i < above.size(); ++i) {
      above[i] /= above[i].sum();
      const Array2d joint = above[i] * below[d][i];
      marginal[static_cast<Index>(i)] = joint[1] / joint.sum();
      if (d == static_cast<std::size_t>(tree.depth)) continue;
      const Array2d left = through_edge(tree.rho, below[d + 1][2 * i]);
      const Array2d right = through_edge(tree.rho, below[d + 1][2 * i + 1]);
      next.push_back(through_edge(tree.rho, above[i] * right));
      next.push_back(through_edge(tree.rho, above[i] * left));
    }
    posterior.nodes.push_back(std::move(marginal));
    above = std::move(next);
  }
  return posterior;
}

Eigen::MatrixXd sequence_law(const LatentTree& tree) {
  constexpr Index kMost = 16;
  require(tree.leaves() <= kMost,
          "model.depth",
          tree.depth,
          "at most 16 leaves: sequences are counted");
  // The first factor has the low bits.
  const auto joined = [](const Eigen::MatrixXd& low, const Eigen::MatrixXd& high) {
    Eigen::MatrixXd both(low.rows() * high.rows(), low.cols());
    for (Index x = 0; x < high.rows(); ++x) {
      both.middleRows(x * low.rows(), low.rows()) = low.array().rowwise() * high.row(x).array();
    }
    return both;
  };
  // P(leaves below a node | its value), from the leaves upwards; columns: values.
  const double same = (1 + tree.rho) / 2;
  const Eigen::Matrix2d edge{{same, 1 - same}, {1 - same, same}};
  Eigen::MatrixXd below = Eigen::Matrix2d::Identity();
  for (int level = tree.depth; level > 1; --level) {
    const Eigen::MatrixXd child = below * edge;
    below = joined(child, child);
  }
  Eigen::MatrixXd law = tree.prior.transpose();
  for (Index a = 0; a < tree.root_child.rows(); ++a) {
    const Eigen::VectorXd q = tree.root_child.row(a).transpose();
    Eigen::MatrixXd values(2, q.size());
    values << (1 - q.array()).matrix().transpose(), q.transpose();
    law = joined(law, below * values);
  }
  return law;
}

}  // namespace attica
