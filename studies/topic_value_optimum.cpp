/// @file
/// @brief Studies topics-value-penalty and topics-value-length: the optimal value matrix under
/// uniform attention against the penalty and against the length of documents.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "attica/core/error.hpp"
#include "attica/sim/topic_sampling.hpp"
#include "attica/studies/topic_setup.hpp"
#include "attica/studies/topic_studies.hpp"
#include "attica/theory/topic_value.hpp"

namespace attica {
namespace {

using Eigen::Index;

/// The optimum of either loss.
Commutant optimum(const TopicModel& model, TopicLoss loss, double lambda) {
  if (loss == TopicLoss::cross_entropy) return cross_entropy_optimum(model, lambda);
  const CommutantAlgebra algebra(model.vocabulary());
  return value_optimum(algebra, value_moments(model), lambda);
}

// Penalty.

class Penalty : public TopicExperiment {
 public:
  explicit Penalty(const Configuration& c)
      : model_(topic_model(c)),
        algebra_(model_.vocabulary()),
        loss_(attica::topic_loss(c)),
        penalties_(c.reals("sweep.penalty")),
        eta_(c.real("sim.eta")),
        source_(source_options(c, model_)),
        steps_(static_cast<std::uint64_t>(c.integer("sim.length"))) {
    std::sort(penalties_.begin(), penalties_.end());
    if (model_.infinite() && model_.subset()) require_enumerable(model_);
    if (loss_ == TopicLoss::cross_entropy) {
      require_population(model_);
      require(penalties_.front() > 0,
              "sweep.penalty",
              penalties_.front(),
              "penalties > 0: without one the logits of the cross-entropy grow for ever");
    }
  }

  TheoryResult theory(TheoryGrid grid) const override {
    std::vector<double> grid_points = penalties_;
    if (grid == TheoryGrid::run && penalties_.front() > 0 && penalties_.size() > 1) {
      constexpr int kLine = 60;
      const double ratio = penalties_.back() / penalties_.front();
      for (int k = 1; k < kLine; ++k) {
        grid_points.push_back(penalties_.front() * std::pow(ratio, static_cast<double>(k) / kLine));
      }
      std::sort(grid_points.begin(), grid_points.end());
    }
    TopicCurves entries(value_names(), {}, "penalty");
    TopicCurves descent({"norm_V", "descent_distance"}, {}, "penalty");
    for (const double lambda : grid_points) {
      const Commutant w = optimum(model_, loss_, lambda);
      entries.record(lambda, all_values(w));
      descent.record(lambda, {std::sqrt(algebra_.squared_norm(w)), 0});
    }
    TheoryResult result;
    entries.append_to(result, kValueShare);
    descent.append_to(result);
    return result;
  }

  /// SGD at each penalty, then, where the population gradient is known, descent at each.
  std::size_t points() const override {
    return (model_.infinite() && model_.subset() ? 2 : 1) * penalties_.size();
  }
  std::vector<std::string> warnings() const override { return topic_warnings(model_, false); }

 protected:
  bool deterministic(std::size_t point) const override { return point >= penalties_.size(); }

  Outcome run(const Piece& piece, std::uint64_t replicate) const override {
    const double lambda = penalties_[piece.point % penalties_.size()];
    return deterministic(piece.point) ? descend(lambda) : average(lambda, piece, replicate);
  }

 private:
  TopicNetwork network() const {
    return TopicNetwork({.tokens = model_.vocabulary().size(), .loss = network_loss(loss_)});
  }
  TopicTraining training(double lambda, std::vector<std::uint64_t> recorded) const {
    return {.optimiser = {.kind = networks::OptimiserKind::sgd, .learning_rate = eta_},
            .recorded = std::move(recorded),
            .value_penalty = lambda};
  }

  /// Population gradient descent on all entries until they stand still.
  Outcome descend(double lambda) const {
    const TopicBatch batch = population_batch(model_);
    TopicNetwork net = network();
    const Eigen::MatrixXd goal = algebra_.dense(optimum(model_, loss_, lambda));
    constexpr std::uint64_t kSteps = 4000;
    const auto end = train_topics(
        net,
        training(lambda, {kSteps}),
        [&](std::uint64_t) -> const TopicBatch& { return batch; },
        [](std::uint64_t, const TopicNetwork&) {});
    const double distance = (net.value() - goal).norm() / goal.norm();
    Outcome outcome{.series = {{"descent_distance", {}, "penalty", {lambda}, {distance}},
                               {"norm_V", {}, "penalty", {lambda}, {net.value().norm()}}}};
    mark_end(outcome, end);
    return outcome;
  }

