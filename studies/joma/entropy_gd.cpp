/// @file
/// @brief Study joma-entropy-gd: descent with whole steps on the nonlinear dynamics of softmax
/// attention, against its flow.

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "attica/sim/joma/descent.hpp"
#include "attica/studies/joma/file_start.hpp"
#include "attica/studies/joma/model.hpp"
#include "attica/theory/joma/bounce.hpp"

namespace attica::joma_entropy_gd {
namespace {

using Eigen::VectorXd;

Point at_step(std::int64_t step) { return {{"step", static_cast<double>(step)}}; }

class EntropyGd : public PointwiseExperiment {
 public:
  explicit EntropyGd(const Configuration& c)
      : bounce_{.mu = c.reals("model.mu"),
                .start = component_starts(c, c.reals("model.mu").size()),
                .gamma = c.real("model.gamma"),
                .kind = BounceKind::softmax},
        steps_(recorded_steps(c)),
        eta_(c.real("sim.eta")) {
    validate(bounce_);
    std::vector<std::pair<double, double>> components;
    for (std::size_t j = 0; j < bounce_.mu.size(); ++j)
      components.emplace_back(bounce_.mu[j], bounce_.start[j]);
    std::sort(components.begin(), components.end());
    for (std::size_t j = 0; j < components.size(); ++j)
      std::tie(bounce_.mu[j], bounce_.start[j]) = components[j];
  }

  TheoryResult theory(TheoryGrid grid) const override {
    const std::vector<std::int64_t> steps = steps_between(steps_, grid);
    std::vector<double> times;
    for (const std::int64_t step : steps) times.push_back(eta_ * static_cast<double>(step));
    const BounceCurve curve = bounce_curve(bounce_, times);
    const BounceSteps whole = bounce_steps(bounce_, eta_, steps);
    // What the order η² changes bounds what the next ones do: they are 0.01 to 0.7 of it at γ = 0.1
    // to 3, η = 0.02 to 0.3, 2 to 10 components.
    TheoryResult result;
    Curves entropy = entropy_curve();
    for (std::size_t k = 0; k < steps.size(); ++k) {
      const bool reached = k < whole.entropy.size();
      entropy.add(static_cast<double>(steps[k]),
                  {PredictedValue(reached ? whole.entropy[k] : std::nan(""),
                                  reached ? whole.order[k] : 0)});
    }
    entropy.into(result);
    for (std::size_t k = 0; k < curve.values.size(); ++k) {
      if (std::ranges::binary_search(steps_, steps[k]))
        weights(steps[k], curve.values[k]).into(result);
    }
    const BounceSummary summary = bounce_summary(bounce_);
    result.diagnostics = {{"final_entropy", summary.final_entropy}};
    if (summary.minimum) {
      result.diagnostics.emplace_back("minimum_step", summary.minimum->time / eta_);
      result.diagnostics.emplace_back("minimum_entropy", summary.minimum->entropy);
    }
    return result;
  }

 protected:
  bool deterministic(std::size_t) const override { return true; }

  Outcome run(const Replicate&) const override {
    const auto size = static_cast<Eigen::Index>(bounce_.mu.size());
    Curves entropy = entropy_curve();
    Outcome maps;
    Outcome outcome;
    const auto observe = [&](std::size_t k, const VectorXd& v) {
      const double h = logits_entropy(bounce_.gamma * v.cwiseAbs2());
      if (outcome.failed || !std::isfinite(h) || !v.allFinite()) {
        mark_diverged(outcome, steps_[k]);
        return;
      }
      entropy.add(static_cast<double>(steps_[k]), {h});
      weights(steps_[k], v).into(maps);
    };
    const VectorXd mu = Eigen::Map<const VectorXd>(bounce_.mu.data(), size);
    descend_saturating(mu, bounce_start(bounce_), bounce_.gamma, eta_, steps_, observe);
    entropy.into(outcome);
    for (Series& s : maps.series) outcome.series.push_back(std::move(s));
    return outcome;
  }

 private:
  static Curves entropy_curve() { return {{}, "step", {"attention_entropy"}}; }
  static Curves weights(std::int64_t step, const VectorXd& v) {
    Curves curve(at_step(step), "component", {"v"});
    for (Eigen::Index j = 0; j < v.size(); ++j) curve.add(numbered(j), {v[j]});
    return curve;
  }

  Bounce bounce_;
  std::vector<std::int64_t> steps_;
  double eta_;
};

Figure figure(const Configuration& c) {
  std::vector<Layer> layers;
  for (const std::int64_t step : thinned(recorded_steps(c), 6)) {
    layers.push_back({.series = "v", .label = "step {step}", .only = at_step(step)});
  }
  return {.name = "joma-entropy-gd",
          .panels = {{.x = {.label = "component {/:Italic j} (rising {/:Italic μ_j})"},
                      .y = {.label = "weight {/:Italic v_j}"},
                      .layers = std::move(layers),
                      .x_name = "component"},
                     {.x = {.label = "step {/:Italic n}"},
                      .y = {.label = "entropy {/:Italic H} (nats)"},
                      .layers = {{.series = "attention_entropy", .label = "gradient flow"}},
                      .x_name = "step"}},
          .columns = 1,
          .caption =
              "Softmax attention concentrates on the salient component and spreads again. "
              "Lines: flow, in the entropy with what whole steps change to second order; points: "
              "descent. "
              "No randomness, no error bars."};
}

}  // namespace

Study study() {
  return described({.name = "joma-entropy-gd", .make = make<EntropyGd>, .figure = figure});
}

}  // namespace attica::joma_entropy_gd
