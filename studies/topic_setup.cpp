#include "attica/studies/topic_setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include "attica/core/error.hpp"
#include "attica/theory/topic_value.hpp"

namespace attica {
namespace {

constexpr double kMost = 1e9;
const Range kShare{.low = 0, .high = 1};

/// Whether the study has the parameter and it has a value.
bool has(const Configuration& c, std::string_view key) { return c.declares(key) && c.has(key); }

}  // namespace

Parameter topic_times(const std::vector<double>& fallback) {
  return reals_parameter("sim.times",
                         fallback,
                         "recorded times, learning rate x steps, the last one being the length",
                         {.low = 0, .high = kMost});
}

std::vector<Parameter> fixed_value_parameters(const char* fallback) {
  return {
      word_parameter("model.value",
                     fallback,
                     "W_V: the optimum of the first stage, c/v on the blocks of topics, or c on "
                     "the diagonal",
                     {"optimum", "block", "diagonal"}),
      {.key = "model.value_scale",
       .type = ParameterType::real,
       .fallback = std::nullopt,
       .meaning = "c of a block or diagonal W_V; unset: 1/kappa",
       .range = kPositive}};
}

std::vector<Parameter> optimiser_parameters(double adam_epsilon) {
  const Range rate{.low = 0, .high = 1, .high_open = true};
  constexpr double kMomentum = 0.9;
  constexpr double kBeta2 = 0.999;
  return {
      word_parameter("sim.optimiser", "sgd", "update rule", {"sgd", "momentum", "adam", "adamw"}),
      real_parameter("sim.momentum", kMomentum, "heavy-ball momentum", rate),
      real_parameter("sim.beta1", kMomentum, "Adam: decay of the mean gradient", rate),
      real_parameter("sim.beta2", kBeta2, "Adam: decay of the mean squared gradient", rate),
      real_parameter("sim.adam_epsilon",
                     adam_epsilon,
                     "Adam: gradients well below it hardly move a parameter",
                     kPositive)};
}

std::vector<Parameter> batch_parameters(std::int64_t batch) {
  return {integer_parameter("sim.batch", batch, "documents per step"),
          integer_parameter("sim.queries", 4, "selected positions of an infinite document")};
}

std::vector<Parameter> data_parameters() {
  constexpr std::int64_t kDocuments = 10000;
  return {word_parameter("sim.data",
                         "fresh",
                         "a step reads fresh documents, some of a fixed set whose masks are fixed "
                         "too, or the whole population",
                         {"fresh", "fixed", "population"}),
          integer_parameter("sim.documents", kDocuments, "documents of the fixed set")};
}

std::vector<Parameter> topic_parameters(const TopicDefaults& d,
                                        const std::vector<std::string>& without) {
  constexpr double kMaskRate = 0.15;
  constexpr double kRandomRate = 0.1;
  constexpr double kConcentration = 0.1;
  std::vector<Parameter> all = {
      integer_parameter("model.topics", d.topics, "T, number of topics"),
      integer_parameter("model.words_per_topic", d.words, "v, words of each topic"),
      integer_parameter("model.topics_per_document",
                        d.topics_per_document,
                        "tau, topics of a document of the subset prior"),
      word_parameter("model.prior",
                     "subset",
                     "topic weights: 1/tau on a random set of tau topics, or symmetric Dirichlet",
                     {"subset", "dirichlet"}),
      real_parameter(
          "model.concentration", kConcentration, "alpha per topic, Dirichlet", kPositive),
      {.key = "model.length",
       .type = ParameterType::integer,
       .fallback = Value(List{d.length}),
       .meaning = "N, tokens of a document; [lo, hi]: uniform; \"infinite\": exact frequencies",
       .list = true,
       .range = {.low = 1, .high = kMost},
       .choices = {"infinite"}},
      real_parameter("model.mask_rate",
                     kMaskRate,
                     "p_m, probability that a position is selected",
                     {.low = 0, .high = 1, .low_open = true}),
      real_parameter("model.keep_rate",
                     d.keep_rate,
                     "p_c, probability that a selected token stays what it is",
                     kShare),
      real_parameter("model.random_rate",
                     kRandomRate,
                     "p_r, probability that a selected token becomes a random word",
                     kShare),
      word_parameter("model.loss",
                     "squared",
                     "|F - e|^2 over all outputs, or -log softmax",
                     {"squared", "cross_entropy"})};
  if (d.penalty) {
    all.push_back(real_parameter(
        "model.penalty", *d.penalty, "lambda of + lambda |W|^2 per trained matrix", {.low = 0}));
  }
  if (d.initialisation) {
    all.push_back(word_parameter("model.initialisation",
                                 d.initialisation->c_str(),
                                 "start of W_K and W_Q: both epsilon I; (epsilon I, 0) and "
                                 "(0, epsilon I); N(0, epsilon^2/d_a); epsilon U(0,1)",
                                 {"identity", "split", "gaussian", "uniform"}));
  }
  if (d.scale) {
    all.push_back({.key = "model.scale",
                   .type = ParameterType::real,
                   .fallback = *d.scale > 0 ? std::optional<Value>(*d.scale) : std::nullopt,
                   .meaning = "factor of the attention scores; unset: 1/sqrt(inner dimension)",
                   .range = kPositive});
  }
  if (d.epsilon) {
    all.push_back(real_parameter(
        "model.epsilon", *d.epsilon, "scale of the start of W_K and W_Q", kPositive));
  }
  if (d.threshold) {
    all.push_back(real_parameter("model.threshold",
                                 *d.threshold,
                                 "growth of (W_K, W_Q) that marks the second stage",
                                 {.low = 1, .low_open = true}));
  }
  std::erase_if(all, [&](const Parameter& p) {
    return std::find(without.begin(), without.end(), p.name()) != without.end();
  });
  return all;
}

TopicSettings topic_settings(const Configuration& c) {
  TopicSettings s;
  if (has(c, "model.topics")) s.vocabulary.topics = c.integer("model.topics");
  s.vocabulary.words = c.integer("model.words_per_topic");
  if (has(c, "model.topics_per_document")) {
    s.topics_per_document = c.integer("model.topics_per_document");
  }
  if (has(c, "model.prior") && c.text("model.prior") == "dirichlet") {
    s.prior = TopicPrior::dirichlet;
  }
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

std::vector<std::string> topic_warnings(const TopicModel& model, bool second_stage) {
  std::vector<std::string> warnings;
  if (!model.has_topic_signal()) {
    warnings.push_back(
        "topics_per_document = topics: every document has all topics, so that "
        "nothing tells them apart");
  }
  if (second_stage &&
      (model.keep_rate() <= 0 || (model.subset() && model.settings().topics_per_document == 1))) {
    warnings.push_back(
        "keep_rate = 0 or topics_per_document = 1: W_K and W_Q have no linear "
        "instability, the second stage never starts");
  }
  return warnings;
}

TopicLoss topic_loss(const Configuration& c) {
  return c.text("model.loss") == "squared" ? TopicLoss::squared : TopicLoss::cross_entropy;
}

networks::Loss network_loss(TopicLoss loss) {
  return loss == TopicLoss::squared ? networks::Loss::squared : networks::Loss::cross_entropy;
}

void require_squared(const Configuration& c) {
  if (topic_loss(c) != TopicLoss::squared) {
    throw invalid_parameter(
        "model.loss", "cross_entropy", "\"squared\": this study's theory knows no other loss");
  }
}

double topic_penalty(const Configuration& c) {
  return has(c, "model.penalty") ? c.real("model.penalty") : 0;
}

AttentionStart attention_start(const Configuration& c) {
  static const std::map<std::string, AttentionStart> starts = {
      {"identity", AttentionStart::identity},
      {"split", AttentionStart::split},
      {"gaussian", AttentionStart::gaussian},
      {"uniform", AttentionStart::uniform}};
  return starts.at(c.text("model.initialisation"));
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

Commutant fixed_value(const Configuration& c, const TopicModel& model) {
  if (c.text("model.value") == "optimum") return value_closed_form(model);
  const double scale = c.has("model.value_scale") ? c.real("model.value_scale") : 1 / model.kappa();
  return c.text("model.value") == "block" ? block_value(model, scale) : diagonal_value(scale);
}

networks::OptimiserOptions optimiser_options(const Configuration& c) {
  const std::string& kind = c.text("sim.optimiser");
  networks::OptimiserOptions options{.learning_rate = c.real("sim.eta"),
                                     .momentum = c.real("sim.momentum"),
                                     .beta1 = c.real("sim.beta1"),
                                     .beta2 = c.real("sim.beta2"),
                                     .epsilon = c.real("sim.adam_epsilon"),
                                     .decoupled_decay = kind == "adamw"};
  options.kind = kind == "sgd"        ? networks::OptimiserKind::sgd
                 : kind == "momentum" ? networks::OptimiserKind::heavy_ball
                                      : networks::OptimiserKind::adam;
  return options;
}

TopicSourceOptions source_options(const Configuration& c, const TopicModel& model) {
  TopicSourceOptions options{.batch = c.integer("sim.batch"), .queries = c.integer("sim.queries")};
  if (!c.declares("sim.data")) return options;
  options.documents = c.integer("sim.documents");
  if (c.text("sim.data") == "fixed") options.data = TopicData::fixed;
  if (c.text("sim.data") == "population") {
    options.data = TopicData::population;
    require_enumerable(model);
  }
  return options;
}

std::vector<std::uint64_t> recorded_steps(const Configuration& c) {
  std::vector<std::uint64_t> steps;
  for (const std::int64_t n : c.integers("sim.steps")) {
    steps.push_back(static_cast<std::uint64_t>(n));
  }
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

TopicCurves::TopicCurves(std::vector<std::string> names, Point point, std::string x_name) {
  for (std::string& name : names) series_.push_back({std::move(name), point, x_name, {}, {}});
}

void TopicCurves::record(double x, const std::vector<double>& values) {
  if (values.size() != series_.size()) throw std::logic_error("TopicCurves: one value a series");
  for (std::size_t k = 0; k < series_.size(); ++k) {
    series_[k].x.push_back(x);
    series_[k].y.push_back(values.at(k));
  }
}

void TopicCurves::append_to(Outcome& outcome) const {
  outcome.series.insert(outcome.series.end(), series_.begin(), series_.end());
}

void TopicCurves::append_to(TheoryResult& result, double share_of_largest) const {
  for (const Series& s : series_) {
    double largest = 0;
    for (const double y : s.y) largest = std::max(largest, std::abs(y));
    Prediction prediction{.series = s};
    if (share_of_largest > 0) {
      prediction.finite_size.assign(s.y.size(), share_of_largest * largest);
    }
    result.predictions.push_back(std::move(prediction));
  }
}

std::vector<Outcome> TopicExperiment::simulate(const Piece& piece) const {
  if (deterministic(piece.point)) {
    return std::vector<Outcome>(piece.replicates, run(piece, piece.first_replicate));
  }
  return each_replicate(piece, [&](std::uint64_t replicate) { return run(piece, replicate); });
}

std::vector<std::string> value_names() {
  return {"value_00", "value_0w", "value_b", "value_d", "value_s", "value_g"};
}

std::vector<std::string> compared_value_names(const TopicModel& model) {
  std::vector<std::string> names = {"value_d", "value_g"};
  if (model.masked_share() > 0) names.push_back("value_b");
  if (model.vocabulary().words > 1) names.push_back("value_s");
  return names;
}

std::vector<double> all_values(const Commutant& w) { return {w.data(), w.data() + w.size()}; }

std::vector<double> compared_values(const TopicModel& model, const Commutant& w) {
  std::vector<double> values = {w[kSameWord], w[kOtherTopic]};
  if (model.masked_share() > 0) values.push_back(w[kWordMask]);
  if (model.vocabulary().words > 1) values.push_back(w[kSameTopic]);
  return values;
}

std::vector<AgreementRule> value_rules(const TopicModel& model, bool deterministic) {
  constexpr double kRelative = 0.005;
  std::vector<AgreementRule> rules;
  for (const std::string& name : compared_value_names(model)) {
    rules.push_back({.series = name, .relative = kRelative, .deterministic = deterministic});
  }
  return rules;
}

std::vector<SeriesInfo> topic_series(const std::vector<std::string>& names) {
  static const std::map<std::string, std::pair<const char*, const char*>> known = {
      {"value_00", {"W[0,0]", "value matrix, mask to mask"}},
      {"value_0w", {"W[0,w]", "value matrix, row mask, column word"}},
      {"value_b", {"b", "value matrix, row word, column mask"}},
      {"value_d", {"d", "value matrix, same word"}},
      {"value_s", {"s", "value matrix, other words of the topic"}},
      {"value_g", {"g", "value matrix, words of other topics"}},
      {"value_entry", {"W[i,j]", "all entries of the value matrix"}},
      {"norm_V", {"|W_V|", "Frobenius norm"}},
      {"norm_K", {"|W_K|", "Frobenius norm"}},
      {"norm_Q", {"|W_Q|", "Frobenius norm"}},
      {"loss", {"L", "mean over selected positions of the sum over outputs; nats"}},
      {"omega", {"omega", "mean attention weight of the own topic, other topics 1"}},
      {"attention_same_word", {"N A", "mean attention between equal words, uniform = 1"}},
      {"attention_same_topic", {"N A", "mean attention between words of a topic, uniform = 1"}},
      {"attention_other_topic", {"N A", "mean attention between topics, uniform = 1"}}};
  std::vector<SeriesInfo> infos;
  for (const std::string& name : names) {
    infos.push_back({name, known.at(name).first, known.at(name).second});
  }
  return infos;
}

Source topic_source(const std::string& used) {
  return {"li2023topic",
          "How Do Transformers Learn Topic Structure: Towards a Mechanistic Understanding",
          "Y. Li, Y. Li, A. Risteski",
          2023,
          "2303.04245",
          used};
}

void Uncovered::refuse() const {
  throw invalid_parameter(key, value, covered + ": this study's theory covers nothing else");
}

StreamAddress step_address(const Piece& piece, std::uint64_t replicate, std::uint64_t step) {
  StreamAddress address = piece.stream(replicate);
  address.step = step;
  return address;
}

}  // namespace attica