  /// SGD, averaged over the second half.
  Outcome average(double lambda, const Piece& piece, std::uint64_t replicate) const {
    TopicSource source(model_, source_, step_address(piece, replicate, 0));
    TopicNetwork net = network();
    std::vector<std::uint64_t> late(steps_ - steps_ / 2);
    for (std::size_t k = 0; k < late.size(); ++k) late[k] = steps_ / 2 + 1 + k;
    Commutant sum = Commutant::Zero();
    const auto end = train_topics(
        net,
        training(lambda, late),
        std::ref(source),
        [&](std::uint64_t, const TopicNetwork& now) { sum += algebra_.project(now.value()); },
        [&] { return piece.stop.stop_requested(); });
    TopicCurves curves(compared_value_names(model_), {}, "penalty");
    curves.record(lambda, compared_values(model_, sum / static_cast<double>(late.size())));
    Outcome outcome;
    curves.append_to(outcome);
    mark_end(outcome, end);
    return outcome;
  }

  TopicModel model_;
  CommutantAlgebra algebra_;
  TopicLoss loss_;
  std::vector<double> penalties_;
  double eta_;
  TopicSourceOptions source_;
  std::uint64_t steps_;
};

Panel entries_panel(const Configuration& c, Axis x, const std::string& x_name, bool priors) {
  Panel panel{
      .x = std::move(x), .y = {.label = "entry of {/:Italic W}*"}, .layers = {}, .x_name = x_name};
  const std::vector<std::pair<std::string, std::string>> entries = {
      {"d", "{/:Italic d}: same word"},
      {"s", "{/:Italic s}: same topic"},
      {"g", "{/:Italic g}: other topic"},
      {"b", "{/:Italic b}: mask"}};
  for (const auto& [key, label] : entries) {
    if (key == "s" && c.integer("model.words_per_topic") == 1) continue;
    panel.layers.push_back(
        {.series = "value_" + key, .label = priors ? label + ", {prior}" : label});
  }
  return panel;
}

Figure penalty_figure(const Configuration& c) {
  const Axis lambda{.label = "penalty {/:Italic λ}", .scale = AxisScale::log};
  Panel norm{.x = lambda,
             .y = {.label = "norm ‖{/:Italic W}*‖"},
             .layers = {{.series = "norm_V"}},
             .x_name = "penalty"};
  return {.name = "topics-value-penalty",
          .panels = {entries_panel(c, lambda, "penalty", false), norm},
          .columns = 1,
          .caption =
              "Optimal value matrix under uniform attention against the penalty: entries of each "
              "class (d = s for infinite documents), and the norm. Lines: penalised optimum; "
              "points of the entries: SGD averaged over its second half, mean and standard error "
              "over runs; points of the norm: gradient descent on the population, where that is "
              "known."};
}

std::vector<AgreementRule> penalty_agreement(const Configuration& c) {
  constexpr double kDescent = 1e-6;
  const TopicModel model = topic_model(c);
  // Infinite documents that all have all topics are all the same.
  std::vector<AgreementRule> rules =
      value_rules(model, model.infinite() && !model.has_topic_signal());
  rules.push_back(
      {.series = "descent_distance", .relative = 0, .absolute = kDescent, .deterministic = true});
  rules.push_back({.series = "norm_V", .relative = kDescent, .deterministic = true});
  return rules;
}

// Length.

class Length : public TopicExperiment {
 public:
  explicit Length(const Configuration& c)
      : lengths_(c.integers("sweep.length")),
        penalty_(topic_penalty(c)),
        tokens_(c.integer("sim.tokens")),
        documents_(c.integer("sim.documents")),
        masks_(c.integer("sim.masks")) {
    require_squared(c);
    std::sort(lengths_.begin(), lengths_.end());
    TopicSettings settings = topic_settings(c);
    for (const char* prior : {"subset", "dirichlet"}) {
      if (c.has("model.prior") && c.text("model.prior") != prior) continue;
      settings.prior = prior == std::string("subset") ? TopicPrior::subset : TopicPrior::dirichlet;
      priors_.push_back({prior, settings});
    }
    require(topic_model(c).vocabulary().topics >= 2, "topics", 1, "topics >= 2");
    for (const auto& [prior, s] : priors_) static_cast<void>(TopicModel(s));
  }

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result;
    std::vector<std::int64_t> lengths = lengths_;
    if (grid == TheoryGrid::run) {
      constexpr int kLine = 60;
      const double ratio =
          static_cast<double>(lengths_.back()) / static_cast<double>(lengths_.front());
      for (int k = 1; k < kLine; ++k) {
        lengths.push_back(std::llround(static_cast<double>(lengths_.front()) *
                                       std::pow(ratio, static_cast<double>(k) / kLine)));
      }
      std::sort(lengths.begin(), lengths.end());
      lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
    }
    for (const auto& [prior, settings] : priors_) {
      const CommutantAlgebra algebra(settings.vocabulary);
      TopicCurves curves(value_names(), {{"prior", prior}}, "length");
      for (const std::int64_t n : lengths) {
        const ValueMoments m = value_moments(at_length(settings, n));
        curves.record(static_cast<double>(n), all_values(value_optimum(algebra, m, penalty_)));
      }
      curves.append_to(result, kValueShare);
      // Of N, not at N = infinity: without a penalty these differ, as within topics both moments
      // are of order 1/N.
      constexpr std::int64_t kLong = 10000000;
      const Commutant limit =
          value_optimum(algebra, value_moments(at_length(settings, kLong)), penalty_);
      for (const auto& [entry, kind] :
           {std::pair{"d", kSameWord}, {"s", kSameTopic}, {"g", kOtherTopic}, {"b", kWordMask}}) {
        TopicCurves level({"limit"}, {{"prior", prior}, {"entry", std::string(entry)}}, "none");
        level.record(0, {limit[kind]});
        level.append_to(result);
      }
    }
    return result;
  }

