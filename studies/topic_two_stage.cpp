/// @file
/// @brief Study topics-two-stage: first the value matrix, then attention; SGD against the flow of
/// 24 numbers.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attica/core/error.hpp"
#include "attica/studies/topic_setup.hpp"
#include "attica/studies/topic_studies.hpp"
#include "attica/theory/topic_value.hpp"

namespace attica {
namespace {

using Eigen::Index;

const std::vector<std::string> kNorms = {"norm_V", "norm_K", "norm_Q"};

/// What is trained, and the flow it follows if that is known.
struct Setup {
  TopicModel model;
  TopicDynamics dynamics;
  TopicNetworkShape shape;
  AttentionStart start;
  double epsilon;
  networks::InitialValues value_start;  ///< of W_V while it is trained
  Commutant value = Commutant::Zero();  ///< of W_V otherwise
  std::vector<double> times;
  double plateau = 0;  ///< |W*|, 0 if it is not known
  bool deterministic = false;

  explicit Setup(const Configuration& c)
      : model(topic_model(c)),
        shape{.tokens = model.vocabulary().size(),
              .decoder = decoder(c),
              .bias = c.flag("model.bias"),
              .loss = network_loss(attica::topic_loss(c))},
        start(attention_start(c)),
        epsilon(c.real("model.epsilon")),
        value_start(value_law(c)),
        times(c.reals("sim.times")) {
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    const bool embedded = c.text("model.embedding") == "trained";
    Index width = shape.tokens;
    if (c.has("model.width")) width = c.integer("model.width");
    if (embedded) shape.width = width;
    require(embedded || width == shape.tokens,
            "model.width",
            static_cast<double>(width),
            "one-hot tokens have width topics x words + 1; other widths need a trained embedding");
    require(shape.decoder != TopicDecoder::identity || width == shape.tokens,
            "model.width",
            static_cast<double>(width),
            "without a decoder the width is topics x words + 1");
    shape.inner = inner_dimension(start, width);
    if (c.has("model.inner_dimension")) {
      const Index inner = c.integer("model.inner_dimension");
      const bool any = start == AttentionStart::gaussian || start == AttentionStart::uniform;
      require(any || inner == shape.inner,
              "model.inner_dimension",
              static_cast<double>(inner),
              "the identity and split starts fix it: width and twice the width");
      shape.inner = inner;
    }
    shape.scale = c.has("model.scale") ? c.real("model.scale")
                                       : 1 / std::sqrt(static_cast<double>(shape.inner));
    const std::string& frozen = c.text("sim.frozen");
    const double shared = topic_penalty(c);
    dynamics = {
        .loss = attica::topic_loss(c),
        .scale = shape.scale,
        .value_penalty = c.has("model.penalty_V") ? c.real("model.penalty_V") : shared,
        .attention_penalty = c.has("model.penalty_KQ") ? c.real("model.penalty_KQ") : shared,
        .train_value = frozen != "value",
        .train_attention = frozen != "attention"};
    const bool one_hot = !embedded && shape.decoder != TopicDecoder::free && !shape.bias;
    const bool bounded = dynamics.loss == TopicLoss::squared ||
                         (dynamics.value_penalty > 0 && model.infinite() && model.subset());
    deterministic = c.text("sim.data") == "population" && !embedded &&
                    shape.decoder != TopicDecoder::free &&
                    (start == AttentionStart::identity || start == AttentionStart::split) &&
                    value_start.law != networks::InitialValues::Law::normal;
    const CommutantAlgebra algebra(model.vocabulary());
    if (one_hot && bounded) plateau = std::sqrt(algebra.squared_norm(first_stage()));
    if (frozen == "value") {
      require(width == shape.tokens,
              "model.width",
              static_cast<double>(width),
              "a frozen W_V has width topics x words + 1");
      const bool optimum = c.text("model.value") == "optimum";
      value = optimum ? first_stage() : fixed_value(c, model);
    } else if (value_start.law == networks::InitialValues::Law::identity) {
      value = scalar_commutant(value_start.scale);
    }
  }

