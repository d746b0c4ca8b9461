/// @file
/// @brief Study joma-entropy-gd: descent with whole steps on the nonlinear dynamics of softmax
/// attention, against its flow.

#include <algorithm>
#include <cmath>

#include "attica/sim/joma/descent.hpp"
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
                .start = c.real("model.v0"),
                .gamma = c.real("model.gamma"),
                .kind = BounceKind::softmax},
        steps_(recorded_steps(c)),
        eta_(c.real("sim.eta")) {
    validate(bounce_);
    std::sort(bounce_.mu.begin(), bounce_.mu.end());
  }

  TheoryResult theory(TheoryGrid grid) const override {
    const std::vector<std::int64_t> steps = steps_between(steps_, grid);
    std::vector<double> times;
    for (const std::int64_t step : steps) times.push_back(eta_ * static_cast<double>(step));
    const BounceCurve curve = bounce_curve(bounce_, times);
    const std::vector<double> allowances = allowances_at(times);
    TheoryResult result;
    Curves entropy = entropy_curve();
    for (std::size_t k = 0; k < steps.size(); ++k) {
      const bool reached = k < curve.entropy.size();
      entropy.add(
          static_cast<double>(steps[k]),
          {PredictedValue(reached ? curve.entropy[k] : std::nan(""), reached ? allowances[k] : 0)});
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
      entropy.add(static_cast<double>(steps_[k]), {PredictedValue(h)});
      weights(steps_[k], v).into(maps);
    };
    const VectorXd mu = Eigen::Map<const VectorXd>(bounce_.mu.data(), size);
    descend_saturating(mu, bounce_.start, bounce_.gamma, eta_, steps_, observe);
    entropy.into(outcome);
    for (Series& s : maps.series) outcome.series.push_back(std::move(s));
    return outcome;
  }

 private:
  /// What whole steps may be off the flow at these times, by what H changes meanwhile. Steps x' = x
  /// + ηf lag the flow of one component by (η/2) ln(f/f(0)), and the attention of the first grows
  /// from 1/M to 1: by (η/2) ln M. What that leaves for later is allowed at all times: measured are
  /// up to 0.2 of what a step changes where H is steepest (gamma = 0.1 to 3, rates of 0.005 to
  /// 0.1).
  std::vector<double> allowances_at(const std::vector<double>& times) const {
    constexpr double kLeft = 0.35;
    constexpr int kParts = 400;
    const double lag = eta_ / 2 * std::log(static_cast<double>(bounce_.mu.size()));
    const double end = eta_ * static_cast<double>(steps_.back());
    std::vector<double> all;
    for (const double t : times) {
      for (const double at : {std::max(t - lag, 0.0), t, t + lag}) all.push_back(at);
    }
    for (int k = 0; k <= kParts; ++k) all.push_back(end * k / kParts);
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    const std::vector<double> entropy = bounce_curve(bounce_, all).entropy;
    if (entropy.empty()) return std::vector<double>(times.size(), 0.0);
    const auto at = [&](double t) {
      const auto k = static_cast<std::size_t>(std::ranges::lower_bound(all, t) - all.begin());
      return entropy[std::min(k, entropy.size() - 1)];
    };
    double steepest = 0;
    for (int k = 1; k <= kParts && end > 0; ++k) {
      const double change = at(end * k / kParts) - at(end * (k - 1) / kParts);
      steepest = std::max(steepest, std::abs(change) * kParts / end);
    }
    std::vector<double> allowances;
    for (const double t : times) {
      const double before = std::abs(at(std::max(t - lag, 0.0)) - at(t));
      const double after = std::abs(at(t + lag) - at(t));
      allowances.push_back(std::max(before, after) + kLeft * eta_ * steepest);
    }
    return allowances;
  }
  static Curves entropy_curve() { return {{}, "step", {"attention_entropy"}}; }
  static Curves weights(std::int64_t step, const VectorXd& v) {
    Curves curve(at_step(step), "component", {"v"});
    for (Eigen::Index j = 0; j < v.size(); ++j) curve.add(numbered(j), {PredictedValue(v[j])});
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
              "Lines: flow; points: descent with whole steps. No randomness, no error bars."};
}

}  // namespace

Study study() {
  return described({.name = "joma-entropy-gd", .make = make<EntropyGd>, .figure = figure});
}

}  // namespace attica::joma_entropy_gd
