#include "attica/studies/topics/model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "attica/theory/topics/dynamics.hpp"
#include "attica/theory/topics/loss.hpp"
#include "attica/theory/topics/value.hpp"

namespace attica {
namespace {

constexpr double kMost = 1e9;
constexpr Range kShare{.low = 0, .high = 1};

const Choices<TopicPrior> kPriors = {{"subset", TopicPrior::subset},
                                     {"dirichlet", TopicPrior::dirichlet}};
const Choices<TopicLoss> kLosses = {{"squared", TopicLoss::squared},
                                    {"cross_entropy", TopicLoss::cross_entropy}};
const Choices<AttentionStart> kStarts = {{"identity", AttentionStart::identity},
                                         {"split", AttentionStart::split},
                                         {"gaussian", AttentionStart::gaussian},
                                         {"uniform", AttentionStart::uniform}};
enum class FixedValue { optimum, block, diagonal };
const Choices<FixedValue> kFixedValues = {{"optimum", FixedValue::optimum},
                                          {"block", FixedValue::block},
                                          {"diagonal", FixedValue::diagonal}};
const Choices<networks::OptimiserKind> kOptimisers = {
    {"sgd", networks::OptimiserKind::sgd},
    {"momentum", networks::OptimiserKind::heavy_ball},
    {"adam", networks::OptimiserKind::adam},
    {"adamw", networks::OptimiserKind::adam}};
const Choices<TopicData> kSources = {{"fresh", TopicData::fresh},
                                     {"fixed", TopicData::fixed},
                                     {"population", TopicData::population}};

/// Whether the study has the parameter and it has a value.
bool has(const Configuration& c, std::string_view key) { return c.declares(key) && c.has(key); }

}  // namespace

TopicSettings topic_settings(const Configuration& c) {
  TopicSettings s;
  if (has(c, "model.topics")) s.vocabulary.topics = c.integer("model.topics");
  s.vocabulary.words = c.integer("model.words_per_topic");
  if (has(c, "model.topics_per_document")) {
    s.topics_per_document = c.integer("model.topics_per_document");
  }
  if (has(c, "model.prior")) s.prior = kPriors.of(c, "model.prior");
  if (has(c, "model.concentration")) s.concentration = c.real("model.concentration");
  if (has(c, "model.length")) {
    const List& length = std::get<List>(c.at("model.length"));
    constexpr std::size_t kEnds = 2;
    const bool word = std::holds_alternative<std::string>(length.front());
    const bool numbers = std::all_of(length.begin(), length.end(), [](const Value& v) {
      return std::holds_alternative<std::int64_t>(v);
    });
    if (length.size() > kEnds || (!numbers && !(word && length.size() == 1))) {
      throw invalid_parameter("model.length",
                              fmt::format("a list of {}", length.size()),
                              "an integer, [lo, hi] or \"infinite\"");
    }
    if (!word) {
      s.length = {{std::get<std::int64_t>(length.front()), std::get<std::int64_t>(length.back())}};
    }
  }
  s.mask_rate = c.real("model.mask_rate");
  if (has(c, "model.keep_rate")) s.keep_rate = c.real("model.keep_rate");
  s.random_rate = c.real("model.random_rate");
  return s;
}

TopicModel topic_model(const Configuration& c) {
  TopicModel model(topic_settings(c));
  require(model.vocabulary().topics >= 2,
          "topics",
          model.topics(),
          "topics >= 2: there are no words of other topics to compare with");
  return model;
}

TopicModel at_length(TopicSettings settings, std::int64_t tokens) {
  settings.length = {{tokens, tokens}};
  return TopicModel(settings);
}

std::vector<std::string> topic_warnings(const TopicModel& model, bool second_stage) {
  std::vector<std::string> warnings;
  if (!model.has_topic_signal()) {
    warnings.emplace_back(
        "topics_per_document = topics: every document has all topics, so that nothing sets them "
        "apart");
  }
  if (second_stage &&
      (model.keep_rate() <= 0 || (model.subset() && model.settings().topics_per_document == 1))) {
    warnings.emplace_back(
        "keep_rate = 0 or topics_per_document = 1: W_K and W_Q have no linear instability, the "
        "second stage never starts");
  }
  return warnings;
}

TopicLoss loss_named(std::string_view word) { return kLosses(word); }

TopicLoss topic_loss(const Configuration& c) { return kLosses.of(c, "model.loss"); }

networks::Loss network_loss(TopicLoss loss) {
  return loss == TopicLoss::squared ? networks::Loss::squared : networks::Loss::cross_entropy;
}

void require_squared(const Configuration& c) {
  if (topic_loss(c) != TopicLoss::squared) {
    throw invalid_parameter(
        "model.loss", "cross_entropy", "\"squared\": this study has no theory of another loss");
  }
}

double topic_penalty(const Configuration& c) {
  return has(c, "model.lambda") ? c.real("model.lambda") : 0;
}

AttentionStart attention_start(const Configuration& c) {
  return kStarts.of(c, "model.initialisation");
}

TopicState flow_start(const Configuration& c) {
  const double epsilon = c.real("model.epsilon");
  switch (attention_start(c)) {
    case AttentionStart::identity:
      return identity_start(epsilon);
    case AttentionStart::split:
      return split_start(epsilon);
    default:
      throw invalid_parameter("model.initialisation",
                              c.text("model.initialisation"),
                              "\"identity\" or \"split\" for the flow's theory");
  }
}

double attention_scale(const Configuration& c, const TopicModel& model) {
  if (c.has("model.scale")) return c.real("model.scale");
  return 1 / std::sqrt(static_cast<double>(
                 inner_dimension(attention_start(c), model.vocabulary().size())));
}

std::function<Commutant(const TopicModel&)> fixed_value(const Configuration& c) {
  const FixedValue kind = kFixedValues.of(c, "model.value");
  std::optional<double> given;
  if (c.has("model.value_scale")) given = c.real("model.value_scale");
  return [kind, given](const TopicModel& model) -> Commutant {
    if (kind == FixedValue::optimum) return value_closed_form(model);
    const double scale = given ? *given : 1 / model.kappa();
    return kind == FixedValue::block ? block_value(model, scale) : diagonal_value(scale);
  };
}

networks::OptimiserOptions optimiser_options(const Configuration& c) {
  return {.kind = kOptimisers.of(c, "sim.optimiser"),
          .learning_rate = c.real("sim.eta"),
          .momentum = c.real("sim.momentum"),
          .beta1 = c.real("sim.beta1"),
          .beta2 = c.real("sim.beta2"),
          .epsilon = c.real("sim.adam_epsilon"),
          .decoupled_decay = c.text("sim.optimiser") == "adamw"};
}

TopicSourceOptions source_options(const Configuration& c, const TopicModel& model) {
  TopicSourceOptions options{.batch = c.integer("sim.batch"), .queries = c.integer("sim.queries")};
  if (!c.declares("sim.data")) return options;
  options.documents = c.integer("sim.documents");
  options.data = kSources.of(c, "sim.data");
  if (options.data == TopicData::population) require_enumerable(model);
  return options;
}

std::vector<double> line_from(double low, std::vector<double> values, int n, TheoryGrid grid) {
  values = ascending(std::move(values));
  const double high = values.back();
  for (int k = 0; grid == TheoryGrid::run && k < n; ++k) {
    values.push_back(low + (high - low) * k / n);
  }
  return ascending(std::move(values));
}

RecordedTimes recorded_times(const Configuration& c, double per_step) {
  const std::vector<double> times = ascending(c.reals("sim.times"));
  const double length = times.back() / per_step;
  require(length >= 0.5 || times.back() == 0,
          "sim.eta",
          c.real("sim.eta"),
          fmt::format("steps that are no longer than the last of sim.times, {}", times.back()));
  require(length <= kMost, "sim.times", times.back(), "at most 1e9 steps of sim.eta");
  return RecordedTimes(times, per_step);
}

std::vector<double> line_of(const RecordedTimes& times, int n, TheoryGrid grid) {
  return grid == TheoryGrid::requested ? times.asked() : line_from(0, times.realised(), n, grid);
}

double small_step(const AttentionOnset& onset, double largest) {
  constexpr double kGrowthPerStep = 0.01;
  return std::min(largest, kGrowthPerStep / onset.growth_rate);
}

Outcome recorded_run(const std::vector<Curves>& curves, const networks::TrainingResult& end) {
  Outcome outcome;
  for (const Curves& curve : curves) {
    if (!curve.empty()) curve.into(outcome);
  }
  mark_end(outcome, end);
  return outcome;
}

std::vector<std::string> value_names() {
  return {"value_00", "value_0w", "value_b", "value_d", "value_s", "value_g"};
}

std::vector<std::string> compared_value_names(const TopicModel& model) {
  std::vector<std::string> names = {"value_d", "value_g"};
  if (model.masked_share() > 0) names.emplace_back("value_b");
  if (model.vocabulary().words > 1) names.emplace_back("value_s");
  return names;
}

std::vector<double> all_values(const Commutant& w) { return {w.data(), w.data() + w.size()}; }

std::vector<double> compared_values(const TopicModel& model, const Commutant& w) {
  std::vector<double> values = {w[kSameWord], w[kOtherTopic]};
  if (model.masked_share() > 0) values.push_back(w[kWordMask]);
  if (model.vocabulary().words > 1) values.push_back(w[kSameTopic]);
  return values;
}

std::vector<AgreementRule> value_rules(const TopicModel& model,
                                       const ValueMargins& relative,
                                       bool deterministic) {
  const std::map<std::string, double> margins = {{"value_d", relative.d},
                                                 {"value_g", relative.g},
                                                 {"value_b", relative.b},
                                                 {"value_s", relative.s}};
  std::vector<AgreementRule> all;
  for (const std::string& name : compared_value_names(model)) {
    all.push_back({.series = name, .relative = margins.at(name), .deterministic = deterministic});
  }
  return all;
}

std::vector<Layer> value_layers(const Configuration& c) {
  std::vector<Layer> layers = {{.series = "value_d", .label = "{/:Italic d}: same word"},
                               {.series = "value_s", .label = "{/:Italic s}: same topic"},
                               {.series = "value_g", .label = "{/:Italic g}: other topic"},
                               {.series = "value_b", .label = "{/:Italic b}: mask"}};
  if (c.integer("model.words_per_topic") == 1) layers.erase(layers.begin() + 1);
  return layers;
}

std::vector<std::string> norm_names() { return {"norm_V", "norm_K", "norm_Q"}; }

std::vector<Layer> norm_layers() {
  return {{.series = "norm_V", .label = "{/:Italic W}_V"},
          {.series = "norm_K", .label = "{/:Italic W}_K"},
          {.series = "norm_Q", .label = "{/:Italic W}_Q"}};
}

Panel gram_panel(const std::string& title) {
  return {.kind = PanelKind::heat_map,
          .x = {.label = "token"},
          .y = {.label = "token"},
          .layers = {{.series = "gram_entry", .theory = false}},
          .x_name = "column",
          .y_coordinate = "row",
          .title = title,
          .value = {.label = "inner product"}};
}

void Uncovered::refuse() const {
  throw invalid_parameter(key, value, covered + ": this study's theory covers nothing else");
}

std::optional<Uncovered> first_uncovered(
    const Configuration& c,
    const std::vector<std::pair<const char*, std::vector<std::string>>>& covered) {
  for (const auto& [key, words] : covered) {
    const std::string& value = c.text(key);
    if (std::find(words.begin(), words.end(), value) != words.end()) continue;
    return Uncovered{key, value, fmt::format("{}", fmt::join(words, " or "))};
  }
  return {};
}

std::vector<bool> separate_stages(const Observed& observed, const Point& point) {
  std::vector<bool> separate =
      by_replicate(observed, {{"t_V", point}, {"t_KQ", point}})
          .where([](double value, double attention) { return attention > 2 * value; });
  separate.resize(std::max(separate.size(), observed.last("t_V", point).size()), false);
  return separate;
}

}  // namespace attica