  /// The first setting that the flow does not cover.
  static std::optional<Uncovered> uncovered(const Configuration& c) {
    const auto one_of = [&](const char* key,
                            const std::vector<std::string>& words) -> std::optional<Uncovered> {
      const std::string& value = c.text(key);
      if (std::find(words.begin(), words.end(), value) != words.end()) return {};
      return Uncovered{key, value, fmt::format("{}", fmt::join(words, " or "))};
    };
    for (const auto& found : {one_of("sim.optimiser", {"sgd", "momentum"}),
                              one_of("model.prior", {"subset"}),
                              one_of("model.initialisation", {"identity", "split"}),
                              one_of("model.value_initialisation", {"zero", "identity"}),
                              one_of("model.embedding", {"one_hot"}),
                              one_of("model.decoder", {"identity", "tied"}),
                              one_of("sim.data", {"fresh", "population"})}) {
      if (found) return found;
    }
    if (c.flag("model.bias")) return Uncovered{"model.bias", "true", "false"};
    if (!topic_settings(c).length) return {};
    return Uncovered{"model.length", "finite", "infinite"};
  }

 private:
  /// The optimum of the first stage.
  Commutant first_stage() const {
    if (dynamics.loss == TopicLoss::cross_entropy) {
      return cross_entropy_optimum(model, dynamics.value_penalty);
    }
    return value_optimum(
        CommutantAlgebra(model.vocabulary()), value_moments(model), dynamics.value_penalty);
  }
  static TopicDecoder decoder(const Configuration& c) {
    const std::string& word = c.text("model.decoder");
    return word == "tied"   ? TopicDecoder::tied
           : word == "free" ? TopicDecoder::free
                            : TopicDecoder::identity;
  }
  static networks::InitialValues value_law(const Configuration& c) {
    using Law = networks::InitialValues::Law;
    const std::string& word = c.text("model.value_initialisation");
    return {.law = word == "gaussian"   ? Law::normal
                   : word == "identity" ? Law::identity
                                        : Law::constant,
            .scale = word == "zero" ? 0 : c.real("model.value_epsilon")};
  }
};

class TwoStage : public TopicExperiment {
 public:
  explicit TwoStage(const Configuration& c)
      : setup_(c),
        algebra_(setup_.model.vocabulary()),
        threshold_(c.real("model.threshold")),
        optimiser_(optimiser_options(c)),
        source_(source_options(c, setup_.model)),
        uncovered_(Setup::uncovered(c)) {
    if (!uncovered_) {
      flow_ = flow_start(c);
      flow_.value = setup_.value;
    }
    // Time of the flow that a step of momentum covers.
    per_step_ = optimiser_.learning_rate;
    if (optimiser_.kind == networks::OptimiserKind::heavy_ball) {
      per_step_ /= 1 - optimiser_.momentum;
    }
  }

  TheoryResult theory(TheoryGrid grid) const override {
    if (uncovered_ && grid == TheoryGrid::requested) uncovered_->refuse();
    if (uncovered_) return {};
    std::vector<double> times = setup_.times;
    if (grid == TheoryGrid::run) {
      times = realised();
      constexpr int kLine = 200;
      for (int k = 0; k < kLine; ++k) times.push_back(setup_.times.back() * k / kLine);
      std::sort(times.begin(), times.end());
      times.erase(std::unique(times.begin(), times.end()), times.end());
    }
    const TopicFlow flow = topic_flow(setup_.model, setup_.dynamics, flow_, times);
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
    StageBoundary found = stage_boundary(setup_.model,
                                         setup_.dynamics,
                                         flow_,
                                         setup_.plateau,
                                         threshold_,
                                         kHorizon * setup_.times.back());
    if (setup_.plateau <= 0) found.value_time = std::numeric_limits<double>::infinity();
    return found;
  }
  bool has_boundary() const { return !uncovered_; }

 protected:
  bool deterministic(std::size_t) const override { return setup_.deterministic; }

