/// @file
/// @brief Studies topics-attention and topics-finite-length: attention averaged over classes of
/// word pairs while it is learnt, and what the length of documents does to the loss.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "attica/core/error.hpp"
#include "attica/sim/topic_sampling.hpp"
#include "attica/solvers/exponents.hpp"
#include "attica/studies/topic_setup.hpp"
#include "attica/studies/topic_studies.hpp"

namespace attica {
namespace {

using Eigen::Index;

const std::vector<std::string> kAverages = {
    "attention_same_word", "attention_same_topic", "attention_other_topic", "omega"};

/// A row of the table of settings.
struct Setting {
  std::string loss;
  std::string optimiser;
  std::string value;

  Point point() const { return {{"loss", loss}, {"optimiser", optimiser}, {"value", value}}; }
};

class Attention : public TopicExperiment {
 public:
  explicit Attention(const Configuration& c)
      : model_(topic_model(c)),
        algebra_(model_.vocabulary()),
        times_(c.reals("sim.times")),
        epsilon_(c.real("model.epsilon")),
        penalty_(topic_penalty(c)),
        scale_(attention_scale(c, model_)),
        start_(attention_start(c)),
        flow_(flow_start(c)),
        eta_(c.real("sim.eta")),
        adam_eta_(c.real("sim.adam_eta")),
        source_(source_options(c, model_)) {
    require_enumerable(model_);
    std::sort(times_.begin(), times_.end());
    times_.erase(std::unique(times_.begin(), times_.end()), times_.end());
    const AverageAttention uniform = average_attention(model_, {});
    const std::vector<double> averages = {
        uniform.same_word, uniform.same_topic, uniform.other_topic, 1};
    for (std::size_t k = 0; k < averages.size(); ++k) {
      if (!std::isnan(averages[k])) kept_.push_back(k);
    }
    const auto kept = [&](const char* key, const std::string& word) {
      return !c.has(key) || c.text(key) == word;
    };
    for (const std::string loss : {"squared", "cross_entropy"}) {
      for (const std::string optimiser : {"sgd", "adam"}) {
        for (const std::string value : {"block", "diagonal", "trained"}) {
          if (kept("model.loss", loss) && kept("sim.optimiser", optimiser) &&
              kept("model.value", value)) {
            settings_.push_back({loss, optimiser, value});
          }
        }
      }
    }
  }

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result;
    for (const Setting& s : settings_) {
      if (s.optimiser != "sgd") continue;
      std::vector<double> times = times_;
      if (grid == TheoryGrid::run) {
        times = realised();
        constexpr int kLine = 120;
        for (int k = 0; k < kLine; ++k) times.push_back(times_.back() * k / kLine);
        std::sort(times.begin(), times.end());
        times.erase(std::unique(times.begin(), times.end()), times.end());
      }
      TopicState start = flow_;
      start.value = start_value(s);
      const TopicFlow flow = topic_flow(model_, dynamics(s), start, times);
      if (flow.status != OdeStatus::finished) {
        throw Error(ErrorKind::numerical, "attention flow: " + to_string(flow.status));
      }
      TopicCurves curves(of_kept(kAverages), s.point(), "time");
      for (std::size_t k = 0; k < flow.times.size(); ++k) {
        const RelativeAttention r = relative_attention(scale_ * flow.states[k].m);
        const AverageAttention a = average_attention(model_, r);
        curves.record(flow.times[k],
                      of_kept<double>(
                          {a.same_word, a.same_topic, a.other_topic, topic_attention(model_, r)}));
      }
      curves.append_to(result);
    }
    return result;
  }

  std::size_t points() const override { return settings_.size(); }
  std::vector<std::string> warnings() const override { return topic_warnings(model_, true); }

