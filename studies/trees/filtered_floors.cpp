/// @file
/// @brief Study tree-filtered-floors: losses of exact belief propagation on filtered trees, summed
/// over all sequences, against those of drawn sequences.

#include <fmt/format.h>

#include <cmath>

#include "attica/sim/trees/filtered_sampler.hpp"
#include "attica/studies/trees/model.hpp"
#include "attica/theory/trees/belief.hpp"
#include "attica/theory/trees/floors.hpp"
#include "attica/theory/trees/sequence_laws.hpp"

namespace attica::tree_filtered_floors {
namespace {

const Choices<FloorRoute> kRoutes = {{"auto", FloorRoute::automatic},
                                     {"enumeration", FloorRoute::enumeration},
                                     {"siblings", FloorRoute::siblings},
                                     {"monte_carlo", FloorRoute::monte_carlo}};

const Choices<WrongPredictor> kWrong = {{"level_below", WrongPredictor::level_below},
                                        {"level_above", WrongPredictor::level_above},
                                        {"children_exchanged", WrongPredictor::children_exchanged},
                                        {"heads_alone", WrongPredictor::heads_alone}};

/// Nats below which the root follows from the sequence.
constexpr double kCertain = 1e-9;

Point of_predictor(int level) { return {{"predictor", static_cast<double>(level)}}; }

/// Whether every sequence has a tree: then no predictor excludes what another level's data hold.
bool allows_all(const FilteredTree& tree) {
  return (tree.root.array() > 0).all() &&
         std::ranges::all_of(tree.rules, [](const Eigen::MatrixXd& rule) {
           return (rule.colwise().sum().array() > 0).all();
         });
}

/// Mean of -log b over the observed leaves.
double observed_loss(const BeliefPropagation& messages, const std::vector<int>& leaves) {
  double total = 0;
  for (std::size_t m = 0; m < leaves.size(); ++m) {
    total -= std::log(messages.leaf_laws()(leaves[m], static_cast<Eigen::Index>(m)));
  }
  return total / static_cast<double>(leaves.size());
}

/// A reader of blocks: each by the messages of its own tree.
class WindowReader {
 public:
  WindowReader(const FilteredTree& tree, int level) {
    for (const FilteredTree& block : blocks(tree, level)) messages_.emplace_back(block, level);
  }
  double loss(const std::vector<int>& leaves) {
    const std::size_t length = leaves.size() / messages_.size();
    double total = 0;
    for (std::size_t j = 0; j < messages_.size(); ++j) {
      const auto first = leaves.begin() + static_cast<std::ptrdiff_t>(j * length);
      part_.assign(first, first + static_cast<std::ptrdiff_t>(length));
      messages_[j].pass(part_);
      total += observed_loss(messages_[j], part_);
    }
    return total / static_cast<double>(messages_.size());
  }

 private:
  std::vector<BeliefPropagation> messages_;
  std::vector<int> part_;
};

class Floors : public PointwiseExperiment {
 public:
  explicit Floors(Configuration& c)
      : tree_(filtered_tree(c)),
        route_(kRoutes.of(c, "theory.route")),
        plan_{.sequences = c.integer("theory.sequences")},
        predictor_(c.text("theory.predictor")),
        sequences_(c.integer("sim.sequences")),
        all_(allows_all(tree_)) {
    if (c.has("sweep.level")) {
      for (const std::int64_t k : ascending(c.integers("sweep.level"))) {
        require(k <= tree_.depth,
                "sweep.level",
                static_cast<double>(k),
                fmt::format("levels up to model.depth = {}", tree_.depth));
        levels_.push_back(static_cast<int>(k));
      }
    } else {
      for (int k = 0; k <= tree_.depth; ++k) levels_.push_back(k);
    }
    if (predictor_ != "exact") {
      require(tree_.sequences() <= kMostSequences,
              "theory.predictor",
              tree_.sequences(),
              "at most 2^20 sequences unless theory.predictor = \"exact\"");
    }
    if (!all_) {
      warnings_.emplace_back(
          "the rule excludes sequences: the losses of predictors of higher levels than the data's "
          "are infinite, and are left out");
    }
  }

  TheoryResult theory(TheoryGrid /*grid*/) const override {
    TheoryResult result;
    Curves curves({}, "level", {"own_loss", "full_loss", "window_loss", "root_loss"});
    for (const int k : levels_) {
      const auto predicted = [](const Floor& floor) {
        return PredictedValue(floor.value, 0, true, floor.error);
      };
      Floor own = own_floor(tree_, k, route_, plan_);
      Floor full = full_floor(tree_, k, route_, plan_);
      if (predictor_ == "data_exchanged") {
        std::swap(own, full);
      } else if (predictor_ != "exact") {
        const Eigen::VectorXd law = wrong_predictor(tree_, k, kWrong(predictor_));
        own = {.value = masked_loss(sequence_law(tree_, k), law, tree_.alphabet)};
        full = {.value = masked_loss(sequence_law(tree_, tree_.depth), law, tree_.alphabet)};
      }
      const Floor root = root_floor(tree_, k, route_, plan_);
      curves.add(static_cast<double>(k),
                 {predicted(own),
                  predicted(full),
                  fluctuating(window_floor(tree_, k, route_, plan_), k),
                  PredictedValue(root.value, 0, root.value > kCertain, root.error)});
    }
    curves.into(result);
    for (const int j : levels_) {
      Curves cross(of_predictor(j), "level", {"cross_loss"});
      for (const int k : levels_) {
        if (j != k && !compared(j, k)) continue;
        const Floor floor = cross_floor(tree_, j, k, route_, plan_);
        cross.add(static_cast<double>(k), {PredictedValue(floor.value, 0, j != k, floor.error)});
      }
      if (!cross.empty()) cross.into(result);
    }
    return result;
  }

