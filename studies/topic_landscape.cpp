/// @file
/// @brief Studies topics-landscape and topics-omega: where attention minimises the loss at a fixed
/// value matrix.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "attica/core/error.hpp"
#include "attica/sim/topic_sampling.hpp"
#include "attica/studies/topic_setup.hpp"
#include "attica/studies/topic_studies.hpp"
#include "attica/theory/topic_value.hpp"

namespace attica {
namespace {

List powers_of_two(int first, int last) {
  List values;
  for (int k = first; k <= last; ++k) values.emplace_back(std::exp2(k));
  return values;
}

Parameter weights_parameter(const char* key, const char* meaning) {
  constexpr int kFirst = -2;
  constexpr int kLast = 12;
  return {.key = key,
          .type = ParameterType::real,
          .fallback = Value(powers_of_two(kFirst, kLast)),
          .meaning = meaning,
          .list = true,
          .range = {.low = 0, .low_open = true}};
}

class Landscape : public TopicExperiment {
 public:
  explicit Landscape(const Configuration& c)
      : model_(topic_model(c)),
        loss_(attica::topic_loss(c)),
        value_(fixed_value(c, model_)),
        same_word_(c.reals("sweep.same_word")),
        same_topic_(c.reals("sweep.same_topic")),
        mask_{.mask = c.real("model.mask_attention"),
              .mask_query = c.real("model.mask_attention")} {
    require_population(model_);
    std::sort(same_word_.begin(), same_word_.end());
    std::sort(same_topic_.begin(), same_topic_.end());
    block_ = model_.vocabulary().words == 1 || value_[kSameWord] == value_[kSameTopic];
  }

  TheoryResult theory(TheoryGrid) const override {
    TheoryResult result;
    for (const double a : same_word_) {
      TopicCurves row({"loss"}, {{"same_word", a}}, "same_topic");
      for (const double s : same_topic_) {
        RelativeAttention relative = mask_;
        relative.same_word = a;
        relative.same_topic = s;
        row.record(s, {reduced_loss(model_, loss_, value_, scores(relative))});
      }
      row.append_to(result);
    }
    const AttentionOptimum best = attention_optimum(model_, loss_, value_);
    TopicCurves optimum({"minimum_loss", "minimum_omega"}, {}, "none");
    optimum.record(0, {best.loss, best.omega});
    optimum.append_to(result);
    if (block_) {
      // The level line of ω through the minimum, and ω = τ and ω = T.
      line(result, "omega_minimum", best.omega);
      line(result, "omega_tau", model_.tau());
      line(result, "omega_T", model_.topics());
    } else {
      TopicCurves star({"minimum"}, {}, "same_topic");
      star.record(best.relative.same_topic, {best.relative.same_word});
      star.append_to(result);
    }
    const double uniform = reduced_loss(model_, loss_, value_, Commutant::Zero());
    result.diagnostics = {{"same_word", best.relative.same_word},
                          {"same_topic", best.relative.same_topic},
                          {"omega", best.omega},
                          {"minimum_loss", best.loss},
                          {"uniform_loss", uniform},
                          {"at_edge", best.at_edge},
                          {"bayes_floor", bayes_floor(model_)}};
    return result;
  }

  std::size_t points() const override { return 1; }

  Table diagnostics() const override { return {{"value", all_values(value_)}}; }
  std::vector<std::string> warnings() const override { return topic_warnings(model_, true); }

 protected:
  bool deterministic(std::size_t) const override { return true; }

  Outcome run(const Piece&, std::uint64_t) const override {
    const CommutantAlgebra algebra(model_.vocabulary());
    const AttentionDescent end =
        descend_attention(model_, network_loss(loss_), algebra.dense(value_));
    const double omega =
        topic_attention(model_, {.same_word = end.same_word, .same_topic = end.same_topic});
    TopicCurves curves({"minimum_loss", "minimum_omega"}, {}, "none");
    curves.record(0, {end.loss, omega});
    Outcome outcome;
    curves.append_to(outcome);
    outcome.series.push_back({"descent_end", {}, "same_topic", {end.same_topic}, {end.same_word}});
    return outcome;
  }