 protected:
  Outcome run(const Piece& piece, std::uint64_t replicate) const override {
    const Setting& s = settings_[piece.point];
    TopicSource source(model_, source_, step_address(piece, replicate, 0));
    const Index tokens = model_.vocabulary().size();
    const TopicDynamics d = dynamics(s);
    TopicNetwork network({.tokens = tokens,
                          .inner = inner_dimension(start_, tokens),
                          .scale = scale_,
                          .loss = network_loss(d.loss)});
    network.start_attention(start_, epsilon_, {});
    network.set_value(algebra_.dense(start_value(s)));
    const Eigen::MatrixXd shares = population_batch(model_).shares;
    TopicCurves curves(of_kept(kAverages), s.point(), "time");
    const bool adam = s.optimiser == "adam";
    const std::vector<double> times = realised();
    std::size_t at = 0;
    const auto end = train_topics(
        network,
        {.optimiser = {.kind = adam ? networks::OptimiserKind::adam : networks::OptimiserKind::sgd,
                       .learning_rate = adam ? adam_eta_ : eta_},
         .recorded = steps(),
         .value_penalty = penalty_,
         .attention_penalty = penalty_,
         .train_value = d.train_value},
        std::ref(source),
        [&](std::uint64_t, const TopicNetwork& now) {
          const Eigen::MatrixXd scores = now.scores();
          const Eigen::Vector3d a = measured_attention(model_.vocabulary(), scores, shares);
          const double omega =
              topic_attention(model_, relative_attention(algebra_.project(scores)));
          curves.record(times[at++], of_kept<double>({a[0], a[1], a[2], omega}));
        },
        [&] { return piece.stop.stop_requested(); });
    Outcome outcome;
    curves.append_to(outcome);
    mark_end(outcome, end);
    return outcome;
  }

 private:
  /// The averages over classes that have pairs, and ω.
  template <class T>
  std::vector<T> of_kept(const std::vector<T>& all) const {
    std::vector<T> some;
    for (const std::size_t k : kept_) some.push_back(all[k]);
    return some;
  }
  TopicDynamics dynamics(const Setting& s) const {
    return {.loss = s.loss == "squared" ? TopicLoss::squared : TopicLoss::cross_entropy,
            .scale = scale_,
            .value_penalty = penalty_,
            .attention_penalty = penalty_,
            .train_value = s.value == "trained"};
  }
  Commutant start_value(const Setting& s) const {
    const double c = 1 / model_.kappa();
    if (s.value == "block") return block_value(model_, c);
    return s.value == "diagonal" ? diagonal_value(c) : Commutant(Commutant::Zero());
  }
  std::vector<std::uint64_t> steps() const {
    std::vector<std::uint64_t> all;
    for (const double t : times_) {
      const auto step = static_cast<std::uint64_t>(std::llround(t / eta_));
      if (all.empty() || step > all.back()) all.push_back(step);
    }
    return all;
  }
  std::vector<double> realised() const {
    std::vector<double> all;
    for (const std::uint64_t n : steps()) all.push_back(static_cast<double>(n) * eta_);
    return all;
  }

