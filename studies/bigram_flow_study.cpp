/// @file
/// @brief Study bigrams-flow: gradient flow of the linear transformer on sparse contextual bigrams,
/// four numbers against all entries of V and A, and against gradient descent with whole steps.

#include <algorithm>
#include <cmath>
#include <limits>

#include "attica/core/error.hpp"
#include "attica/studies/bigram_common.hpp"
#include "attica/studies/bigram_studies.hpp"
#include "attica/studies/parameters.hpp"
#include "attica/theory/bigram_population.hpp"
#include "attica/theory/bigram_recursion.hpp"

namespace attica {
namespace {

using Eigen::MatrixXd;

const std::vector<std::string> kNames = {"alpha_V", "alpha_A", "excess_loss"};

double read(const std::string& name, const BigramConstants& c, const BigramSignals& s) {
  if (name == "alpha_V") return s.alpha_v;
  if (name == "alpha_A") return s.alpha_a;
  return reduced_excess_loss(c, s);
}

/// Gradient descent is recorded up to here; the flow goes on through the slow tail.
constexpr std::int64_t kLongestDescent = 20000;

class Flow : public Experiment {
 public:
  explicit Flow(const Configuration& c)
      : setup_(bigram_setup(c, RateCheck::descent)),
        constants_(constants(setup_.model)),
        closed_(constants_, setup_.rates),
        mismatch2_(setup_.mismatch().squaredNorm()),
        theta_(c.real("sim.theta")) {
    constexpr double kBytes = 100;  // stages of the integrator in double precision
    require_entries(setup_.model, kBytes);
  }

  TheoryResult theory(TheoryGrid) const override {
    const std::vector<double> times = as_reals(setup_.steps);
    const std::vector<BigramSignals> flow = signals(times);
    const double omega = closed_.omega();
    TheoryResult result;
    for (const std::string& name : kNames) {
      Prediction p = bigram_prediction(name, {{"method", "flow"}}, "step");
      p.series.x = times;
      for (const BigramSignals& s : flow) p.series.y.push_back(observed(name, s));
      result.predictions.push_back(std::move(p));
    }
    // The reduction is as exact for whole steps as it is in continuous time.
    BigramRecursion whole(
        setup_.model, setup_.rates, std::numeric_limits<double>::infinity(), 0, setup_.mismatch());
    std::vector<Prediction> descent;
    for (const std::string& name : kNames) {
      descent.push_back(bigram_prediction(name, {{"method", "descent"}}, "step"));
    }
    std::int64_t step = 0;
    for (const std::int64_t next : setup_.steps) {
      if (next > kLongestDescent) break;
      for (; step < next; ++step) whole.step();
      for (Prediction& p : descent) {
        p.series.x.push_back(static_cast<double>(step));
        p.series.y.push_back(p.series.name == "excess_loss"
                                 ? whole.excess_loss()
                                 : read(p.series.name, constants_, whole.signals()));
      }
    }
    for (Prediction& p : descent) result.predictions.push_back(std::move(p));
    for (const char* name : {"alpha_V", "alpha_A"}) {
      Prediction p = bigram_prediction(std::string(name) + "_linear", {}, "step");
      for (const double t : times) {
        const double y = name == std::string("alpha_V") ? closed_.alpha_v(t) : closed_.alpha_a(t);
        constexpr double kBeyondSaturation = 10;  // far enough to be seen to leave the flow
        if (y > kBeyondSaturation) break;
        p.series.x.push_back(t);
        p.series.y.push_back(y);
      }
      result.predictions.push_back(std::move(p));
      Prediction plateau = bigram_prediction(std::string(name) + "_plateau", {}, "none");
      plateau.series.x = {0};
      const double level = closed_.plateau_alpha_v();
      plateau.series.y = {name == std::string("alpha_V") ? level : 1 / level};
      result.predictions.push_back(std::move(plateau));
    }
    constexpr double kSaturated = 0.01;
    result.diagnostics = {{"omega", omega},
                          {"boosting_time", closed_.boosting_time(theta_)},
                          {"saturation_time", closed_.saturation_time(kSaturated)},
                          {"plateau_alpha_V", closed_.plateau_alpha_v()},
                          {"slow_rate", closed_.slow_rate()}};
    return result;
  }

  std::size_t points() const override { return 2; }
  /// Nothing is random: computed once, however many replicates are asked for.
  std::uint64_t replicates_per_piece(std::size_t) const override { return 1000; }

  std::vector<Outcome> simulate(const Piece& piece) const override {
    Outcome outcome;
    if (piece.point == 0) {
      integrate(outcome);
    } else {
      descend(outcome);
    }
    return std::vector<Outcome>(piece.replicates, outcome);
  }

  Table diagnostics() const override { return setup_.diagnostics; }
  std::vector<std::string> warnings() const override { return setup_.warnings; }

 private:
  std::vector<BigramSignals> signals(const std::vector<double>& times) const {
    BigramCurve curve = reduced_flow(constants_, setup_.rates, {}, times);
    if (curve.status != OdeStatus::finished) {
      throw Error(ErrorKind::numerical, "reduced flow: " + to_string(curve.status));
    }
    return std::move(curve.signals);
  }

  /// The hat gradients leave Vμ: half its squared distance to μ stays in the loss.
  double observed(const std::string& name, const BigramSignals& s) const {
    return read(name, constants_, s) + (name == "excess_loss" ? 0.5 * mismatch2_ : 0);
  }

