/// @file
/// @brief Study topics-two-stage: first the value matrix, then attention; SGD against the flow of
/// 24 numbers.

#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/studies/topic_setup.hpp"
#include "attica/studies/topic_studies.hpp"
#include "attica/theory/topic_value.hpp"

namespace attica {
namespace {

using Eigen::Index;

const std::vector<std::string> kNorms = {"norm_V", "norm_K", "norm_Q"};

/// The flow of the configuration.
struct Setup {
  TopicModel model;
  TopicDynamics dynamics;
  std::vector<double> times;
  double plateau = 0;  ///< |W*|

  explicit Setup(const Configuration& c) : model(topic_model(c)), times(c.reals("sim.times")) {
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    const std::string& frozen = c.text("sim.frozen");
    const double shared = topic_penalty(c);
    dynamics = {
        .loss = attica::topic_loss(c),
        .scale = attention_scale(c, model),
        .value_penalty = c.has("model.penalty_V") ? c.real("model.penalty_V") : shared,
        .attention_penalty = c.has("model.penalty_KQ") ? c.real("model.penalty_KQ") : shared,
        .train_value = frozen != "value",
        .train_attention = frozen != "attention"};
    if (frozen == "value") value = start_value(model, dynamics);
    const CommutantAlgebra algebra(model.vocabulary());
    const bool unbounded = dynamics.loss == TopicLoss::cross_entropy && dynamics.value_penalty <= 0;
    if (!unbounded) plateau = std::sqrt(algebra.squared_norm(start_value(model, dynamics)));
  }

  Commutant value = Commutant::Zero();  ///< the start of W_V

 private:
  /// The optimum of the first stage.
  static Commutant start_value(const TopicModel& model, const TopicDynamics& d) {
    if (d.loss == TopicLoss::cross_entropy) return cross_entropy_optimum(model, d.value_penalty);
    return value_optimum(
        CommutantAlgebra(model.vocabulary()), value_moments(model), d.value_penalty);
  }
};

TopicState start_of(const Configuration& c, const Setup& setup) {
  TopicState start = flow_start(c);
  start.value = setup.value;
  return start;
}

class TwoStage : public TopicExperiment {
 public:
  explicit TwoStage(const Configuration& c)
      : setup_(c),
        algebra_(setup_.model.vocabulary()),
        start_(attention_start(c)),
        epsilon_(c.real("model.epsilon")),
        threshold_(c.real("model.threshold")),
        optimiser_(optimiser_options(c)),
        batch_(c.integer("sim.batch")),
        queries_(c.integer("sim.queries")) {
    const bool flow = start_ == AttentionStart::identity || start_ == AttentionStart::split;
    if (flow && setup_.model.infinite() && setup_.model.subset()) flow_ = start_of(c, setup_);
    plain_ = optimiser_.kind == networks::OptimiserKind::sgd ||
             optimiser_.kind == networks::OptimiserKind::heavy_ball;
    // Time of the flow that a step of momentum covers.
    per_step_ = optimiser_.learning_rate;
    if (optimiser_.kind == networks::OptimiserKind::heavy_ball) {
      per_step_ /= 1 - optimiser_.momentum;
    }
  }