  TopicModel model_;
  CommutantAlgebra algebra_;
  std::vector<double> times_;
  double epsilon_;
  double penalty_;
  double scale_;
  AttentionStart start_;
  TopicState flow_;
  double eta_;
  double adam_eta_;
  TopicSourceOptions source_;
  std::vector<Setting> settings_;
  std::vector<std::size_t> kept_;  ///< of kAverages: classes that are not empty
};

Figure attention_figure(const Configuration& c) {
  Figure figure{
      .name = "topics-attention",
      .panels = {},
      .columns = 1,
      .caption =
          "Attention averaged over pairs of word positions, uniform attention = 1, while "
          "keys and queries are learnt by SGD on the squared loss. Lines: gradient flow in "
          "24 numbers; points: SGD on all entries, mean and standard error over runs."};
  for (const char* value : {"block", "trained"}) {
    if (c.has("model.value") && c.text("model.value") != value) continue;
    const Point only = {{"loss", std::string("squared")},
                        {"optimiser", std::string("sgd")},
                        {"value", std::string(value)}};
    figure.panels.push_back(
        {.x = {.label = "time {/:Italic t} = {/:Italic η} × steps"},
         .y = {.label = "{/:Italic N} × attention"},
         .layers = {{.series = "attention_same_word", .label = "same word", .only = only},
                    {.series = "attention_same_topic", .label = "same topic", .only = only},
                    {.series = "attention_other_topic", .label = "other topic", .only = only}},
         .x_name = "time",
         .title = value == std::string("block") ? "{/:Italic W}_V frozen at blocks"
                                                : "{/:Italic W}_V trained"});
  }
  return figure;
}

std::vector<AgreementRule> attention_agreement(const Configuration&) {
  // Steps that are not small act on attention through its logarithm, the scores, which reach 2 and
  // more: up to 4 % of attention at a learning rate of 1, 2 % at 0.5, 1 % at 0.25.
  constexpr double kRelative = 0.05;
  std::vector<AgreementRule> rules;
  for (const std::string& name : kAverages) {
    if (name != "omega") rules.push_back({.series = name, .relative = kRelative});
  }
  return rules;
}

std::vector<ClaimResult> attention_claims(const Configuration&, const Observed& observed) {
  std::vector<ClaimResult> claims;
  for (const ObservedCurve& curve : observed.simulation) {
    if (curve.mean.name != "omega" || curve.values.empty()) continue;
    const std::vector<double>& last = curve.values.back();
    const double least = *std::min_element(last.begin(), last.end());
    claims.push_back(
        {.name = "own-topic: " + describe(curve.mean.point),
         .statement = "the own topic's mean attention weight ends above that of other "
                      "topics, omega > 1, in every run",
         .verdict = least > 1 ? Verdict::agree : Verdict::disagree,
         .detail = fmt::format("mean {:.4g}, smallest {:.4g}", curve.mean.y.back(), least)});
  }
  return claims;
}

// Finite length.

class FiniteLength : public TopicExperiment {
 public:
  explicit FiniteLength(const Configuration& c)
      : model_(topic_model(c)),
        algebra_(model_.vocabulary()),
        loss_(attica::topic_loss(c)),
        value_(fixed_value(c, model_)),
        lengths_(c.integers("sweep.length")),
        documents_(c.integer("sim.documents")) {
    require_population(model_);
    std::sort(lengths_.begin(), lengths_.end());
    relative_ = {.same_word = c.real("model.same_word"), .same_topic = c.real("model.same_topic")};
  }

  TheoryResult theory(TheoryGrid grid) const override {
    TopicCurves curves({"loss", "loss_own_position", "gap_own_position"}, {}, "length");
    std::vector<double> lengths(lengths_.begin(), lengths_.end());
    if (grid == TheoryGrid::run) {
      constexpr int kLine = 60;
      const double ratio = lengths.back() / lengths.front();
      for (int k = 1; k < kLine; ++k) {
        lengths.push_back(lengths.front() * std::pow(ratio, static_cast<double>(k) / kLine));
      }
      std::sort(lengths.begin(), lengths.end());
    }
    const Commutant m = scores(relative_);
    const double limit = reduced_loss(model_, loss_, value_, m);
    for (const double length : lengths) {
      const double own = reduced_loss(model_, loss_, value_, m, nullptr, 1 / length);
      curves.record(length, {limit, own, std::abs(own - limit)});
    }
    TheoryResult result;
    curves.append_to(result);
    // The limit itself is not expected to hold at finite length: claims look at the gap.
    result.predictions.front().compared.assign(lengths.size(), false);
    result.diagnostics = {{"infinite_loss", limit}};
    return result;
  }

  std::size_t points() const override { return lengths_.size(); }

 protected:
  Outcome run(const Piece& piece, std::uint64_t replicate) const override {
    TopicSettings settings = model_.settings();
    const std::int64_t n = lengths_[piece.point];
    settings.length = {{n, n}};
    const TopicSampler sampler{TopicModel(settings)};
    RandomStream stream(step_address(piece, replicate, 0));
    const Commutant m = scores(relative_);
    const double gap = sample_length_gap(sampler,
                                         network_loss(loss_),
                                         algebra_.dense(value_),
                                         algebra_.dense(m),
                                         documents_,
                                         stream);
    const double limit = reduced_loss(model_, loss_, value_, m);
    TopicCurves curves({"loss", "gap"}, {}, "length");
    curves.record(static_cast<double>(n), {limit + gap, gap});
    Outcome outcome;
    curves.append_to(outcome);
    return outcome;
  }

