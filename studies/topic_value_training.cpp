/// @file
/// @brief Studies topics-value-curves and topics-value-map: SGD on the value matrix under uniform
/// attention against the recursion of its mean. Other losses, optimisers and fixed documents have
/// no theory, only a claim.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "attica/core/error.hpp"
#include "attica/studies/topic_setup.hpp"
#include "attica/studies/topic_studies.hpp"
#include "attica/theory/topic_value.hpp"

namespace attica {
namespace {

using Eigen::Index;

class ValueTraining : public TopicExperiment {
 public:
  ValueTraining(const Configuration& c, bool map)
      : model_(topic_model(c)),
        algebra_(model_.vocabulary()),
        steps_(recorded_steps(c)),
        optimiser_(optimiser_options(c)),
        eta_(optimiser_.learning_rate),
        penalty_(topic_penalty(c)),
        loss_(attica::topic_loss(c)),
        source_(source_options(c, model_)),
        map_(map),
        uncovered_(uncovered(c)) {
    if (map_) steps_ = {steps_.back()};
  }

  /// The first setting that the recursion of the mean does not cover.
  static std::optional<Uncovered> uncovered(const Configuration& c) {
    const std::vector<Uncovered> covered = {{"model.loss", c.text("model.loss"), "squared"},
                                            {"sim.optimiser", c.text("sim.optimiser"), "sgd"}};
    for (const Uncovered& setting : covered) {
      if (setting.value != setting.covered) return setting;
    }
    if (c.text("sim.data") == "fixed") return Uncovered{"sim.data", "fixed", "fresh or population"};
    return {};
  }

  TheoryResult theory(TheoryGrid grid) const override {
    if (uncovered_ && grid == TheoryGrid::requested) uncovered_->refuse();
    if (uncovered_) return {};
    const ValueMoments moments = value_moments(model_);
    std::vector<std::string> names = value_names();
    names.push_back("loss");
    TopicCurves curves(names, {}, "step");
    Commutant w = Commutant::Zero();
    std::uint64_t next = 0;
    const std::uint64_t last = steps_.back();
    constexpr std::uint64_t kLine = 200;  // of a smooth line
    for (std::uint64_t n = 0; n <= last; ++n) {
      const bool wanted = next < steps_.size() && steps_[next] == n;
      if (wanted) ++next;
      if (wanted || (grid == TheoryGrid::run && !map_ && n % (last / kLine + 1) == 0)) {
        std::vector<double> values = all_values(w);
        values.push_back(value_loss(algebra_, moments, w));
        curves.record(static_cast<double>(n), values);
      }
      if (n < last) w = mean_value_step(algebra_, moments, w, eta_, penalty_);
    }
    TheoryResult result;
    curves.append_to(result, kValueShare);
    if (map_) {
      for (const Series& s : entries(algebra_.dense(w)))
        result.predictions.push_back({.series = s});
    }
    const Commutant optimum = value_optimum(algebra_, moments, penalty_);
    TopicCurves limit({"optimum_b", "optimum_d", "optimum_s", "optimum_g"}, {}, "none");
    limit.record(
        0, {optimum[kWordMask], optimum[kSameWord], optimum[kSameTopic], optimum[kOtherTopic]});
    limit.append_to(result);
    result.diagnostics = {{"optimum", all_values(optimum)},
                          {"optimum_loss", value_loss(algebra_, moments, optimum)}};
    return result;
  }

  std::size_t points() const override { return 1; }
  std::uint64_t replicates_per_piece(std::size_t point) const override {
    if (deterministic(point)) return TopicExperiment::replicates_per_piece(point);
    constexpr double kTokensPerPiece = 2e6;
    const double length = model_.infinite() ? static_cast<double>(source_.queries)
                                            : static_cast<double>(model_.settings().length->second);
    const double tokens =
        length * static_cast<double>(source_.batch) * static_cast<double>(steps_.back());
    return static_cast<std::uint64_t>(std::clamp(kTokensPerPiece / tokens, 1.0, 100.0));
  }

  std::vector<std::string> warnings() const override;

 protected:
  bool deterministic(std::size_t) const override { return source_.data == TopicData::population; }

  Outcome run(const Piece& piece, std::uint64_t replicate) const override {
    TopicSource source(model_, source_, step_address(piece, replicate, 0));
    TopicNetwork network({.tokens = model_.vocabulary().size(), .loss = network_loss(loss_)});
    TopicCurves curves(compared_value_names(model_), {}, "step");
    const auto end = train_topics(
        network,
        {.optimiser = optimiser_, .recorded = steps_, .value_penalty = penalty_},
        std::ref(source),
        [&](std::uint64_t step, const TopicNetwork& now) {
          curves.record(static_cast<double>(step),
                        compared_values(model_, algebra_.project(now.value())));
        },
        [&] { return piece.stop.stop_requested(); });
    Outcome outcome;
    curves.append_to(outcome);
    if (map_) {
      for (Series& s : entries(network.value())) outcome.series.push_back(std::move(s));
    }
    mark_end(outcome, end);
    return outcome;
  }