  std::size_t points() const override { return priors_.size() * lengths_.size(); }

 protected:
  Outcome run(const Piece& piece, std::uint64_t replicate) const override {
    const auto& [prior, settings] = priors_[piece.point / lengths_.size()];
    const std::int64_t n = lengths_[piece.point % lengths_.size()];
    const TopicModel model = at_length(settings, n);
    const CommutantAlgebra algebra(model.vocabulary());
    RandomStream stream(step_address(piece, replicate, 0));
    const SampledMoments m =
        sample_moments(TopicSampler(model), std::max(documents_, tokens_ / n), masks_, stream);
    TopicCurves curves(compared_value_names(model), {{"prior", prior}}, "length");
    curves.record(static_cast<double>(n), compared_values(model, fit_value(algebra, m, penalty_)));
    Outcome outcome;
    curves.append_to(outcome);
    return outcome;
  }

 private:
  static TopicModel at_length(TopicSettings settings, std::int64_t n) {
    settings.length = {{n, n}};
    return TopicModel(settings);
  }

  std::vector<std::int64_t> lengths_;
  double penalty_;
  Index tokens_;     ///< of a sample: short documents say less each, and there are more of them
  Index documents_;  ///< fewest of a sample
  Index masks_;      ///< corruptions of each
  std::vector<std::pair<std::string, TopicSettings>> priors_;
};

Figure length_figure(const Configuration& c) {
  Figure figure{.name = "topics-value-length",
                .panels = {},
                .columns = 1,
                .caption =
                    "Optimal value matrix under uniform attention against the length of "
                    "documents. Lines: exact; dashed: their limit; points: least "
                    "squares on sampled documents, mean and standard error over samples."};
  for (const char* prior : {"subset", "dirichlet"}) {
    if (c.has("model.prior") && c.text("model.prior") != prior) continue;
    Panel panel = entries_panel(
        c, {.label = "length {/:Italic N}", .scale = AxisScale::log}, "length", false);
    panel.layers.push_back(
        {.series = "limit", .label = "limit of long documents", .reference = true});
    for (Layer& layer : panel.layers) layer.only = {{"prior", std::string(prior)}};
    panel.title = fmt::format("{} prior", prior);
    figure.panels.push_back(panel);
  }
  return figure;
}

/// The theory is exact for every length; least squares is biased by order 1/documents, below the
/// margin.
std::vector<AgreementRule> length_agreement(const Configuration& c) {
  std::vector<AgreementRule> rules = value_rules(topic_model(c));
  for (AgreementRule& rule : rules) {
    // Without a penalty outputs add up to 1, which makes b = 1/(Tv) for any sample.
    if (rule.series == "value_b") rule.deterministic = topic_penalty(c) == 0;
  }
  return rules;
}

}  // namespace