 private:
  TopicModel model_;
  CommutantAlgebra algebra_;
  TopicLoss loss_;
  Commutant value_;
  std::vector<std::int64_t> lengths_;
  Index documents_;
  RelativeAttention relative_;
};

Figure finite_figure(const Configuration&) {
  const Axis n{.label = "length {/:Italic N}", .scale = AxisScale::log};
  return {.name = "topics-finite-length",
          .panels = {{.x = n,
                      .y = {.label = "loss {/:Italic L}"},
                      .layers = {{.series = "loss", .label = "finite documents", .theory = false},
                                 {.series = "loss",
                                  .label = "infinite documents",
                                  .simulation = false,
                                  .reference = true},
                                 {.series = "loss_own_position",
                                  .label = "own position counted",
                                  .reference = true}},
                      .x_name = "length"},
                     {.x = n,
                      .y = {.label = "|{/:Italic L}_N − {/:Italic L}_∞|", .scale = AxisScale::log},
                      .layers = {{.series = "gap", .label = "finite documents"},
                                 {.series = "gap_own_position",
                                  .label = "own position counted",
                                  .reference = true}},
                      .x_name = "length"}},
          .columns = 1,
          .caption =
              "Loss of finite documents at fixed weights: sampled documents, mean and standard "
              "error over samples. Dashed: infinite documents, and the same with the query's own "
              "position counted."};
}

std::vector<ClaimResult> finite_claims(const Configuration&, const Observed& observed) {
  constexpr double kLow = -1.35;
  constexpr double kHigh = -0.75;
  constexpr double kFrom = 50;  // below, the next order 1/N² shows
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> error;  // of ln |gap|
  for (const ObservedCurve& curve : observed.simulation) {
    if (curve.mean.name != "gap") continue;
    for (std::size_t k = 0; k < curve.mean.x.size(); ++k) {
      const SampleSummary gap = summarise(curve.values[k]);
      if (curve.mean.x[k] < kFrom || gap.mean == 0) continue;
      x.push_back(curve.mean.x[k]);
      y.push_back(std::abs(gap.mean));
      error.push_back(gap.sem / y.back());
    }
  }
  ClaimResult claim{.name = "gap-slope",
                    .statement = fmt::format(
                        "for N >= 50 the loss approaches that of infinite documents like N^p, "
                        "{} <= p <= {}",
                        kLow,
                        kHigh),
                    .detail = {}};
  if (x.size() < 2) {
    claim.detail = "fewer than two lengths of at least 50";
    return {claim};
  }
  // Lengths have samples of their own, so that their errors add up in squares; two standard errors
  // must lie inside the claimed range, or outside.
  const double slope = log_log_line(x, y).slope;
  double centre = 0;
  for (const double n : x) centre += std::log(n) / static_cast<double>(x.size());
  double squares = 0;
  double variance = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double lever = std::log(x[k]) - centre;
    squares += lever * lever;
    variance += lever * lever * error[k] * error[k];
  }
  const double reach = 2 * std::sqrt(variance) / squares;
  if (slope - reach >= kLow && slope + reach <= kHigh) claim.verdict = Verdict::agree;
  if (slope + reach < kLow || slope - reach > kHigh) claim.verdict = Verdict::disagree;
  claim.detail = fmt::format("p = {:.3f} +- {:.3f}, two standard errors", slope, reach);
  return {claim};
}

Parameter optional_choice(const char* key, const char* meaning, std::vector<std::string> choices) {
  return {.key = key,
          .type = ParameterType::text,
          .fallback = std::nullopt,
          .meaning = meaning,
          .choices = std::move(choices)};
}

}  // namespace