 private:
  /// Where (a + (v-1) s)/v = ω on the grid's range.
  void line(TheoryResult& result, const char* name, double omega) const {
    std::map<double, double> points;  // s, a
    const double total = omega * model_.words();
    const double others = model_.words() - 1;
    // On logarithmic axes the line is flat, then steep: points at even steps of s, then of a.
    for (const double s : even_steps(same_topic_)) points[s] = total - others * s;
    if (others > 0) {
      for (const double a : even_steps(same_word_)) points[(total - a) / others] = a;
    }
    TopicCurves curve({name}, {}, "same_topic");
    for (const auto& [s, a] : points) {
      const bool inside = s >= same_topic_.front() && s <= same_topic_.back() &&
                          a >= same_word_.front() && a <= same_word_.back();
      if (inside) curve.record(s, {a});
    }
    curve.append_to(result);
  }
  static std::vector<double> even_steps(const std::vector<double>& range) {
    constexpr int kPoints = 100;
    std::vector<double> steps{range.front()};
    for (int k = 1; k < kPoints; ++k) {
      steps.push_back(range.front() *
                      std::pow(range.back() / range.front(), static_cast<double>(k) / kPoints));
    }
    steps.push_back(range.back());
    return steps;
  }

  TopicModel model_;
  TopicLoss loss_;
  Commutant value_;
  std::vector<double> same_word_;
  std::vector<double> same_topic_;
  RelativeAttention mask_;
  bool block_ = false;
};

Figure landscape_figure(const Configuration& c) {
  Panel panel{.kind = PanelKind::contours,
              .x = {.label = "same topic, other word: {/:Italic s}", .scale = AxisScale::log},
              .y = {.label = "same word: {/:Italic a}", .scale = AxisScale::log},
              .layers = {{.series = "loss"}},
              .x_name = "same_topic",
              .y_coordinate = "same_word",
              .value = {.label = "loss {/:Italic L}"}};
  if (c.text("model.value") == "diagonal") {
    panel.layers.push_back({.series = "minimum", .label = "minimum"});
  } else {
    panel.layers.push_back({.series = "omega_minimum", .label = "{/:Italic ω}*"});
    panel.layers.push_back(
        {.series = "omega_tau", .label = "{/:Italic ω} = {/:Italic τ}", .reference = true});
    panel.layers.push_back(
        {.series = "omega_T", .label = "{/:Italic ω} = {/:Italic T}", .reference = true});
  }
  panel.layers.push_back({.series = "descent_end", .label = "descent", .theory = false});
  return {
      .name = "topics-landscape",
      .panels = {panel},
      .caption = fmt::format(
          "Population loss against the attention weights of the own word and of other words "
          "of its topic, words of other topics having weight 1, at a {} value matrix. Line: "
          "the minimum{}; point: end of L-BFGS by enumeration of all tokens from uniform "
          "attention.",
          c.text("model.value"),
          c.text("model.value") == "diagonal"
              ? ""
              : "; dashed: weights of the own topic ω equal to τ, the topics of a document, and "
                "to T, all topics")};
}

std::vector<AgreementRule> landscape_agreement(const Configuration&) {
  // Both find the same minimum of the same function: 1e-6 in the loss. ω, or where it is flat the
  // weights, then follows to about the square root of what is left.
  constexpr double kLoss = 1e-6;
  constexpr double kOmega = 1e-2;
  return {{.series = "minimum_loss", .relative = 0, .absolute = kLoss, .deterministic = true},
          {.series = "minimum_omega", .relative = kOmega, .deterministic = true}};
}

// Scaling of the minimum.

class Omega : public TopicExperiment {
 public:
  explicit Omega(const Configuration& c)
      : loss_(attica::topic_loss(c)),
        taus_(c.integers("sweep.topics_per_document")),
        settings_(topic_settings(c)),
        most_tokens_(c.integer("sim.most_tokens")) {
    std::sort(taus_.begin(), taus_.end());
    if (c.has("model.topics")) settings_.vocabulary.topics = c.integer("model.topics");
    fixed_topics_ = c.has("model.topics");
    kind_ = c.text("model.value");
    if (c.has("model.value_scale")) scale_ = c.real("model.value_scale");
    for (const std::int64_t tau : taus_) require_population(model(tau));
  }

