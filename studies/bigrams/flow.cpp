/// @file
/// @brief Study bigrams-flow: gradient flow of the linear transformer on sparse contextual bigrams,
/// four numbers against all entries of V and A, and against gradient descent with whole steps.

#include "attica/studies/bigrams/model.hpp"
#include "attica/theory/bigrams/recursion.hpp"

namespace attica {
namespace {

const std::vector<std::string> kNames = {"alpha_V", "alpha_A", "excess_loss"};

class Flow : public PointwiseExperiment {
 public:
  explicit Flow(const Configuration& c)
      : setup_(bigram_setup(c, RateCheck::descent)),
        constants_(constants(setup_.model)),
        closed_(setup_.boosting()),
        mismatch2_(setup_.mismatch().squaredNorm()),
        theta_(c.real("sim.theta")) {
    // Gradient descent is recorded up to here; the flow goes on through the slow tail.
    constexpr std::int64_t kLongestDescent = 20000;
    descent_steps_ = setup_.steps;
    std::erase_if(descent_steps_, [](std::int64_t step) { return step > kLongestDescent; });
    diagnostics_ = setup_.diagnostics;
    warnings_ = setup_.warnings;
  }

  TheoryResult theory(TheoryGrid) const override {
    const std::vector<double> times = as_reals(setup_.steps);
    const BigramCurve flow = reduced_flow(constants_, setup_.rates, {}, times);
    if (flow.status != OdeStatus::finished) {
      throw Error(ErrorKind::numerical, "reduced flow: " + to_string(flow.status));
    }
    TheoryResult result;
    flow_curves(flow).into(result);
    // The reduction is as exact for whole steps as it is in continuous time.
    BigramRecursion whole(
        setup_.model, setup_.rates, std::numeric_limits<double>::infinity(), 0, setup_.mismatch());
    Curves descent({{"method", "descent"}}, "step", kNames);
    at_steps(
        descent_steps_,
        [&] { whole.step(); },
        [&](double n) { descent.add(n, observables(kNames, whole.state())); });
    descent.into(result);
    const double level = closed_.plateau_alpha_v();
    add_linear("alpha_V", level, times, &BoostingTheory::alpha_v, result);
    add_linear("alpha_A", 1 / level, times, &BoostingTheory::alpha_a, result);
    constexpr double kSaturated = 0.01;
    result.diagnostics = {{"omega", closed_.omega()},
                          {"boosting_time", closed_.boosting_time(theta_)},
                          {"saturation_time", closed_.saturation_time(kSaturated)},
                          {"plateau_alpha_V", level},
                          {"slow_rate", closed_.slow_rate()}};
    return result;
  }

  std::size_t points() const override { return 2; }
  void require_simulable() const override {
    constexpr double kBytes = 100;  // stages of the integrator in double precision
    require_entries(setup_.model, kBytes);
  }

 protected:
  bool deterministic(std::size_t) const override { return true; }

  Outcome run(const Replicate& replicate) const override {
    return replicate.point() == 0 ? integrated() : descended();
  }

 private:
  void add_linear(const std::string& name,
                  double plateau,
                  const std::vector<double>& times,
                  double (BoostingTheory::*law)(double) const,
                  TheoryResult& result) const {
    constexpr double kBeyondSaturation = 10;  // far enough to be seen to leave the flow
    Curves linear({}, "step", {name + "_linear"});
    for (const double t : times) {
      const double y = (closed_.*law)(t);
      if (y > kBeyondSaturation) break;
      linear.add(t, {y});
    }
    linear.into(result);
    add_constant(result, name + "_plateau", plateau);
  }

  /// At as many times as were reached. The hat gradients leave Vμ: half its squared distance to μ
  /// stays in the loss.
  Curves flow_curves(const BigramCurve& flow) const {
    Curves curves({{"method", "flow"}}, "step", kNames);
    for (std::size_t k = 0; k < flow.signals.size(); ++k) {
      const BigramSignals& s = flow.signals[k];
      curves.add(static_cast<double>(setup_.steps[k]),
                 {s.alpha_v, s.alpha_a, reduced_excess_loss(constants_, s) + 0.5 * mismatch2_});
    }
    return curves;
  }

  Outcome integrated() const {
    BigramCurve flow = full_flow(setup_.model,
                                 setup_.rates,
                                 setup_.start,
                                 uniform_attention(setup_.model),
                                 as_reals(setup_.steps));
    for (BigramSignals& s : flow.signals) s.d_v -= mismatch2_;
    Outcome outcome;
    flow_curves(flow).into(outcome);
    if (flow.status != OdeStatus::finished) {
      outcome.status = to_string(flow.status);
      outcome.failed = true;
      outcome.message = "the flow of all entries did not reach its last time";
    }
    return outcome;
  }