 protected:
  double flops(std::size_t /*point*/) const override {
    const auto levels = static_cast<double>(levels_.size());
    return static_cast<double>(sequences_) * levels * (levels + 1) * 8 *
           static_cast<double>(tree_.leaves() * tree_.tuples());
  }

  Outcome run(const Replicate& replicate) const override {
    std::vector<BeliefPropagation> messages;
    std::vector<WindowReader> readers;
    for (const int k : levels_) {
      messages.emplace_back(tree_, k);
      readers.emplace_back(tree_, k);
    }
    const std::size_t count = levels_.size();
    Eigen::MatrixXd cross = Eigen::MatrixXd::Zero(levels_.size(), levels_.size());
    Eigen::VectorXd full = Eigen::VectorXd::Zero(std::ssize(levels_));
    Eigen::VectorXd window = full;
    Eigen::VectorXd root = full;
    std::vector<int> leaves;
    StreamAddress address = replicate.address();
    const auto n = static_cast<double>(sequences_);
    for (std::size_t k = 0; k < count; ++k) {
      address.step = static_cast<std::uint64_t>(levels_[k]);
      RandomStream stream(address);
      const FilteredSampler sampler(tree_, levels_[k]);
      for (std::int64_t i = 0; i < sequences_; ++i) {
        const int letter = sampler.draw(stream, leaves);
        for (std::size_t j = 0; j < count; ++j) {
          if (j != k && !compared(levels_[j], levels_[k])) continue;
          messages[j].pass(leaves);
          cross(j, k) += observed_loss(messages[j], leaves) / n;
        }
        messages[k].pass(leaves);
        root[k] -= std::log(messages[k].root()[letter]) / n;
      }
    }
    // Data of the whole tree, apart from those of its level in the sweep.
    address.step = static_cast<std::uint64_t>(tree_.depth) + 1;
    RandomStream stream(address);
    const FilteredSampler sampler(tree_, tree_.depth);
    for (std::int64_t i = 0; i < sequences_; ++i) {
      sampler.draw(stream, leaves);
      for (std::size_t k = 0; k < count; ++k) {
        messages[k].pass(leaves);
        full[k] += observed_loss(messages[k], leaves) / n;
        window[k] += readers[k].loss(leaves) / n;
      }
    }
    Outcome outcome;
    Curves curves({}, "level", {"own_loss", "full_loss", "window_loss", "root_loss"});
    for (std::size_t k = 0; k < count; ++k) {
      curves.add(levels_[k], std::vector<double>{cross(k, k), full[k], window[k], root[k]});
    }
    curves.into(outcome);
    for (std::size_t j = 0; j < count; ++j) {
      Curves others(of_predictor(levels_[j]), "level", {"cross_loss"});
      for (std::size_t k = 0; k < count; ++k) {
        if (j == k || compared(levels_[j], levels_[k])) {
          others.add(levels_[k], std::vector<double>{cross(j, k)});
        }
      }
      if (!others.empty()) others.into(outcome);
    }
    return outcome;
  }

 private:
  /// Of single letters that are uniform the loss is log q, whatever is drawn.
  PredictedValue fluctuating(const Floor& window, int level) const {
    const bool constant =
        level == 0 && std::abs(window.value - std::log(tree_.alphabet)) < kCertain;
    return {window.value, 0, !constant, window.error};
  }
  /// Whether the loss of that predictor on data of another level is finite.
  bool compared(int predictor, int level) const {
    return predictor != level && (predictor < level || all_);
  }

  FilteredTree tree_;
  FloorRoute route_;
  FloorSampling plan_;
  std::string predictor_;
  std::int64_t sequences_;
  bool all_;
  std::vector<int> levels_;
};

std::vector<ClaimResult> claims(const Configuration& /*c*/, const Observed& observed) {
  constexpr double kStep = 0.01;
  std::vector<double> window;
  for (const Prediction& p : observed.theory) {
    if (p.series.name == "window_loss") window = p.series.y;
  }
  bool apart = window.size() > 1;
  for (std::size_t k = 1; k < window.size(); ++k)
    apart = apart && window[k - 1] - window[k] >= kStep;
  if (!apart) return {};
  const auto paths = by_replicate(observed.paths("window_loss"));
  return {claim_rate("windows-fall",
                     "the loss of a reader of blocks falls with their height",
                     paths.where([](const std::vector<double>& path) {
                       return std::is_sorted(path.rbegin(), path.rend());
                     }),
                     fmt::format("least step of the theory above {}", kStep))};
}

}  // namespace

Study study() {
  return described({.name = "tree-filtered-floors", .make = make<Floors>, .claims = claims});
}

}  // namespace attica::tree_filtered_floors
