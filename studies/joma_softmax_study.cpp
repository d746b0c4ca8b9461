/// @file
/// @brief Study joma-softmax: how far the approximate invariant of softmax attention carries. The
/// correlation of logits with it stays high while its slope falls.

#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/core/joma_softmax.hpp"
#include "attica/sim/joma_descent.hpp"
#include "attica/studies/joma_setup.hpp"
#include "attica/studies/joma_studies.hpp"
#include "attica/theory/joma_flow.hpp"

namespace attica {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

struct Problem {
  JomaModel model;
  JomaState start;
};

/// Half of the tokens are "distinct": in the gaussian variant each class has its own bump of them.
Problem problem_of(const Configuration& c, const std::string& inputs) {
  const auto tokens = static_cast<Index>(c.integer("model.tokens"));
  const auto classes = static_cast<Index>(c.integer("model.classes"));
  const bool formula = c.text("sim.initialisation") == "deterministic";
  const auto seed = static_cast<std::uint64_t>(c.integer("sim.seed"));
  RandomStream data({.seed = seed, .id = StreamId::model});
  RandomStream init({.seed = seed, .id = StreamId::initialisation});
  constexpr double kScale = 0.01;
  MatrixXd x(classes, tokens);
  JomaState start{MatrixXd(classes, tokens), MatrixXd(classes, 1), MatrixXd(1, tokens)};
  const Index distinct = tokens / 2;
  for (Index i = 0; i < classes; ++i) {
    const double k = static_cast<double>(i + 1);
    for (Index l = 0; l < tokens; ++l) {
      const double j = static_cast<double>(l + 1);
      x(i, l) = formula ? 0.25 * (1 + std::sin(1.7 * j + 0.9 * k * (j + 1))) : 0.5 * data.uniform();
      if (inputs == "gaussian" && l < distinct) {
        const double centre = static_cast<double>(distinct * i) / static_cast<double>(classes);
        const double d = static_cast<double>(l) - centre;
        x(i, l) = std::exp(-d * d / 30);
      }
      start.v(i, l) = kScale * (formula ? std::sin(2.3 * k + 1.1 * j * (k + 1)) : init.normal());
    }
    x.row(i) /= x.row(i).sum();
    start.r(i, 0) = kScale * (formula ? std::cos(3.1 * k) : init.normal());
  }
  for (Index l = 0; l < tokens; ++l) {
    const double j = static_cast<double>(l + 1);
    start.z(0, l) = kScale * (formula ? std::cos(0.7 * j * j) : init.normal());
  }
  std::vector<int> labels;
  for (int i = 0; i < classes; ++i) labels.push_back(i);
  return {
      JomaModel({.attention = JomaAttention::softmax,
                 .loss = JomaLoss::cross_entropy,
                 .temperature = c.real("model.temperature")},
                {.contexts = std::move(x),
                 .queries = std::vector<int>(labels.size(), 0),
                 .labels = std::move(labels),
                 .weights = Eigen::VectorXd::Constant(classes, 1 / static_cast<double>(classes))}),
      std::move(start)};
}

/// The observables in the order of kNames.
const std::vector<std::string> kNames = {"correlation_nc",
                                         "correlation_weights",
                                         "correlation_norm",
                                         "slope",
                                         "relative_defect",
                                         "loss"};

std::vector<double> read(const Problem& p, const SoftmaxInvariant& invariant, const JomaState& s) {
  const SoftmaxAgreement a = invariant.compare(s);
  return {a.correlation,
          a.correlation_weights,
          a.correlation_norm,
          a.slope,
          a.residual,
          p.model.loss(s)};
}

class Softmax : public Experiment {
 public:
  explicit Softmax(const Configuration& c)
      : steps_(joma_steps(c)), eta_(c.real("sim.eta")), inputs_(c.texts("model.inputs")) {
    require(steps_.front() > 0, "sim.steps", static_cast<double>(steps_.front()), "steps >= 1");
    for (const std::string& inputs : inputs_) problems_.push_back(problem_of(c, inputs));
  }

  TheoryResult theory(TheoryGrid grid) const override {
    std::vector<double> steps(steps_.begin(), steps_.end());
    return compute(grid == TheoryGrid::run ? with_between(steps, AxisScale::log) : steps);
  }

  std::size_t points() const override { return problems_.size(); }
  /// Nothing is random once the problem is drawn: computed once.
  std::uint64_t replicates_per_piece(std::size_t) const override { return 1000; }

