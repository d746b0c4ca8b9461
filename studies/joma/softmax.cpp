/// @file
/// @brief Study joma-softmax: how far the approximate invariant of softmax attention carries. The
/// correlation of logits with it stays high while its slope falls.

#include "attica/theory/joma/softmax.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "attica/sim/joma/descent.hpp"
#include "attica/sim/joma/networks.hpp"
#include "attica/studies/joma/file_start.hpp"
#include "attica/studies/joma/model.hpp"
#include "attica/theory/joma/flow.hpp"
#include "attica/theory/joma/stationary.hpp"

namespace attica::joma_softmax {
namespace {

using Eigen::Index;

/// What is compared, in the order of `read`.
const std::vector<std::string> kNames = {"correlation_nc",
                                         "correlation_weights",
                                         "correlation_norm",
                                         "slope",
                                         "relative_defect",
                                         "loss",
                                         "gradient_drift",
                                         "gradient_turn",
                                         "delta_drift",
                                         "stationary_error"};

constexpr std::size_t kDefect = 4;

/// @param stationary the state of the network whose back-propagated gradients stay as they started
std::vector<double> read(const JomaProblem& p,
                         const SoftmaxInvariant& invariant,
                         const StationaryGradient& gradient,
                         const JomaState& s,
                         const JomaState& stationary) {
  const SoftmaxAgreement a = invariant.compare(s);
  const GradientMotion g = gradient.motion(p.model, s);
  return {a.correlation,
          a.correlation_weights,
          a.correlation_norm,
          a.slope,
          a.residual,
          p.model.loss(s),
          g.drift,
          g.turn,
          g.delta_drift,
          relative_distance(s, stationary, p.start)};
}

class Softmax : public PointwiseExperiment {
 public:
  explicit Softmax(const Configuration& c)
      : steps_(recorded_steps(c)), eta_(c.real("sim.eta")), inputs_(c.texts("model.inputs")) {
    require(steps_.front() > 0, "sim.steps", static_cast<double>(steps_.front()), "steps >= 1");
    std::optional<std::uint64_t> seed;
    if (c.text("sim.initialisation") == "random") {
      seed = c.seed();
    }
    for (const std::string& inputs : inputs_) {
      problems_.push_back(class_contexts({.tokens = c.integer("model.tokens"),
                                          .classes = c.integer("model.classes"),
                                          .bumps = inputs == "gaussian",
                                          .temperature = c.real("model.temperature")},
                                         seed));
      take_file_start(c, problems_.back().start);
    }
  }

  TheoryResult theory(TheoryGrid grid) const override {
    const std::vector<double> steps = line_between(as_reals(steps_), AxisScale::log, grid);
    std::vector<double> times = {0};
    for (const double step : steps) times.push_back(eta_ * step);
    TheoryResult result;
    double worst = 0;
    for (std::size_t i = 0; i < problems_.size(); ++i) {
      const JomaProblem& p = problems_[i];
      const SoftmaxInvariant invariant(p.model, p.start);
      const JomaFlow flow = joma_flow(p.model, p.start, times, [&](const JomaState& s) {
        return p.model.softmax_defect_rate(s, invariant.mean_context());
      });
      const StationaryGradient gradient(p.model, p.start);
      const auto descends = [&](const JomaModel& model, int orders) {
        return joma_flow(model, p.start, times, {}, eta_, orders);
      };
      const JomaFlow first = descends(p.model, 1);
      const JomaFlow second = descends(p.model, 2);
      const JomaFlow first_stationary = descends(gradient.model(), 1);
      const JomaFlow second_stationary = descends(gradient.model(), 2);
      for (const JomaFlow* f : {&flow, &first, &second, &first_stationary, &second_stationary}) {
        if (f->solution.finished()) continue;
        at_point(point(i), [&] {
          throw Error(ErrorKind::numerical, "gradient flow: " + describe(f->solution));
        });
      }
      Curves curves(point(i), "step", kNames);
      std::vector<double> changed(kNames.size());
      for (std::size_t k = 1; k < times.size(); ++k) {
        // Whole steps to second order in eta. The most that the second order changed so far bounds
        // the third: the change itself crosses 0.
        const std::vector<double> y =
            read(p, invariant, gradient, second.states[k], second_stationary.states[k]);
        const std::vector<double> less =
            read(p, invariant, gradient, first.states[k], first_stationary.states[k]);
        std::vector<PredictedValue> told;
        for (std::size_t n = 0; n < y.size(); ++n) {
          changed[n] = std::max(changed[n], std::abs(y[n] - less[n]));
          told.emplace_back(y[n], changed[n]);
        }
        // Of the defect, what its exact equation integrates to takes the place of what the states
        // of the flow have, so that the invariant is not compared with itself.
        const Eigen::VectorXd defect = flow.integrals.col(static_cast<Index>(k));
        const double has = invariant.defect(flow.states[k]).norm();
        if (has > 0) told[kDefect].y *= defect.norm() / has;
        curves.add(steps[k - 1], told);
        worst = std::max(worst, (defect - invariant.defect(flow.states[k])).cwiseAbs().maxCoeff());
      }
      curves.into(result);
    }
    // The exact equation of the defect, integrated along, against the defect of the states.
    result.diagnostics = {{"defect_equation_error", worst}};
    return result;
  }