Study topics_attention() {
  constexpr double kKeep = 0.3;
  constexpr double kStart = 0.5;
  constexpr double kEta = 0.5;
  constexpr double kAdamEta = 2e-3;
  std::vector<Parameter> all = topic_parameters({.topics = 4,
                                                 .words = 2,
                                                 .keep_rate = kKeep,
                                                 .penalty = 0.0,
                                                 .initialisation = "identity",
                                                 .scale = 1.0 / 3,
                                                 .epsilon = kStart},
                                                {"loss"});
  const std::vector<Parameter> own = {
      optional_choice("model.loss", "loss; unset: both", {"squared", "cross_entropy"}),
      optional_choice("model.value",
                      "W_V: frozen at blocks 1/(kappa v), frozen at I/kappa, or trained from 0; "
                      "unset: all three",
                      {"block", "diagonal", "trained"}),
      optional_choice("sim.optimiser", "update rule; unset: both", {"sgd", "adam"}),
      topic_times({50.0, 100.0, 200.0, 300.0, 500.0, 750.0, 1000.0}),
      real_parameter("sim.eta", kEta, "learning rate of SGD", {.low = 0, .low_open = true}),
      real_parameter("sim.adam_eta",
                     kAdamEta,
                     "learning rate of Adam, whose steps are counted as those of SGD",
                     {.low = 0, .low_open = true}),
      replicates_parameter(40, "independent runs")};
  all.insert(all.end(), own.begin(), own.end());
  for (Parameter& p : batch_parameters(32)) all.push_back(std::move(p));
  return {.name = "topics-attention",
          .question = "Does learnt attention prefer words of the same topic?",
          .neglects = "the learning rate and the noise of SGD; Adam has claims only",
          .parameters = std::move(all),
          .series = topic_series(kAverages),
          .presets = {{"quick", "the defaults: T = 4, v = 2", {}},
                      {"paper",
                       "T = 6, v = 5",
                       {{"model.topics", 6},
                        {"model.words_per_topic", 5},
                        {"sim.times", List{200.0, 500.0, 1000.0, 2000.0, 5000.0}},
                        {"sim.replicates", 40}}}},
          .sources = {topic_source("average attention of trained networks, table and figure")},
          .make = [](Configuration& c) -> std::unique_ptr<Experiment> {
            return std::make_unique<Attention>(c);
          },
          .figure = attention_figure,
          .agreement = attention_agreement,
          .claims = attention_claims};
}

Study topics_finite_length() {
  constexpr std::int64_t kDocuments = 6000;
  constexpr double kSameWord = 4;
  std::vector<Parameter> all =
      topic_parameters({.topics = 5, .words = 4, .topics_per_document = 2}, {"length"});
  for (Parameter& p : fixed_value_parameters("diagonal")) all.push_back(std::move(p));
  const Range positive{.low = 0, .low_open = true};
  const std::vector<Parameter> own = {
      real_parameter(
          "model.same_word", kSameWord, "a, attention weight between equal words", positive),
      real_parameter("model.same_topic", 2, "s, between other words of a topic", positive),
      integers_parameter("sweep.length",
                         List{20, 50, 100, 200, 400, 800},
                         "N, tokens of a document",
                         {.low = 1, .high = 1e6}),
      integer_parameter("sim.documents", kDocuments, "documents of a sample"),
      replicates_parameter(8, "independent runs")};
  all.insert(all.end(), own.begin(), own.end());
  return {
      .name = "topics-finite-length",
      .question = "How fast does the loss of finite documents approach the infinite one?",
      .neglects = "everything of order 1/N: the claim is that nothing else is missing",
      .parameters = std::move(all),
      .series = {{"loss", "L", "mean loss at fixed weights"},
                 {"loss_own_position", "L", "with the query's own position counted (theory)"},
                 {"gap", "L_N - L_inf", "difference from infinite documents"},
                 {"gap_own_position", "", "that of the own position alone (theory)"}},
      .presets = {{"quick", "the defaults: T = 5, v = 4, diagonal W_V", {}},
                  {"paper",
                   "T = v = 10",
                   {{"model.topics", 10}, {"model.words_per_topic", 10}, {"sim.replicates", 20}}}},
      .sources = {topic_source("population loss; finite lengths are ours")},
      .make = [](Configuration& c) -> std::unique_ptr<Experiment> {
        return std::make_unique<FiniteLength>(c);
      },
      .figure = finite_figure,
      .agreement = [](const Configuration&) { return std::vector<AgreementRule>{}; },
      .claims = finite_claims};
}

}  // namespace attica