  std::vector<Outcome> simulate(const Piece& piece) const override {
    const Problem& p = problems_[piece.point];
    const Point point = {{"inputs", inputs_[piece.point]}};
    const SoftmaxInvariant invariant(p.model, p.start);
    JomaDescent descent(p.model, p.start, eta_, 0, {});
    std::vector<Series> series;
    for (const std::string& name : kNames) series.push_back({name, point, "step", {}, {}});
    constexpr Index kShownTokens = 4;
    for (Index l = 0; l < std::min(kShownTokens, p.model.tokens()); ++l) {
      series.push_back(
          {"v", joined(point, {{"token", numbered(static_cast<std::size_t>(l))}}), "step", {}, {}});
    }
    for (const std::int64_t record : steps_) {
      while (descent.steps() < record) descent.step();
      const std::vector<double> values = read(p, invariant, descent.state());
      for (std::size_t k = 0; k < series.size(); ++k) {
        series[k].x.push_back(static_cast<double>(record));
        series[k].y.push_back(k < values.size()
                                  ? values[k]
                                  : descent.state().v(0, static_cast<Index>(k - values.size())));
      }
    }
    Outcome outcome{.series = std::move(series)};
    add_map(outcome, "input", point, p.model.samples().contexts);
    add_map(outcome, "weights_start", point, p.start.v);
    add_map(outcome, "weights_end", point, descent.state().v);
    return std::vector<Outcome>(piece.replicates, outcome);
  }

 private:
  TheoryResult compute(const std::vector<double>& steps) const {
    TheoryResult result;
    double worst = 0;
    for (std::size_t i = 0; i < problems_.size(); ++i) {
      const Problem& p = problems_[i];
      const SoftmaxInvariant invariant(p.model, p.start);
      std::vector<double> times = {0};
      for (const double step : steps) times.push_back(eta_ * step);
      const JomaFlow flow = joma_flow(p.model, p.start, times, invariant.mean_context());
      const JomaFlow lagged = joma_flow(p.model, p.start, times, {}, eta_);
      if (!flow.solution.finished() || !lagged.solution.finished()) {
        throw Error(ErrorKind::numerical, "gradient flow: " + describe(flow.solution));
      }
      std::vector<Prediction> all;
      for (const std::string& name : kNames) {
        all.push_back(prediction(name, {{"inputs", inputs_[i]}}, "step", {}, {}));
      }
      for (std::size_t k = 1; k < times.size(); ++k) {
        const std::vector<double> y = read(p, invariant, flow.states[k]);
        const std::vector<double> late = read(p, invariant, lagged.states[k]);
        for (std::size_t n = 0; n < all.size(); ++n) {
          all[n].series.x.push_back(steps[k - 1]);
          all[n].series.y.push_back(y[n]);
          // Whole steps: the modified flow holds the first order in eta; half as much again for the
          // next ones.
          constexpr double kAllowance = 1.5;
          all[n].finite_size.push_back(kAllowance * std::abs(late[n] - y[n]));
        }
        const Eigen::VectorXd defect = flow.defect.col(static_cast<Index>(k));
        worst = std::max(worst, (defect - invariant.defect(flow.states[k])).cwiseAbs().maxCoeff());
      }
      for (Prediction& a : all) result.predictions.push_back(std::move(a));
    }
    // The exact equation of the defect, integrated along, against the defect of the states.
    result.diagnostics = {{"defect_equation_error", worst}};
    return result;
  }

  static void add_map(Outcome& outcome,
                      const std::string& name,
                      const Point& point,
                      const MatrixXd& m) {
    for (Index i = 0; i < m.rows(); ++i) {
      Series row{
          name, joined(point, {{"unit", numbered(static_cast<std::size_t>(i))}}), "token", {}, {}};
      for (Index l = 0; l < m.cols(); ++l) {
        row.x.push_back(numbered(static_cast<std::size_t>(l)));
        row.y.push_back(m(i, l));
      }
      outcome.series.push_back(std::move(row));
    }
  }