  MatrixXd uniform() const {
    return MatrixXd::Constant(
        setup_.model.context(), setup_.model.tokens(), 1 / constants_.context);
  }

  void integrate(Outcome& outcome) const {
    const std::vector<double> times = as_reals(setup_.steps);
    const BigramCurve curve = full_flow(setup_.model, setup_.rates, setup_.start, uniform(), times);
    for (const std::string& name : kNames) {
      Series series{name, {{"method", "flow"}}, "step", {}, {}};
      for (std::size_t k = 0; k < curve.signals.size(); ++k) {
        series.x.push_back(times[k]);
        BigramSignals s = curve.signals[k];
        s.d_v -= mismatch2_;
        series.y.push_back(observed(name, s));
      }
      outcome.series.push_back(std::move(series));
    }
    if (curve.status != OdeStatus::finished) {
      outcome.status = to_string(curve.status);
      outcome.failed = true;
      outcome.message = "the flow of all entries did not reach its last time";
    }
  }

  void descend(Outcome& outcome) const {
    MatrixXd value = setup_.start;
    MatrixXd attention = uniform();
    BigramRecorder recorder(kNames, {{"method", "descent"}});
    std::int64_t step = 0;
    for (const std::int64_t next : setup_.steps) {
      if (next > kLongestDescent) break;
      for (; step < next; ++step) {
        const BigramGradient g = population_hat_gradient(setup_.model, value, attention);
        value -= setup_.rates.value * g.value;
        attention -= setup_.rates.attention * g.attention;
      }
      recorder.record(static_cast<double>(step),
                      bigram_state(setup_.model, value, attention_sums(setup_.model, attention)));
    }
    recorder.append_to(outcome);
  }

  BigramSetup setup_;
  BigramConstants constants_;
  BoostingTheory closed_;
  double mismatch2_;  ///< |Vμ - μ|²
  double theta_;
};

std::unique_ptr<Experiment> make(Configuration& c) { return std::make_unique<Flow>(c); }

Figure figure(const Configuration&) {
  const Axis step{.label = "step {/:Italic t}", .scale = AxisScale::log};
  const auto layers = [](const std::string& name) {
    return std::vector<Layer>{
        {.series = name, .label = "flow", .only = {{"method", "flow"}}},
        {.series = name, .label = "descent", .hollow = true, .only = {{"method", "descent"}}},
        {.series = name + "_linear", .label = "linear regime", .reference = true},
        {.series = name + "_plateau", .label = "plateau", .reference = true}};
  };
  Panel loss{.x = step,
             .y = {.label = "excess loss {/:Italic L} − {/:Italic L}*", .scale = AxisScale::log},
             .layers = {{.series = "excess_loss", .label = "flow", .only = {{"method", "flow"}}},
                        {.series = "excess_loss",
                         .label = "descent",
                         .hollow = true,
                         .only = {{"method", "descent"}}}},
             .x_name = "step"};
  return {
      .name = "bigrams-flow",
      .panels = {{.x = step,
                  .y = {.label = "signal {/:Italic α}_V", .scale = AxisScale::log},
                  .layers = layers("alpha_V"),
                  .x_name = "step"},
                 {.x = step,
                  .y = {.label = "signal {/:Italic α}_A", .scale = AxisScale::log},
                  .layers = layers("alpha_A"),
                  .x_name = "step"},
                 loss},
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
  constexpr double kFlow = 1e-6;
  constexpr double kFloor = 1e-12;
  std::vector<AgreementRule> rules;
  for (const std::string& name : kNames) {
    rules.push_back({.series = name, .relative = kFlow, .absolute = kFloor, .deterministic = true});
  }
  return rules;
}

}  // namespace

Study bigrams_flow() {
  std::vector<Parameter> parameters = bigram_parameters({.steps = geometric_steps(1, 200000, 40),
                                                         .replicates = 8,
                                                         .starts = {"stationary", "uniform"}});
  parameters.push_back(real_parameter("sim.theta",
                                      0.25,
                                      "signal alpha_V at which the boosting time is stated",
                                      {.low = 0, .high = 1, .low_open = true}));
  std::vector<SeriesInfo> series = bigram_series(kNames);
  series.push_back({"alpha_V_linear", "", "sinh law of the boosting stage (theory)"});
  series.push_back({"alpha_A_linear", "", "cosh law of the boosting stage (theory)"});
  series.push_back({"alpha_V_plateau", "", "level before the slow relaxation (theory)"});
  series.push_back({"alpha_A_plateau", "", "its inverse (theory)"});
  return {.name = "bigrams-flow",
          .question =
              "Do four numbers describe the whole gradient flow of a linear transformer "
              "learning sparse contextual bigrams?",
          .neglects = "nothing: flow and whole steps each close in four numbers",
          .parameters = std::move(parameters),
          .series = std::move(series),
          .presets = {{"quick", "the defaults: N = 3, T = 1000, Q = 2", {}},
                      {"paper",
                       "N = 10, T = 5000, Q = 4",
                       {{"model.tokens", 10}, {"model.context", 5000}, {"model.sparsity", 4}}}},
          .sources = {bigram_source("model, hat gradients, boosting stage")},
          .make = make,
          .figure = figure,
          .agreement = agreement};
}

}  // namespace attica