Study topics_value_penalty() {
  std::vector<Parameter> all = topic_parameters({.topics = 4, .words = 3});
  constexpr std::int64_t kLength = 800;
  constexpr std::int64_t kRuns = 24;
  const std::vector<Parameter> own = {
      reals_parameter("sweep.penalty",
                      {1e-5, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1},
                      "lambda of + lambda |W_V|^2",
                      kNotNegative),
      real_parameter(
          "sim.eta", 1, "learning rate of SGD and of descent", {.low = 0, .low_open = true}),
      integer_parameter("sim.length",
                        kLength,
                        "steps of SGD; averaged over the second half",
                        {.low = 2, .high = 1e9}),
      replicates_parameter(kRuns, "independent runs")};
  all.insert(all.end(), own.begin(), own.end());
  for (Parameter& p : batch_parameters(32)) all.push_back(std::move(p));
  std::vector<SeriesInfo> series = topic_series(value_names());
  series.push_back(topic_series({"norm_V"}).front());
  series.push_back({"descent_distance",
                    "|W - W*|/|W*|",
                    "of gradient descent on the population after 4000 steps"});
  return {.name = "topics-value-penalty",
          .question = "How does the penalty change the optimal value matrix?",
          .neglects = "for SGD what is left of the start after half the run; otherwise nothing",
          .parameters = std::move(all),
          .series = std::move(series),
          .presets = {{"quick", "the defaults: T = 4, v = 3, infinite documents", {}},
                      {"paper",
                       "T = 10, v = 5",
                       {{"model.topics", 10},
                        {"model.words_per_topic", 5},
                        {"sim.length", 8000},
                        {"sim.replicates", 10}}}},
          .sources = {topic_source("Theorem 2 and its penalised version")},
          .make = [](Configuration& c) -> std::unique_ptr<Experiment> {
            return std::make_unique<Penalty>(c);
          },
          .figure = penalty_figure,
          .agreement = penalty_agreement};
}

Study topics_value_length() {
  std::vector<Parameter> all =
      topic_parameters({.topics = 4, .words = 3, .penalty = 0.0}, {"length", "prior"});
  constexpr std::int64_t kTokens = 200000;
  constexpr std::int64_t kRuns = 128;
  constexpr std::int64_t kDocuments = 3000;
  const std::vector<Parameter> own = {
      {.key = "model.prior",
       .type = ParameterType::text,
       .fallback = std::nullopt,
       .meaning = "topic weights: subset or dirichlet; unset: both",
       .choices = {"subset", "dirichlet"}},
      integers_parameter("sweep.length",
                         List{10, 20, 40, 100, 200, 400, 1000},
                         "N, tokens of a document",
                         {.low = 1, .high = 1e6}),
      integer_parameter(
          "sim.tokens",
          kTokens,
          "tokens of a sample: tokens/N documents of length N, but at least sim.documents"),
      integer_parameter("sim.documents", kDocuments, "fewest documents of a sample"),
      integer_parameter("sim.masks", 4, "how often each document is corrupted"),
      replicates_parameter(kRuns, "independent runs")};
  all.insert(all.end(), own.begin(), own.end());
  std::vector<SeriesInfo> series = topic_series(value_names());
  series.push_back({"limit", "W*", "of each entry for N to infinity (theory)"});
  return {.name = "topics-value-length",
          .question = "How long must documents be for the infinite-length value matrix?",
          .neglects = "the bias of least squares on a finite sample, of order 1/documents",
          .parameters = std::move(all),
          .series = std::move(series),
          .presets = {{"quick", "the defaults: T = 4, v = 3", {}},
                      {"paper",
                       "T = v = 10",
                       {{"model.topics", 10},
                        {"model.words_per_topic", 10},
                        {"sim.tokens", 2000000},
                        {"sim.documents", 30000},
                        {"sim.replicates", 40}}}},
          .sources = {topic_source("Theorem 2; finite lengths are ours")},
          .make = [](Configuration& c) -> std::unique_ptr<Experiment> {
            return std::make_unique<Length>(c);
          },
          .figure = length_figure,
          .agreement = length_agreement};
}

}  // namespace attica