  TheoryResult theory(TheoryGrid grid) const override {
    TopicCurves curves({"omega", "omega_ratio", "same_word_ratio"}, {}, "topics_per_document");
    std::vector<std::int64_t> taus = taus_;
    if (grid == TheoryGrid::run) {
      constexpr int kLine = 40;
      const double ratio = static_cast<double>(taus_.back()) / static_cast<double>(taus_.front());
      for (int k = 1; k < kLine; ++k) {
        taus.push_back(std::llround(static_cast<double>(taus_.front()) *
                                    std::pow(ratio, static_cast<double>(k) / kLine)));
      }
      std::sort(taus.begin(), taus.end());
      taus.erase(std::unique(taus.begin(), taus.end()), taus.end());
    }
    for (const std::int64_t tau : taus) {
      const TopicModel m = model(tau);
      const AttentionOptimum best = attention_optimum(m, loss_, value(m));
      curves.record(
          m.tau(),
          {best.omega, best.omega / m.tau(), best.relative.same_word / (m.tau() * m.words())});
    }
    TheoryResult result;
    curves.append_to(result);
    const TopicModel m = model(taus_.front());
    result.diagnostics = {{"limit", 1 / (1 - m.kappa())}};
    if (!scale_) {
      // c = 1/κ: both ω*/τ of a block and a*/(τ v) of a diagonal value matrix tend to it.
      TopicCurves limit({"limit"}, {}, "none");
      limit.record(0, {1 / (1 - m.kappa())});
      limit.append_to(result);
    }
    return result;
  }

  std::size_t points() const override {
    return static_cast<std::size_t>(std::count_if(taus_.begin(), taus_.end(), [&](auto tau) {
      return model(tau).vocabulary().size() <= most_tokens_;
    }));
  }

 protected:
  bool deterministic(std::size_t) const override { return true; }

  Outcome run(const Piece& piece, std::uint64_t) const override {
    std::size_t seen = 0;
    for (const std::int64_t tau : taus_) {
      const TopicModel m = model(tau);
      if (m.vocabulary().size() > most_tokens_ || seen++ != piece.point) continue;
      const AttentionDescent end = descend_attention(
          m, network_loss(loss_), CommutantAlgebra(m.vocabulary()).dense(value(m)));
      const double omega =
          topic_attention(m, {.same_word = end.same_word, .same_topic = end.same_topic});
      TopicCurves curves({"omega", "omega_ratio"}, {}, "topics_per_document");
      curves.record(m.tau(), {omega, omega / m.tau()});
      Outcome outcome;
      curves.append_to(outcome);
      return outcome;
    }
    throw std::logic_error("topics-omega: no such point");
  }

 private:
  TopicModel model(std::int64_t tau) const {
    TopicSettings s = settings_;
    s.topics_per_document = tau;
    if (!fixed_topics_) s.vocabulary.topics = std::max<std::int64_t>(tau * tau, 2);
    return TopicModel(s);
  }
  Commutant value(const TopicModel& m) const {
    const double c = scale_ ? *scale_ : 1 / m.kappa();
    return kind_ == "optimum" ? value_closed_form(m)
           : kind_ == "block" ? block_value(m, c)
                              : diagonal_value(c);
  }

