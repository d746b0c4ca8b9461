/// @file
/// @brief Study tree-filtered-order: a transformer that learns a tree by masking, against the
/// floors of readers of blocks and of filtered data.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attica/studies/trees/learning.hpp"
#include "attica/theory/trees/floors.hpp"

namespace attica::tree_filtered_order {
namespace {

Point at_level(std::size_t level) { return {{"level", static_cast<double>(level)}}; }

/// Steps of the window floors from level to level.
std::vector<double> window_steps(const FilteredTree& tree) {
  std::vector<double> steps;
  double before = 0;
  for (int k = 0; k <= tree.depth; ++k) {
    const double window = window_floor(tree, k, FloorRoute::automatic, {}).value;
    if (k > 0) steps.push_back(before - window);
    before = window;
  }
  return steps;
}

double least_of(const std::vector<double>& values) { return *std::ranges::min_element(values); }

/// Refuses a tree whose levels cannot be told apart, and names rules that can be.
void require_steps(const Configuration& c, const FilteredTree& tree) {
  const double least = c.real("model.least_step");
  const std::vector<double> steps = window_steps(tree);
  if (least_of(steps) >= least) return;
  constexpr std::int64_t kSeeds = 60;
  constexpr std::size_t kNamed = 3;
  std::vector<std::int64_t> passing;
  const std::string& rule = c.text("model.rule");
  if (rule == "unambiguous" || rule == "dense") {
    Configuration other = c;
    for (std::int64_t seed = 1; seed <= kSeeds && passing.size() < kNamed; ++seed) {
      other.set("model.rule_seed", seed, false);
      if (least_of(window_steps(filtered_tree(other))) >= least) {
        passing.push_back(seed);
      }
    }
  }
  throw invalid_parameter(
      "model.rule",
      rule,
      fmt::format("window floors at least model.least_step = {} nats apart, not {}{}",
                  least,
                  listed(steps, "{:.3f}"),
                  passing.empty()
                      ? std::string()
                      : fmt::format("; such are model.rule_seed = {}", fmt::join(passing, ", "))));
}

/// The step at which a curve first passes 1/2, linear in the logarithm of the step; none if it
/// does not.
std::optional<double> passage(const std::vector<double>& steps, const std::vector<double>& gains) {
  constexpr double kHalfLearnt = 0.5;
  for (std::size_t k = 1; k < gains.size(); ++k) {
    if (gains[k - 1] >= kHalfLearnt || gains[k] < kHalfLearnt) continue;
    const double share = (kHalfLearnt - gains[k - 1]) / (gains[k] - gains[k - 1]);
    const double low = std::log(std::max(1.0, steps[k - 1]));
    return std::exp(low + share * (std::log(steps[k]) - low));
  }
  return {};
}

class Order : public PointwiseExperiment {
 public:
  explicit Order(const Configuration& c) : tree_(filtered_tree(c)), training_(tree_training(c)) {
    require_steps(c, tree_);
    contexts_ = std::make_shared<Lazy<TreeContexts>>([tree = tree_] { return TreeContexts(tree); });
    require_measurable(tree_);
  }

  TheoryResult theory(TheoryGrid /*grid*/) const override {
    TheoryResult result;
    const TreeContexts& contexts = contexts_->get();
    for (std::size_t k = 0; k < levels(); ++k) {
      add_constant(result, "own_loss", contexts.own()[k], at_level(k));
      add_constant(result, "window_loss", contexts.window()[k], at_level(k));
    }
    return result;
  }

 protected:
  Outcome run(const Replicate& replicate) const override {
    const TreeContexts& contexts = contexts_->get();
    TreeHistory seen = learn_tree(tree_, tree_.depth, training_, contexts, replicate);
    if (seen.outcome.failed || replicate.stopped()) return seen.outcome;
    std::vector<TreeMeasures> null;
    for (const TreeMeasures& m : seen.measures) {
      null.push_back(contexts.measure(contexts.blurred(seen.end, m.test_loss())));
    }
    into(seen.outcome, seen.steps, seen.measures, null);
    return seen.outcome;
  }

 private:
  std::size_t levels() const { return static_cast<std::size_t>(tree_.depth) + 1; }

  void into(Outcome& outcome,
            const std::vector<double>& steps,
            const std::vector<TreeMeasures>& history,
            const std::vector<TreeMeasures>& null) const {
    const TreeContexts& contexts = contexts_->get();
    const auto path = [&](const std::vector<TreeMeasures>& of, const auto& value) {
      std::vector<double> all;
      for (const TreeMeasures& m : of) all.push_back(value(m));
      return all;
    };
    // A logarithmic axis has no place for the start.
    const auto curve = [&](const std::string& name, const Point& point, const auto& values) {
      Curves c(point, "step", {name});
      for (std::size_t k = 1; k < steps.size(); ++k) {
        c.add(steps[k], std::vector<double>{values[k]});
      }
      c.into(outcome);
    };
    curve("test_loss", {}, path(history, [](const TreeMeasures& m) { return m.test_loss(); }));
    for (std::size_t level = 0; level < levels(); ++level) {
      const Point point = at_level(level);
      const auto data = path(history, [&](const TreeMeasures& m) { return m.data_loss[level]; });
      const auto block = path(history, [&](const TreeMeasures& m) { return m.block_loss[level]; });
      curve("data_loss", point, data);
      curve("block_loss", point, block);
      curve("bp_divergence", point, path(history, [&](const TreeMeasures& m) {
              return m.bp_divergence[level];
            }));
      curve("window_divergence", point, path(history, [&](const TreeMeasures& m) {
              return m.window_divergence[level];
            }));
      curve("null_window_divergence", point, path(null, [&](const TreeMeasures& m) {
              return m.window_divergence[level];
            }));
      const double least = *std::ranges::min_element(data);
      add_constant(outcome, "excess", least - contexts.own()[level], point);
      add_constant(outcome,
                   "block_excess",
                   *std::ranges::min_element(block) - contexts.window()[level],
                   point);
      add_constant(outcome, "rise", data.back() - least, point);
      if (level == 0) continue;
      const auto gain_of = [&](const TreeMeasures& m) { return contexts.gains(m)[level - 1]; };
      const std::vector<double> gains = path(history, gain_of);
      const std::vector<double> blurred = path(null, gain_of);
      curve("gain", point, gains);
      curve("null_gain", point, blurred);
      add_constant(outcome, "end_gain", gains.back(), point);
      if (const auto step = passage(steps, gains)) add_constant(outcome, "passage", *step, point);
      if (const auto step = passage(steps, blurred)) {
        add_constant(outcome, "null_passage", *step, point);
      }
    }
  }

