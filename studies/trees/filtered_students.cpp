/// @file
/// @brief Study tree-filtered-students: networks that learn data of one level, against the floor of
/// these data.

#include <fmt/format.h>

#include <algorithm>

#include "attica/studies/trees/learning.hpp"
#include "attica/theory/trees/floors.hpp"

namespace attica::tree_filtered_students {
namespace {

/// What the loss of a network is compared with.
enum class Reference { own, window, below, above };

const Choices<Reference> kReferences = {{"own", Reference::own},
                                        {"window", Reference::window},
                                        {"level_below", Reference::below},
                                        {"level_above", Reference::above}};

Point of_data(int level) { return {{"data", static_cast<double>(level)}}; }

class Students : public PointwiseExperiment {
 public:
  explicit Students(const Configuration& c)
      : tree_(filtered_tree(c)),
        training_(tree_training(c)),
        reference_(kReferences.of(c, "theory.reference")) {
    require_measurable(tree_);
    training_.tail = true;
    training_.tail_from = c.real("sim.decay_from");
    contexts_ = std::make_shared<Lazy<TreeContexts>>([tree = tree_] { return TreeContexts(tree); });
  }

  TheoryResult theory(TheoryGrid /*grid*/) const override {
    TheoryResult result;
    const std::vector<double>& own = contexts_->get().own();
    const std::vector<double>& window = contexts_->get().window();
    Curves ends({}, "level", {"end_loss"});
    for (int k = 0; k <= tree_.depth; ++k) {
      int level = k;
      if (reference_ == Reference::below) level = std::max(0, k - 1);
      if (reference_ == Reference::above) level = std::min(tree_.depth, k + 1);
      const std::vector<double>& floor = reference_ == Reference::window ? window : own;
      ends.add(k, std::vector<double>{floor[static_cast<std::size_t>(level)]});
    }
    ends.into(result);
    for (int j = 0; j <= tree_.depth; ++j) {
      Curves others(of_data(j), "level", {"other_loss"});
      for (int k = 0; k <= tree_.depth; ++k) {
        const double loss = cross_floor(tree_, k, j, FloorRoute::automatic, {}).value;
        if (std::isfinite(loss)) others.add(k, {PredictedValue(loss, 0, false)});
      }
      if (!others.empty()) others.into(result);
    }
    return result;
  }

  std::size_t points() const override { return static_cast<std::size_t>(tree_.depth) + 1; }

 protected:
  Outcome run(const Replicate& replicate) const override {
    const auto level = replicate.point();
    const auto k = static_cast<double>(level);
    const TreeContexts& contexts = contexts_->get();
    TreeHistory seen = learn_tree(tree_, static_cast<int>(level), training_, contexts, replicate);
    if (seen.outcome.failed || replicate.stopped()) return seen.outcome;
    const std::vector<double>& end = seen.measures.back().data_loss;
    std::vector<double> least(end.size(), std::numeric_limits<double>::infinity());
    double window = least.front();
    double bp = least.front();
    double window_step = 0;
    double bp_step = 0;
    for (std::size_t r = 0; r < seen.steps.size(); ++r) {
      const TreeMeasures& m = seen.measures[r];
      for (std::size_t j = 0; j < end.size(); ++j) {
        least[j] = std::min(least[j], m.data_loss[j] - contexts.own()[j]);
      }
      if (m.window_divergence[level] < window) {
        window = m.window_divergence[level];
        window_step = seen.steps[r];
      }
      if (m.bp_divergence[level] < bp) {
        bp = m.bp_divergence[level];
        bp_step = seen.steps[r];
      }
    }
    Curves({}, "level", {"end_loss", "excess", "window_step", "bp_step"})
        .add(
            k,
            std::vector<double>{end[level], *std::ranges::min_element(least), window_step, bp_step})
        .into(seen.outcome);
    for (std::size_t j = 0; j < end.size(); ++j) {
      Curves(of_data(static_cast<int>(j)), "level", {"other_loss"})
          .add(k, std::vector<double>{end[j]})
          .into(seen.outcome);
    }
    return seen.outcome;
  }

 private:
  FilteredTree tree_;
  MaskedTraining training_;
  Reference reference_;
  std::shared_ptr<Lazy<TreeContexts>> contexts_;
};

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  std::vector<ClaimResult> results;
  const ObservedCurve* excess = observed.curve("excess");
  if (excess == nullptr || excess->values.empty()) return results;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& values : excess->values) {
    for (const double value : values) least = std::min(least, value);
  }
  results.push_back(
      claim_certain("bound",
                    "the loss on data of a level is at least its floor, at every record and level",
                    least >= -kNetworkRounding,
                    fmt::format("least excess {:.3g} nats", least)));
  for (std::int64_t k = 1; k < c.integer("model.depth"); ++k) {
    const auto level = static_cast<double>(k);
    const auto steps = by_replicate(
        observed, {ObservedAt("window_step", {}, level), ObservedAt("bp_step", {}, level)});
    if (steps.empty()) continue;
    results.push_back(claim_rate(
        c.integer("model.depth") == 2 ? "window-first" : fmt::format("window-first-{}", k),
        fmt::format("a network that learns data of level {} is nearest to the reader of blocks "
                    "before it is nearest to belief propagation",
                    k),
        steps.where([](double window, double bp) { return window < bp; }),
        fmt::format("steps {}; {}", listed(steps.column(0)), listed(steps.column(1))),
        kHalf));
  }
  return results;
}

}  // namespace

Study study() {
  return described({.name = "tree-filtered-students", .make = make<Students>, .claims = claims});
}

}  // namespace attica::tree_filtered_students