  std::size_t points() const override { return problems_.size(); }

 protected:
  /// Nothing is random once the problem is drawn.
  bool deterministic(std::size_t) const override { return true; }

  Outcome run(const Replicate& replicate) const override {
    const JomaProblem& p = problems_[replicate.point()];
    const Point at = point(replicate.point());
    const SoftmaxInvariant invariant(p.model, p.start);
    const StationaryGradient gradient(p.model, p.start);
    JomaDescent descent(p.model, p.start, eta_, 0, {});
    JomaDescent stationary(gradient.model(), p.start, eta_, 0, {});
    constexpr Index kShownTokens = 4;
    const auto shown = static_cast<std::size_t>(std::min(kShownTokens, p.model.tokens()));
    Curves curves(at, "step", kNames);
    NumberedCurves weights("v", "token", shown, "step", at);
    Outcome outcome;
    for (const std::int64_t record : steps_) {
      while (descent.steps() < record && descent.finite()) {
        descent.step();
        stationary.step();
      }
      if (!descent.finite() || !stationary.finite()) {
        mark_diverged(outcome, descent.steps());
        break;
      }
      const JomaState& s = descent.state();
      curves.add(static_cast<double>(record), read(p, invariant, gradient, s, stationary.state()));
      weights.add(static_cast<double>(record), {s.v.row(0).begin(), s.v.row(0).end()});
    }
    curves.into(outcome);
    weights.into(outcome);
    map_rows("input", "unit", "token", p.model.samples().contexts, at).into(outcome);
    map_rows("weights_start", "unit", "token", p.start.v, at).into(outcome);
    map_rows("weights_end", "unit", "token", descent.state().v, at).into(outcome);
    return outcome;
  }

 private:
  Point point(std::size_t i) const { return {{"inputs", inputs_[i]}}; }

  std::vector<std::int64_t> steps_;
  double eta_;
  std::vector<std::string> inputs_;
  std::vector<JomaProblem> problems_;
};

Figure figure(const Configuration& c) {
  const std::vector<std::string> variants = c.texts("model.inputs");
  const Point first = {{"inputs", variants.front()}};
  const auto curves = [&](const std::string& series, const std::string& y) {
    Panel panel{.x = {.label = "step {/:Italic n}", .scale = AxisScale::log},
                .y = {.label = y},
                .layers = {},
                .x_name = "step"};
    for (const std::string& v : variants) {
      panel.layers.push_back(
          {.series = series, .label = v == "gaussian" ? "Gaussian" : v, .only = {{"inputs", v}}});
    }
    return panel;
  };
  const auto map =
      [&](const std::string& series, const std::string& title, const std::string& value) {
        return Panel{.kind = PanelKind::heat_map,
                     .x = {.label = "token {/:Italic l}"},
                     .y = {.label = "unit {/:Italic k}"},
                     .layers = {{.series = series, .theory = false, .only = first}},
                     .x_name = "token",
                     .y_coordinate = "unit",
                     .title = title,
                     .value = {.label = value}};
      };
  Panel weights = curves("v", "{/:Italic v}_{1{/:Italic l}}");
  weights.layers.clear();
  for (const double token : {1.0, 2.0, 3.0, 4.0}) {
    weights.layers.push_back({.series = "v",
                              .label = "{/:Italic l} = {token}",
                              .theory = false,
                              .only = joined(first, {{"token", token}})});
  }
  return {
      .name = "joma-softmax",
      .panels = {curves("correlation_nc", "corr. of {/:Italic z} and invariant"),
                 curves("slope", "slope"),
                 curves("relative_defect", "|{/:Italic ε}| / |Δ{/:Italic z}|"),
                 curves("gradient_drift", "|Δ{/:Italic g}| / |{/:Italic g}(0)|"),
                 curves("stationary_error", "|{/:Italic V} − {/:Italic V}_0| / |Δ{/:Italic V}|"),
                 weights,
                 map("input", "input", "{/:Italic x_{kl}}"),
                 map("weights_end", "weights at the end", "{/:Italic v_{kl}}")},
      .columns = 2,
      .caption =
          "Softmax attention trained by gradient descent. Lines: gradient flow of the exact "
          "reduced state, with the step size to second order; points: descent. The "
          "logits stay correlated with the approximate invariant while the slope of the "
          "regression falls. Back-propagated gradients {/:Italic g} move, and weights "
          "{/:Italic V}_0 of a network in which they stay {/:Italic g}(0) go elsewhere. No "
          "randomness, no error bars."};
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  std::vector<ClaimResult> all;
  for (const std::string& inputs : c.texts("model.inputs")) {
    constexpr double kCorrelated = 0.8;
    const ObservedCurve* curve = observed.curve("correlation_nc", {{"inputs", inputs}});
    if (curve == nullptr || curve->mean.y.empty()) continue;
    const double least = *std::min_element(curve->mean.y.begin(), curve->mean.y.end());
    all.push_back(claim_certain("correlated-" + inputs,
                                "logits and invariant keep a correlation above 0.8",
                                least > kCorrelated,
                                fmt::format("least {:.4f} of the recorded steps", least)));
  }
  return all;
}

}  // namespace

Study study() {
  return described(
      {.name = "joma-softmax", .make = make<Softmax>, .figure = figure, .claims = claims});
}

}  // namespace attica::joma_softmax