  TopicLoss loss_;
  std::vector<std::int64_t> taus_;
  TopicSettings settings_;
  std::int64_t most_tokens_;
  bool fixed_topics_ = false;
  std::string kind_;
  std::optional<double> scale_;
};

Figure omega_figure(const Configuration& c) {
  const Axis tau{.label = "topics of a document {/:Italic τ}", .scale = AxisScale::log};
  Panel panel{.x = tau,
              .y = {.label = "{/:Italic ω}*/{/:Italic τ}"},
              .layers = {{.series = "omega_ratio", .label = "{/:Italic ω}*/{/:Italic τ}"}},
              .x_name = "topics_per_document"};
  if (c.text("model.value") == "diagonal") {
    panel.y.label = "weight of the own topic / {/:Italic τ}";
    panel.layers.push_back({.series = "same_word_ratio",
                            .label = "{/:Italic a}*/({/:Italic τ v})",
                            .simulation = false});
  }
  panel.layers.push_back({.series = "limit", .label = "limit", .reference = true});
  return {.name = "topics-omega",
          .panels = {panel},
          .caption =
              "Attention weight of the own topic that minimises the population loss, for "
              "T = τ² topics. Line: minimum of the loss in twelve numbers; points: L-BFGS "
              "by enumeration of all tokens; dashed: limit of many topics."};
}

std::vector<AgreementRule> omega_agreement(const Configuration&) {
  constexpr double kOmega = 1e-2;  // the loss is flat at its minimum
  return {{.series = "omega", .relative = kOmega, .deterministic = true},
          {.series = "omega_ratio", .relative = kOmega, .deterministic = true}};
}

}  // namespace

Study topics_landscape() {
  std::vector<Parameter> all =
      topic_parameters({.topics = 10, .words = 10, .topics_per_document = 2});
  for (Parameter& p : fixed_value_parameters("block")) all.push_back(std::move(p));
  all.push_back(
      real_parameter("model.mask_attention",
                     1,
                     "weight of the mask as a key of words, relative to other topics, and of "
                     "a mask query",
                     {.low = 0, .low_open = true}));
  all.push_back(weights_parameter("sweep.same_word", "a, attention weight between equal words"));
  all.push_back(weights_parameter("sweep.same_topic", "s, between other words of a topic"));
  all.push_back(replicates_parameter(8, "independent runs"));
  return {.name = "topics-landscape",
          .question = "Does attention prefer the own topic once the value matrix is learnt?",
          .neglects = "nothing: both sides minimise the same function",
          .parameters = std::move(all),
          .series = {{"loss", "L", "population loss on the grid of attention weights (theory)"},
                     {"minimum_loss", "L*", "at the best attention weights"},
                     {"minimum_omega", "omega*", "weight of the own topic there, others 1"},
                     {"minimum", "(s*, a*)", "the minimum, diagonal value matrix (theory)"},
                     {"omega_minimum", "", "line of omega through the minimum (theory)"},
                     {"omega_tau", "", "line omega = tau (theory)"},
                     {"omega_T", "", "line omega = T (theory)"},
                     {"descent_end", "(s, a)", "end of the descent"}},
          .presets = {{"quick", "the defaults: T = v = 10, tau = 2, block", {}},
                      {"diagonal",
                       "the same with a diagonal value matrix",
                       {{"model.value", "diagonal"}}},
                      {"paper",
                       "T = 100, tau = 10",
                       {{"model.topics", 100}, {"model.topics_per_document", 10}}}},
          .sources = {topic_source("Theorem 3")},
          .make = [](Configuration& c) -> std::unique_ptr<Experiment> {
            return std::make_unique<Landscape>(c);
          },
          .figure = landscape_figure,
          .agreement = landscape_agreement};
}

Study topics_omega() {
  constexpr std::int64_t kTokens = 400;
  std::vector<Parameter> all =
      topic_parameters({.words = 10}, {"topics", "topics_per_document", "concentration"});
  for (Parameter& p : fixed_value_parameters("block")) all.push_back(std::move(p));
  const std::vector<Parameter> own = {
      {.key = "model.topics",
       .type = ParameterType::integer,
       .fallback = std::nullopt,
       .meaning = "T, number of topics; unset: tau^2",
       .range = {.low = 2, .high = 1e9}},
      integers_parameter("sweep.topics_per_document",
                         List{2, 3, 4, 5, 6, 8, 10, 20, 50, 100, 300, 1000, 3000, 10000},
                         "tau",
                         {.low = 1, .high = 30000}),
      integer_parameter("sim.most_tokens",
                        kTokens,
                        "largest vocabulary whose tokens are enumerated for comparison"),
      replicates_parameter(8, "independent runs")};
  all.insert(all.end(), own.begin(), own.end());
  return {.name = "topics-omega",
          .question = "How does the best attention on the own topic grow with the topics?",
          .neglects = "nothing: both sides minimise the same function",
          .parameters = std::move(all),
          .series = {{"omega", "omega*", "best attention weight of the own topic"},
                     {"omega_ratio", "omega*/tau", "the same per topic of a document"},
                     {"same_word_ratio", "a*/(tau v)", "weight of the own word (theory)"},
                     {"limit", "1/(1-kappa)", "limit of 1 << tau << T (theory)"}},
          .presets = {{"quick", "the defaults: v = 10, T = tau^2, block", {}},
                      {"paper", "diagonal value matrix", {{"model.value", "diagonal"}}}},
          .sources = {topic_source("Theorem 3; the limits are ours")},
          .make = [](Configuration& c) -> std::unique_ptr<Experiment> {
            return std::make_unique<Omega>(c);
          },
          .figure = omega_figure,
          .agreement = omega_agreement};
}

}  // namespace attica