  Outcome descended() const {
    const std::vector<BigramState> states = full_descent(
        setup_.model, setup_.rates, setup_.start, uniform_attention(setup_.model), descent_steps_);
    Curves curves({{"method", "descent"}}, "step", kNames);
    for (std::size_t k = 0; k < states.size(); ++k) {
      curves.add(static_cast<double>(descent_steps_[k]), observables(kNames, states[k]));
    }
    Outcome outcome;
    curves.into(outcome);
    return outcome;
  }

  BigramSetup setup_;
  BigramConstants constants_;
  BoostingTheory closed_;
  double mismatch2_;  ///< |Vμ - μ|²
  double theta_;
  std::vector<std::int64_t> descent_steps_;
};

Figure figure(const Configuration&) {
  const Axis step{.label = "step {/:Italic t}", .scale = AxisScale::log};
  const auto panel = [&](const std::string& name, const std::string& label) {
    return Panel{.x = step,
                 .y = {.label = label, .scale = AxisScale::log},
                 .layers = {{.series = name, .label = "flow", .only = {{"method", "flow"}}},
                            {.series = name,
                             .label = "descent",
                             .hollow = true,
                             .only = {{"method", "descent"}}}},
                 .x_name = "step"};
  };
  const auto signal_panel = [&](const std::string& name, const std::string& label) {
    Panel signal = panel(name, label);
    signal.layers.push_back(
        {.series = name + "_linear", .label = "linear regime", .reference = true});
    signal.layers.push_back({.series = name + "_plateau", .label = "plateau", .reference = true});
    return signal;
  };
  return {
      .name = "bigrams-flow",
      .panels = {signal_panel("alpha_V", "signal {/:Italic α}_V"),
                 signal_panel("alpha_A", "signal {/:Italic α}_A"),
                 panel("excess_loss", "excess loss {/:Italic L} − {/:Italic L}*")},
      .columns = 1,
      .caption =
          "Gradient flow on sparse contextual bigrams from the standard start. Lines: "
          "four-variable flow, and the same four numbers by whole steps; points: flow of "
          "all entries of V and A, and gradient descent, which lies on the flow but for the first "
          "steps of α_A and ends earlier; dashed: closed forms of the linear regime and the "
          "plateau. No randomness, no error bars."};
}

std::vector<AgreementRule> agreement(const Configuration&) {
  // The reduction is exact: what is left is two integrations to 1e-10, or rounding. Values that
  // start at 0 or end there have an absolute error of the size of rounding.
  return rules(kNames, {.series = {}, .relative = 1e-6, .absolute = 1e-12, .deterministic = true});
}

}  // namespace

Study bigrams_flow() {
  const std::vector<std::int64_t> steps = whole_log_grid(1, 200000, 40);
  return {
      .name = "bigrams-flow",
      .question =
          "Do four numbers describe the whole gradient flow of a linear transformer learning "
          "sparse contextual bigrams?",
      .neglects = "nothing: flow and whole steps each close in four numbers",
      .parameters = together({bigram_parameters({.steps = List(steps.begin(), steps.end()),
                                                 .replicates = 8,
                                                 .starts = {"stationary", "uniform"}}),
                              {real_parameter("sim.theta",
                                              0.25,
                                              "signal alpha_V at which the boosting time is stated",
                                              {.low = 0, .high = 1, .low_open = true})}}),
      .series = bigram_series(kNames,
                              {{"alpha_V_linear", "", "sinh law of the boosting stage (theory)"},
                               {"alpha_A_linear", "", "cosh law of the boosting stage (theory)"},
                               {"alpha_V_plateau", "", "level before the slow relaxation (theory)"},
                               {"alpha_A_plateau", "", "its inverse (theory)"}}),
      .presets = {{"quick", "the defaults: N = 3, T = 1000, Q = 2", {}},
                  {"paper",
                   "N = 10, T = 5000, Q = 4",
                   {{"model.tokens", 10}, {"model.context", 5000}, {"model.sparsity", 4}}}},
      .sources = {cited("ren2024learning", "model, hat gradients, boosting stage")},
      .make = make<Flow>,
      .figure = figure,
      .agreement = agreement,
      .plants = {{.name = "diagonal",
                  .values = {{"model.p_diagonal", 0.81}},
                  .meaning = "the diagonal of P 0.01 off"},
                 {.name = "factor",
                  .series = "alpha_A",
                  .factor = 1.01,
                  .meaning = "a coefficient times 1.01"}}};
}

}  // namespace attica