  TheoryResult theory(TheoryGrid grid) const override {
    if (!flow_ || !plain_) {
      if (grid == TheoryGrid::run) return {};
      throw invalid_parameter(
          plain_ ? "model.initialisation" : "sim.optimiser",
          plain_ ? "this start or these documents" : "adam",
          "SGD on infinite documents of the subset prior from an identity or split start: the "
          "flow's theory knows nothing else");
    }
    std::vector<double> times = setup_.times;
    if (grid == TheoryGrid::run) {
      times = realised();
      constexpr int kLine = 200;
      for (int k = 0; k < kLine; ++k) times.push_back(setup_.times.back() * k / kLine);
      std::sort(times.begin(), times.end());
      times.erase(std::unique(times.begin(), times.end()), times.end());
    }
    const TopicFlow flow = topic_flow(setup_.model, setup_.dynamics, *flow_, times);
    if (flow.status != OdeStatus::finished) {
      throw Error(ErrorKind::numerical, "two-stage flow: " + to_string(flow.status));
    }
    std::vector<std::string> names = kNorms;
    names.push_back("loss");
    for (const std::string& name : value_names()) names.push_back(name);
    TopicCurves curves(names, {}, "time");
    for (std::size_t k = 0; k < flow.times.size(); ++k) {
      const TopicNorms n = topic_norms(algebra_, flow.states[k]);
      std::vector<double> values = {n.value, n.key, n.query};
      values.push_back(attica::topic_loss(setup_.model, setup_.dynamics, flow.states[k]));
      for (const double w : all_values(flow.states[k].value)) values.push_back(w);
      curves.record(flow.times[k], values);
    }
    TheoryResult result;
    curves.append_to(result);
    // At the start every run is where the flow is.
    for (Prediction& p : result.predictions) {
      for (const double t : p.series.x) p.compared.push_back(t > 0);
    }
    const AttentionOnset onset = attention_onset(setup_.model, setup_.dynamics.scale);
    result.diagnostics = {{"plateau", setup_.plateau},
                          {"topic_contrast", onset.topic_contrast},
                          {"growth_rate", onset.growth_rate}};
    const StageBoundary b = boundary();
    for (const auto& [name, time] : {std::pair{"t_V", b.value_time}, {"t_KQ", b.attention_time}}) {
      if (std::isfinite(time)) {
        result.diagnostics.emplace_back(name, time);
      } else {
        result.diagnostics.emplace_back(name, "not reached");
      }
    }
    return result;
  }

  std::size_t points() const override { return 1; }
  std::vector<std::string> warnings() const override { return topic_warnings(setup_.model, true); }

  /// t_V and t_KQ of the flow, looked for up to ten times the recorded time.
  StageBoundary boundary() const {
    constexpr double kHorizon = 10;
    return stage_boundary(setup_.model,
                          setup_.dynamics,
                          *flow_,
                          setup_.plateau,
                          threshold_,
                          kHorizon * setup_.times.back());
  }
  bool has_boundary() const { return flow_.has_value() && plain_; }

 protected:
  Outcome run(const Piece& piece, std::uint64_t replicate) const override {
    const TopicModel& model = setup_.model;
    const TopicSampler sampler(model);
    const Index tokens = model.vocabulary().size();
    TopicNetwork network({.tokens = tokens,
                          .inner = inner_dimension(start_, tokens),
                          .scale = setup_.dynamics.scale,
                          .loss = network_loss(setup_.dynamics.loss)});
    StreamAddress initial = step_address(piece, replicate, 0);
    initial.id = StreamId::initialisation;
    network.start_attention(start_, epsilon_, initial);
    network.set_value(algebra_.dense(setup_.value));
    TopicCurves curves(kNorms, {}, "time");
    TopicBatch batch;
    const std::vector<double> times = realised();
    std::size_t at = 0;
    double first = 0;
    double value_time = -1;
    double attention_time = -1;
    const auto norms = [](const TopicNetwork& n) {
      const auto& p = n.parameters();
      return TopicNorms{
          p.matrix("W_V").map().norm(), p.matrix("W_K").map().norm(), p.matrix("W_Q").map().norm()};
    };
    const auto look = [&](std::uint64_t step) {
      const TopicNorms n = norms(network);
      const double attention = std::hypot(n.key, n.query);
      if (first <= 0) first = attention;
      const double t = static_cast<double>(step) * per_step_;
      if (value_time < 0 && n.value >= kPlateauShare * setup_.plateau) value_time = t;
      if (attention_time < 0 && attention >= threshold_ * first) attention_time = t;
    };
    const auto end = train_topics(
        network,
        {.optimiser = optimiser_,
         .recorded = steps(),
         .value_penalty = setup_.dynamics.value_penalty,
         .attention_penalty = setup_.dynamics.attention_penalty,
         .train_value = setup_.dynamics.train_value,
         .train_attention = setup_.dynamics.train_attention},
        [&](std::uint64_t step) -> const TopicBatch& {
          look(step);
          RandomStream stream(step_address(piece, replicate, step));
          if (model.infinite()) {
            sampler.draw_infinite(stream, batch_, queries_, batch);
          } else {
            sampler.draw(stream, batch_, batch);
          }
          return batch;
        },
        [&](std::uint64_t, const TopicNetwork& now) {
          const TopicNorms n = norms(now);
          curves.record(times[at++], {n.value, n.key, n.query});
        },
        [&] { return piece.stop.stop_requested(); });
    Outcome outcome;
    curves.append_to(outcome);
    for (const auto& [name, t] : {std::pair{"t_V", value_time}, {"t_KQ", attention_time}}) {
      if (t >= 0) outcome.series.push_back({name, {}, "none", {0}, {t}});
    }
    mark_end(outcome, end);
    return outcome;
  }