 private:
  static std::vector<Series> entries(const Eigen::MatrixXd& w) {
    std::vector<Series> rows;
    for (Index i = 0; i < w.rows(); ++i) {
      Series row{"value_entry", {{"row", static_cast<double>(i)}}, "column", {}, {}};
      for (Index j = 0; j < w.cols(); ++j) {
        row.x.push_back(static_cast<double>(j));
        row.y.push_back(w(i, j));
      }
      rows.push_back(std::move(row));
    }
    return rows;
  }

  TopicModel model_;
  CommutantAlgebra algebra_;
  std::vector<std::uint64_t> steps_;
  networks::OptimiserOptions optimiser_;
  double eta_;
  double penalty_;
  TopicLoss loss_;
  TopicSourceOptions source_;
  bool map_;
  std::optional<Uncovered> uncovered_;
};

std::vector<std::string> ValueTraining::warnings() const {
  std::vector<std::string> all = topic_warnings(model_, false);
  if (uncovered_) return all;
  const Isotypic s = algebra_.isotypic(value_moments(model_).sigma);
  const double largest = std::max({s.trivial.trace(), s.topic, s.within});
  if (eta_ * (largest + penalty_) > 1) {
    all.push_back(
        "sim.eta is above 1/(largest eigenvalue of the second moment + penalty): "
        "expect divergence");
  }
  return all;
}

std::vector<AgreementRule> agreement(const Configuration& c) {
  return value_rules(topic_model(c), c.text("sim.data") == "population");
}

/// Without a theory: words of a topic share their columns' large entries in every run.
std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  if (!ValueTraining::uncovered(c)) return {};
  const auto last = [&](const std::string& name) {
    for (const ObservedCurve& curve : observed.simulation) {
      if (curve.mean.name == name && !curve.values.empty()) return curve.values.back();
    }
    return std::vector<double>{};
  };
  const std::vector<double> own =
      last(c.integer("model.words_per_topic") > 1 ? "value_s" : "value_d");
  const std::vector<double> other = last("value_g");
  if (own.empty()) return {};
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < own.size(); ++k) least = std::min(least, own[k] - other[k]);
  return {{.name = "blocks",
           .statement = "entries between words of a topic end above those between topics, in "
                        "every run",
           .verdict = least > 0 ? Verdict::agree : Verdict::disagree,
           .detail = fmt::format("means {:.4g} and {:.4g}, smallest difference {:.4g}",
                                 summarise(own).mean,
                                 summarise(other).mean,
                                 least)}};
}

/// "SGD", or what else is run.
std::string described(const Configuration& c) {
  std::string text = c.text("sim.optimiser") == "sgd" ? "SGD" : c.text("sim.optimiser");
  if (c.text("model.loss") != "squared") text += " on the cross-entropy";
  if (c.text("sim.data") == "fixed") text += " on fixed documents";
  return text;
}

Figure curves_figure(const Configuration& c) {
  const std::vector<std::pair<std::string, std::string>> entries = {
      {"d", "{/:Italic d}: same word"},
      {"s", "{/:Italic s}: same topic"},
      {"g", "{/:Italic g}: other topic"},
      {"b", "{/:Italic b}: mask"}};
  Panel panel{.x = {.label = "step"},
              .y = {.label = "entry of {/:Italic W}_V"},
              .layers = {},
              .x_name = "step"};
  for (const auto& [key, label] : entries) {
    if (key == "s" && c.integer("model.words_per_topic") == 1) continue;
    panel.layers.push_back({.series = "value_" + key, .label = label});
  }
  if (!ValueTraining::uncovered(c)) {
    panel.layers.push_back(
        {.series = "optimum_d", .label = "limit of {/:Italic d}", .reference = true});
    panel.layers.push_back(
        {.series = "optimum_g", .label = "limit of {/:Italic g}", .reference = true});
  }
  return {
      .name = "topics-value-curves",
      .panels = {panel},
      .caption = fmt::format("Value matrix under uniform attention, trained by {} on masked topic "
                             "documents: mean entries of each class. {}Points: mean and "
                             "standard error over runs.",
                             described(c),
                             ValueTraining::uncovered(c)
                                 ? ""
                                 : "Lines: exact recursion of the mean; dashed: its limit. ")};
}