  FilteredTree tree_;
  MaskedTraining training_;
  std::shared_ptr<Lazy<TreeContexts>> contexts_;
};

/// What may not happen in exact arithmetic: a violation is an error of code.
void bound_claim(const Observed& observed,
                 std::size_t levels,
                 const std::string& name,
                 const std::string& series,
                 const std::string& statement,
                 std::vector<ClaimResult>& results) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < levels; ++k) {
    for (const double excess : observed.last(series, at_level(k))) {
      least = std::min(least, excess);
    }
  }
  results.push_back(
      std::isfinite(least)
          ? claim_certain(name,
                          statement,
                          least >= -kNetworkRounding,
                          fmt::format("least excess {:.3g} nats", least))
          : claim_open(name, statement, fmt::format("no values of series {}", series)));
}

void order_claims(const Observed& observed, std::size_t levels, std::vector<ClaimResult>& results) {
  constexpr double kUsed = 0.8;
  constexpr double kRatio = 2;
  const std::string statement = fmt::format(
      "levels are passed in order, each at {0} times the step of the one before or later, and at "
      "{0} times the ratio of the blurred end",
      kRatio);
  std::string open;
  for (std::size_t k = 1; k + 1 < levels; ++k) {
    const std::string name = levels == 3 ? "one-by-one" : fmt::format("one-by-one-{}", k + 1);
    const auto ends = observed.last("end_gain", at_level(k + 1));
    const double used = ends.empty() ? 0 : *std::ranges::min_element(ends);
    const auto both = by_replicate(observed,
                                   {ObservedAt("passage", at_level(k)),
                                    ObservedAt("passage", at_level(k + 1)),
                                    ObservedAt("null_passage", at_level(k)),
                                    ObservedAt("null_passage", at_level(k + 1))});
    if (used < kUsed || both.size() < ends.size()) {
      results.push_back(claim_open(
          name,
          statement,
          fmt::format("level {} is not learnt in every replicate: least gain at the end {:.2f}, "
                      "expected {} or more",
                      k + 1,
                      used,
                      kUsed)));
      continue;
    }
    const auto ratio = [](double first, double second, double, double) { return second / first; };
    const auto null = [](double, double, double first, double second) { return second / first; };
    results.push_back(claim_rate(name,
                                 statement,
                                 both.where([&](double a, double b, double c, double d) {
                                   return b >= kRatio * a && b / a >= kRatio * d / c;
                                 }),
                                 fmt::format("levels {} and {}: ratios {}; of the blurred end {}",
                                             k,
                                             k + 1,
                                             listed(both.of(ratio), "{:.2f}"),
                                             listed(both.of(null), "{:.2f}")),
                                 kHalf));
  }
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  constexpr double kRise = 0.1;
  const auto levels = static_cast<std::size_t>(c.integer("model.depth")) + 1;
  std::vector<ClaimResult> results;
  if (observed.paths("test_loss").empty()) return results;
  bound_claim(observed,
              levels,
              "bound",
              "excess",
              "the loss on data of a level is at least its floor, at every record and level",
              results);
  bound_claim(observed,
              levels,
              "block-bound",
              "block_excess",
              "the loss of the network averaged over what lies outside blocks is at least their "
              "window floor, at every record and level",
              results);
  order_claims(observed, levels, results);
  const std::vector<double> rises = observed.last("rise", at_level(0));
  std::vector<bool> unlearns(rises.size(), true);
  for (std::size_t k = 0; k + 2 < levels; ++k) {
    const std::vector<double> all = observed.last("rise", at_level(k));
    for (std::size_t r = 0; r < unlearns.size(); ++r)
      unlearns[r] = unlearns[r] && r < all.size() && all[r] >= kRise;
  }
  if (levels > 2) {
    results.push_back(
        claim_rate("unlearns",
                   fmt::format("the loss on data of low levels ends {} nats or more above its "
                               "least",
                               kRise),
                   unlearns,
                   fmt::format("level 0: {}", listed(rises, "{:.2f}")),
                   kHalf));
  }
  return results;
}

}  // namespace

Study study() {
  return described({.name = "tree-filtered-order", .make = make<Order>, .claims = claims});
}

}  // namespace attica::tree_filtered_order