 private:
  std::vector<std::uint64_t> steps() const {
    std::vector<std::uint64_t> all;
    for (const double t : setup_.times) {
      const auto step = static_cast<std::uint64_t>(std::llround(t / per_step_));
      if (all.empty() || step > all.back()) all.push_back(step);
    }
    return all;
  }
  std::vector<double> realised() const {
    std::vector<double> all;
    for (const std::uint64_t n : steps()) {
      const double t = static_cast<double>(n) * per_step_;
      // The configured number where it is a whole number of steps.
      const auto same = std::find_if(setup_.times.begin(), setup_.times.end(), [&](double x) {
        return std::abs(x - t) < 1e-6 * per_step_;
      });
      all.push_back(same != setup_.times.end() ? *same : t);
    }
    return all;
  }

  Setup setup_;
  CommutantAlgebra algebra_;
  AttentionStart start_;
  double epsilon_;
  double threshold_;
  networks::OptimiserOptions optimiser_;
  Index batch_;
  Index queries_;
  std::optional<TopicState> flow_;
  bool plain_ = true;
  double per_step_ = 1;
};

Figure figure(const Configuration& c) {
  Panel panel{.x = {.label = "time {/:Italic t} = {/:Italic η} × steps"},
              .y = {.label = "Frobenius norm"},
              .layers = {{.series = "norm_V", .label = "{/:Italic W}_V"},
                         {.series = "norm_K", .label = "{/:Italic W}_K"},
                         {.series = "norm_Q", .label = "{/:Italic W}_Q"}},
              .x_name = "time"};
  const TwoStage experiment(c);
  if (experiment.has_boundary()) {
    const StageBoundary b = experiment.boundary();
    for (const double t : {b.value_time, b.attention_time}) {
      if (std::isfinite(t)) panel.vertical_marks.push_back(t);
    }
  }
  return {.name = "topics-two-stage",
          .panels = {panel},
          .caption =
              "Two stages of learning topics: first the value matrix, then keys and "
              "queries. Lines: gradient flow in 24 numbers; points: SGD on all entries, "
              "mean and standard error over runs; dotted: t_V, where W_V has 0.9 of its "
              "first-stage norm, and t_KQ, where (W_K, W_Q) has grown by the threshold."};
}

std::vector<AgreementRule> agreement(const Configuration&) {
  // The step is not small against the first stage's relaxation, and gradient noise adds to squared
  // norms: both of order η; less than 2 % of the norms at the quick preset.
  constexpr double kStep = 0.03;
  std::vector<AgreementRule> rules;
  for (const std::string& name : kNorms) rules.push_back({.series = name, .relative = kStep});
  return rules;
}

std::vector<ClaimResult> claims(const Configuration&, const Observed& observed) {
  std::vector<double> value;
  std::vector<double> attention;
  for (const ObservedCurve& curve : observed.simulation) {
    if (curve.values.empty()) continue;
    if (curve.mean.name == "t_V") value = curve.values.front();
    if (curve.mean.name == "t_KQ") attention = curve.values.front();
  }
  ClaimResult claim{.name = "two-stages",
                    .statement = "t_KQ > 2 t_V in every run: the value matrix is learnt first",
                    .detail = {}};
  if (value.empty() || attention.size() != value.size()) {
    claim.detail = "a stage was not reached in every run";
    return {claim};
  }
  bool all = true;
  for (std::size_t k = 0; k < value.size(); ++k) all = all && attention[k] > 2 * value[k];
  claim.verdict = all ? Verdict::agree : Verdict::disagree;
  claim.detail =
      "first run: t_V = " + std::to_string(value[0]) + ", t_KQ = " + std::to_string(attention[0]);
  return {claim};
}

}  // namespace

Study topics_two_stage() {
  constexpr double kThird = 1.0 / 3;
  constexpr double kKeep = 0.3;
  constexpr double kStart = 0.5;
  constexpr double kThreshold = 1.5;
  constexpr double kEta = 0.5;
  std::vector<Parameter> all = topic_parameters({.topics = 4,
                                                 .words = 2,
                                                 .keep_rate = kKeep,
                                                 .penalty = 0.0,
                                                 .initialisation = "identity",
                                                 .scale = kThird,
                                                 .epsilon = kStart,
                                                 .threshold = kThreshold});
  const std::vector<Parameter> own = {
      {.key = "model.penalty_V",
       .type = ParameterType::real,
       .fallback = std::nullopt,
       .meaning = "lambda of W_V; unset: penalty",
       .range = {.low = 0}},
      {.key = "model.penalty_KQ",
       .type = ParameterType::real,
       .fallback = std::nullopt,
       .meaning = "lambda of W_K and W_Q; unset: penalty",
       .range = {.low = 0}},
      topic_choice("sim.frozen",
                   "none",
                   "value: W_V stays at the optimum of the first stage; attention: W_K, W_Q stay",
                   {"none", "value", "attention"}),
      topic_times({0.0,
                   10.0,
                   25.0,
                   50.0,
                   100.0,
                   150.0,
                   200.0,
                   300.0,
                   500.0,
                   750.0,
                   1000.0,
                   1500.0,
                   2000.0}),
      topic_real("sim.eta", kEta, "learning rate", {.low = 0, .low_open = true}),
      topic_integer("sim.batch", 32, "fresh documents per step", 1),
      topic_integer("sim.queries", 4, "selected positions of an infinite document", 1),
      topic_replicates(40)};
  all.insert(all.end(), own.begin(), own.end());
  constexpr double kAdamEpsilon = 1e-8;
  for (Parameter& p : optimiser_parameters(kAdamEpsilon)) all.push_back(std::move(p));
  std::vector<SeriesInfo> series = topic_series(kNorms);
  for (SeriesInfo& info : topic_series(value_names())) series.push_back(std::move(info));
  series.push_back(topic_series({"loss"}).front());
  series.push_back({"t_V", "t_V", "first time |W_V| has 0.9 of its first-stage norm"});
  series.push_back({"t_KQ", "t_KQ", "first time |(W_K, W_Q)| has grown by the threshold"});
  return {
      .name = "topics-two-stage",
      .question = "Is the value matrix learnt before attention?",
      .neglects = "the learning rate and the noise of SGD",
      .parameters = std::move(all),
      .series = std::move(series),
      .presets = {{"quick", "the defaults: T = 4, v = 2", {}},
                  {"paper",
                   "T = v = 10, Dirichlet 0.1, N = 100..150, Adam; no theory",
                   {{"model.topics", 10},
                    {"model.words_per_topic", 10},
                    {"model.prior", "dirichlet"},
                    {"model.length", List{100, 150}},
                    {"model.keep_rate", 0.1},
                    {"model.initialisation", "uniform"},
                    {"sim.optimiser", "adam"},
                    {"sim.eta", 0.01},
                    {"sim.batch", 40},
                    {"sim.times", List{0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0}},
                    {"sim.replicates", 4}}}},
      .sources = {topic_source("two stages of training; the flow in 24 numbers is ours")},
      .make = [](Configuration& c) -> std::unique_ptr<Experiment> {
        return std::make_unique<TwoStage>(c);
      },
      .figure = figure,
      .agreement = agreement,
      .claims = claims,
      .recipes = {{.name = "topics-two-stage-large-steps",
                   .meaning = "Ten times the default learning rate: gradient descent leaves the "
                              "flow, and the values overshoot.",
                   .values = {{"sim.eta", 5.0}}}}};
}

}  // namespace attica