Figure map_figure(const Configuration& c) {
  const auto panel = [](bool theory, const std::string& title) {
    return Panel{.kind = PanelKind::heat_map,
                 .x = {.label = "column (token)"},
                 .y = {.label = "row (token)"},
                 .layers = {{.series = "value_entry", .theory = theory, .simulation = !theory}},
                 .x_name = "column",
                 .y_coordinate = "row",
                 .title = title,
                 .value = {.label = "entry of {/:Italic W}_V"}};
  };
  std::vector<Panel> panels = {panel(false, described(c))};
  const bool exact = !ValueTraining::uncovered(c);
  if (exact) panels.insert(panels.begin(), panel(true, "theory"));
  return {.name = "topics-value-map",
          .panels = std::move(panels),
          .columns = 1,
          .caption = fmt::format("Value matrix after training under uniform attention: {}mean over "
                                 "runs of {}. Token 0 is the mask; topics are the blocks.",
                                 exact ? "exact mean, and " : "",
                                 described(c))};
}

std::vector<Parameter> parameters(const TopicDefaults& defaults, std::int64_t batch, List steps) {
  std::vector<Parameter> all = topic_parameters(defaults);
  const std::vector<Parameter> own = {
      real_parameter("sim.eta", 1, "learning rate", {.low = 0, .low_open = true}),
      steps_parameter(std::move(steps), 1)};
  all.insert(all.end(), own.begin(), own.end());
  constexpr double kAdamEpsilon = 1e-8;
  for (const auto& more :
       {batch_parameters(batch), data_parameters(), optimiser_parameters(kAdamEpsilon)}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

std::vector<SeriesInfo> series() {
  std::vector<SeriesInfo> all = topic_series(value_names());
  all.push_back({"loss", "L", "loss of the mean weights (theory)"});
  for (const char* key : {"b", "d", "s", "g"}) {
    all.push_back({std::string("optimum_") + key, key, "its value at the optimum (theory)"});
  }
  return all;
}

}  // namespace

Study topics_value_curves() {
  std::vector<Parameter> all = parameters({.topics = 4, .words = 3, .length = 20, .penalty = 0.0},
                                          8,
                                          {1, 2, 5, 10, 20, 40, 60, 80, 100, 125, 150, 175, 200});
  constexpr std::int64_t kRuns = 2000;
  all.push_back(replicates_parameter(kRuns, "independent runs"));
  return {.name = "topics-value-curves",
          .question = "How does the value matrix learn which words share a topic?",
          .neglects = "nothing: the mean of SGD with fresh documents obeys a linear recursion",
          .parameters = std::move(all),
          .series = series(),
          .presets = {{"quick", "the defaults: T = 4, v = 3, N = 20", {}},
                      {"paper",
                       "T = v = 10, Dirichlet 0.1, N = 100..150",
                       {{"model.topics", 10},
                        {"model.words_per_topic", 10},
                        {"model.prior", "dirichlet"},
                        {"model.length", List{100, 150}},
                        {"sim.batch", 40},
                        {"sim.steps", List{1, 10, 50, 100, 200, 500, 1000, 2000, 5000}},
                        {"sim.replicates", 40}}}},
          .sources = {topic_source("model, Theorem 2; the recursion is ours")},
          .make = [](Configuration& c) -> std::unique_ptr<Experiment> {
            return std::make_unique<ValueTraining>(c, false);
          },
          .figure = curves_figure,
          .agreement = agreement,
          .claims = claims};
}

Study topics_value_map() {
  std::vector<Parameter> all =
      parameters({.topics = 5, .words = 4, .length = 60, .penalty = 0.0}, 32, {400});
  constexpr std::int64_t kRuns = 80;
  all.push_back(replicates_parameter(kRuns, "independent runs"));
  std::vector<SeriesInfo> infos = series();
  infos.push_back(topic_series({"value_entry"}).front());
  return {.name = "topics-value-map",
          .question = "What does the value matrix look like after training?",
          .neglects = "nothing: the mean of SGD with fresh documents obeys a linear recursion",
          .parameters = std::move(all),
          .series = std::move(infos),
          .presets = {{"quick", "the defaults: T = 5, v = 4, N = 60", {}},
                      {"paper",
                       "T = v = 10, Dirichlet 0.1, N = 100..150",
                       {{"model.topics", 10},
                        {"model.words_per_topic", 10},
                        {"model.prior", "dirichlet"},
                        {"model.length", List{100, 150}},
                        {"sim.batch", 40},
                        {"sim.steps", List{5000}},
                        {"sim.replicates", 40}}},
                      {"adam",
                       "the same by Adam on 10000 fixed documents; no theory, a claim only",
                       {{"model.topics", 10},
                        {"model.words_per_topic", 10},
                        {"model.prior", "dirichlet"},
                        {"model.length", List{100, 150}},
                        {"sim.optimiser", "adam"},
                        {"sim.eta", 0.01},
                        {"sim.data", "fixed"},
                        {"sim.batch", 40},
                        {"sim.steps", List{5000}},
                        {"sim.replicates", 4}}}},
          .sources = {topic_source("Theorem 2, figure of the value matrix")},
          .make = [](Configuration& c) -> std::unique_ptr<Experiment> {
            return std::make_unique<ValueTraining>(c, true);
          },
          .figure = map_figure,
          .agreement = agreement,
          .claims = claims};
}

}  // namespace attica