  std::vector<std::int64_t> steps_;
  double eta_;
  std::vector<std::string> inputs_;
  std::vector<Problem> problems_;
};

std::unique_ptr<Experiment> make(Configuration& c) { return std::make_unique<Softmax>(c); }

Figure figure(const Configuration& c) {
  const Axis step{.label = "step {/:Italic n}", .scale = AxisScale::log};
  const std::vector<std::string> variants = c.texts("model.inputs");
  const auto layers = [&](const std::string& series) {
    std::vector<Layer> all;
    for (const std::string& v : variants) {
      all.push_back({.series = series, .label = v, .only = {{"inputs", v}}});
    }
    return all;
  };
  const Point first = {{"inputs", variants.front()}};
  const auto map =
      [&](const std::string& series, const std::string& title, const std::string& value) {
        Panel panel{.kind = PanelKind::heat_map,
                    .x = {.label = "token {/:Italic l}"},
                    .y = {.label = "unit {/:Italic k}"},
                    .layers = {{.series = series, .theory = false, .only = first}},
                    .x_name = "token",
                    .y_coordinate = "unit",
                    .title = title,
                    .value = {.label = value}};
        return panel;
      };
  Panel weights{
      .x = step, .y = {.label = "{/:Italic v}_{1{/:Italic l}}"}, .layers = {}, .x_name = "step"};
  for (const double token : {1.0, 2.0, 3.0, 4.0}) {
    weights.layers.push_back({.series = "v",
                              .label = "{/:Italic l} = {token}",
                              .theory = false,
                              .only = {{"inputs", variants.front()}, {"token", token}}});
  }
  return {
      .name = "joma-softmax",
      .panels = {{.x = step,
                  .y = {.label = "corr. of {/:Italic z} and invariant"},
                  .layers = layers("correlation_nc"),
                  .x_name = "step"},
                 {.x = step, .y = {.label = "slope"}, .layers = layers("slope"), .x_name = "step"},
                 {.x = step,
                  .y = {.label = "|{/:Italic ε}| / |Δ{/:Italic z}|"},
                  .layers = layers("relative_defect"),
                  .x_name = "step"},
                 weights,
                 map("input", "input", "{/:Italic x_{kl}}"),
                 map("weights_end", "weights at the end", "{/:Italic v_{kl}}")},
      .columns = 2,
      .caption =
          "Softmax attention trained by gradient descent. Lines: gradient flow of the exact "
          "reduced state; points: descent, whose whole steps account for the difference. The "
          "logits stay correlated with the approximate "
          "invariant while the slope of the regression falls. No randomness, no error bars."};
}

std::vector<AgreementRule> agreement(const Configuration&) {
  // Beyond the step size (in the predictions' allowances) integration to 1e-11; two residuals are
  // quotients of small numbers at the first step.
  constexpr double kIntegration = 1e-6;
  std::vector<AgreementRule> rules;
  for (const std::string& name : kNames) {
    rules.push_back({.series = name,
                     .relative = kIntegration,
                     .absolute = kIntegration,
                     .deterministic = true});
  }
  return rules;
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  std::vector<ClaimResult> all;
  for (const std::string& inputs : c.texts("model.inputs")) {
    constexpr double kCorrelated = 0.8;
    std::vector<bool> holds;
    for (const ObservedCurve& curve : observed.simulation) {
      if (curve.mean.name != "correlation_nc" || curve.mean.point != Point{{"inputs", inputs}}) {
        continue;
      }
      for (const double y : curve.mean.y) holds.push_back(y > kCorrelated);
    }
    all.push_back(claim_in_every("correlated-" + inputs,
                                 "logits and invariant keep a correlation above 0.8",
                                 holds,
                                 "recorded steps"));
  }
  return all;
}

}  // namespace

Study joma_softmax() {
  return {
      .name = "joma-softmax",
      .question = "How far does the approximate invariant of softmax attention carry?",
      .neglects =
          "the step size of descent (first order in eta, computed); the invariant itself "
          "neglects variations of attended contexts, which is what is displayed",
      .parameters = {{.key = "model.inputs",
                      .type = ParameterType::text,
                      .fallback = Value(List{"gaussian", "random"}),
                      .meaning = "classes' contexts: a bump over the distinct tokens, or random",
                      .list = true,
                      .choices = {"gaussian", "random"}},
                     integer_parameter("model.tokens",
                                       20,
                                       "M, half distinct and half common",
                                       {.low = 2, .high = 1000}),
                     integer_parameter(
                         "model.classes", 20, "classes and hidden units", {.low = 2, .high = 1000}),
                     real_parameter("model.temperature", 0.5, "T of attention", kPositive),
                     word_parameter("sim.initialisation",
                                    "deterministic",
                                    "contexts and start by formula, or drawn from the seed",
                                    {"deterministic", "random"}),
                     real_parameter("sim.eta", 0.1, "learning rate", kPositive),
                     steps_parameter({1, 2, 5, 10, 20, 50, 100, 150, 200, 300, 400}),
                     replicates_parameter(8, "identical by design"),
                     full_width_parameter()},
      .series = {{"correlation_nc",
                  "NC",
                  "Pearson correlation over tokens of logits and invariant"},
                 {"correlation_weights", "NC_1", "with its part sum_k v_k^2/2T alone"},
                 {"correlation_norm", "NC_2", "with its part -|V|^2 bbar/2T alone"},
                 {"slope", "slope", "of the regression of logits on the invariant"},
                 {"relative_defect", "|eps|/|Δz|", "distance to the invariant over distance moved"},
                 {"loss", "L", "cross-entropy, nats"},
                 {"v", "v_1l", "weights of the first unit (simulation)"},
                 {"input", "x", "contexts of the classes (simulation)"},
                 {"weights_start", "V(0)", "weights (simulation)"},
                 {"weights_end", "V", "weights at the end (simulation)"}},
      .presets = {{"quick", "the defaults: 400 steps", {}},
                  {"paper",
                   "2000 steps, drawn contexts and start",
                   {{"sim.initialisation", "random"},
                    {"sim.steps",
                     List{1, 2, 5, 10, 20, 50, 100, 200, 300, 500, 700, 1000, 1500, 2000}}}}},
      .sources = {joma_source("Theorem 1, Figs. 2 and 3")},
      .make = make,
      .figure = figure,
      .agreement = agreement,
      .claims = claims,
      .recipes = {{.name = "joma-softmax-large-steps",
                   .meaning = "The defect is predicted for small steps; these are twenty times "
                              "larger than the default.",
                   .values = {{"sim.eta", 2.0}}}}};
}

}  // namespace attica