  Outcome run(const Piece& piece, std::uint64_t replicate) const override {
    TopicSource source(setup_.model, source_, step_address(piece, replicate, 0));
    TopicNetwork network(setup_.shape);
    StreamAddress initial = step_address(piece, replicate, 0);
    initial.id = StreamId::initialisation;
    network.start_attention(setup_.start, setup_.epsilon, initial);
    network.start_embedding(initial);
    if (setup_.dynamics.train_value) {
      network.parameters().initialise("W_V", setup_.value_start, initial);
    } else {
      network.set_value(algebra_.dense(setup_.value));
    }
    TopicCurves curves(kNorms, {}, "time");
    const std::vector<double> times = realised();
    std::size_t at = 0;
    double first = 0;
    double largest = 0;
    std::vector<std::pair<double, double>> rise;  // time, largest |W_V| so far
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
      largest = std::max(largest, n.value);
      rise.emplace_back(t, largest);
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
          return source(step);
        },
        [&](std::uint64_t, const TopicNetwork& now) {
          const TopicNorms n = norms(now);
          curves.record(times[at++], {n.value, n.key, n.query});
        },
        [&] { return piece.stop.stop_requested(); });
    Outcome outcome;
    curves.append_to(outcome);
    // Where the first stage has no known end, that of the run stands for it.
    const double plateau = setup_.plateau > 0 ? setup_.plateau : largest;
    const auto reached = std::find_if(rise.begin(), rise.end(), [&](const auto& now) {
      return now.second >= kPlateauShare * plateau;
    });
    const double value_time = reached == rise.end() ? -1 : reached->first;
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
  double threshold_;
  networks::OptimiserOptions optimiser_;
  TopicSourceOptions source_;
  std::optional<Uncovered> uncovered_;
  TopicState flow_;
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
              experiment.has_boundary()
                  ? "Two stages of learning topics: first the value matrix, then keys and "
                    "queries. Lines: gradient flow in 24 numbers; points: descent on all entries, "
                    "mean and standard error over runs; dotted: t_V, where W_V has 0.9 of its "
                    "first-stage norm, and t_KQ, where (W_K, W_Q) has grown by the threshold."
                  : "Norms of the value matrix and of keys and queries in training on topic "
                    "documents, mean and standard error over runs. No theory."};
}

std::vector<AgreementRule> agreement(const Configuration& c) {
  // The step is not small against the first stage's relaxation, and gradient noise adds to squared
  // norms: both of order η; less than 2 % of the norms at the quick preset.
  constexpr double kStep = 0.03;
  // A frozen norm is the same in all runs.
  const bool all = Setup(c).deterministic;
  const std::string& frozen = c.text("sim.frozen");
  std::vector<AgreementRule> rules;
  for (const std::string& name : kNorms) {
    const bool still = frozen == (name == "norm_V" ? "value" : "attention");
    rules.push_back({.series = name, .relative = kStep, .deterministic = all || still});
  }
  return rules;
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  if (c.text("sim.frozen") != "none") return {};
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
  const Range positive{.low = 0, .low_open = true};
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
      word_parameter("model.value_initialisation",
                     "zero",
                     "start of W_V: 0, value_epsilon I, or N(0, value_epsilon^2)",
                     {"zero", "identity", "gaussian"}),
      real_parameter("model.value_epsilon", 0.1, "scale of the start of W_V", positive),
      word_parameter("model.embedding",
                     "one_hot",
                     "tokens: one-hot, or a trained W_E from N(0, 1/width)",
                     {"one_hot", "trained"}),
      word_parameter(
          "model.decoder",
          "identity",
          "outputs: those of attention, W_E' (with one-hot tokens the same), or a trained "
          "W_dec from N(0, 1/width)",
          {"identity", "tied", "free"}),
      {.key = "model.bias",
       .type = ParameterType::flag,
       .fallback = Value(false),
       .meaning = "a trained bias of the outputs"},
      {.key = "model.width",
       .type = ParameterType::integer,
       .fallback = std::nullopt,
       .meaning = "d, columns of W_V; unset: topics x words_per_topic + 1",
       .range = {.low = 1, .high = 4096}},
      {.key = "model.inner_dimension",
       .type = ParameterType::integer,
       .fallback = std::nullopt,
       .meaning = "d_a, rows of W_K and W_Q; unset: the width, twice that for a split start",
       .range = {.low = 1, .high = 4096}},
      word_parameter("sim.frozen",
                     "none",
                     "value: W_V stays at model.value; attention: W_K and W_Q stay at their start",
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
      real_parameter("sim.eta", kEta, "learning rate", positive),
      replicates_parameter(40, "independent runs")};
  constexpr double kAdamEpsilon = 1e-8;
  for (const auto& more : {fixed_value_parameters("optimum"),
                           own,
                           batch_parameters(32),
                           data_parameters(),
                           optimiser_parameters(kAdamEpsilon)}) {
    all.insert(all.end(), more.begin(), more.end());
  }
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
