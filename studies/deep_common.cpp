#include "attica/studies/deep_common.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/studies/training_end.hpp"
#include "attica/theory/latent_tree.hpp"

namespace attica {
namespace {

constexpr double kLow = 0.1;  // q_{a,k} of latent trees
constexpr double kHigh = 0.9;
constexpr std::size_t kTreeValidation = 4000;

Parameter open_integer(const std::string& key, const std::string& meaning, double most) {
  return {.key = key,
          .type = ParameterType::integer,
          .fallback = {},
          .meaning = meaning,
          .range = {.low = 1, .high = most}};
}

Parameter open_real(const std::string& key, const std::string& meaning, Range range) {
  return {
      .key = key, .type = ParameterType::real, .fallback = {}, .meaning = meaning, .range = range};
}

TextCut cut_of(const Configuration& c) {
  return {.window = static_cast<int>(c.integer("model.window")),
          .batch = static_cast<int>(c.integer("sim.batch")),
          .masked = c.text("model.mask") == "bidirectional"};
}

LatentTree tree_of(const Configuration& c) {
  return bit_tree(static_cast<int>(c.integer("model.depth")),
                  static_cast<int>(c.integer("model.classes")),
                  c.real("model.rho"),
                  kLow,
                  kHigh);
}

}  // namespace

std::vector<Parameter> deep_parameters() {
  constexpr double kMany = 1e6;
  const Range share{.low = 0, .high = 1, .high_open = true};
  return {
      {.key = "model.file",
       .type = ParameterType::file,
       .fallback = {},
       .meaning = "plain text to learn; unset: sequences of a latent tree"},
      integer_parameter("model.tokens",
                        2000,
                        "text: vocabulary with <unk>, most frequent words",
                        {.low = 2, .high = kMany}),
      integer_parameter("model.window", 35, "text: words per window", {.low = 2, .high = 4096}),
      integer_parameter("model.classes", 4, "tree: classes D", {.low = 2, .high = 1000}),
      integer_parameter("model.depth", 4, "tree: depth L", {.low = 1, .high = 10}),
      real_parameter(
          "model.rho", 0.9, "tree: correlation of a node with its parent", {.low = -1, .high = 1}),
      word_parameter("model.mask",
                     "causal",
                     "what attention sees; bidirectional on text: predict 15 % masked words",
                     {"causal", "bidirectional"}),
      open_integer("model.layers", "layers; default: text 1, tree 2", 1000),
      integer_parameter(
          "model.heads", 1, "attention heads; divides the width", {.low = 1, .high = 1000}),
      open_integer("model.width", "width and hidden units; default: text 64, tree 32", kMany),
      open_real("sim.dropout", "dropout; default: text 0.2, tree 0", share),
      open_real(
          "sim.weight_decay", "added to the gradient; default: text 0, tree 1e-4", kNotNegative),
      open_real(
          "sim.clip", "largest gradient norm, 0: any; default: text 0.5, tree 0", kNotNegative),
      open_integer("sim.batch", "sequences per step; default: text 20, tree 128", kMany),
      {.key = "sim.steps",
       .type = ParameterType::integer,
       .fallback = {},
       .meaning = "recorded steps; default: text 0, 100, ..., 2000, tree 0, 50, ..., 1000",
       .list = true,
       .range = {.low = 0, .high = 1e9}},
      replicates_parameter(2, "training runs")};
}

void complete_deep(Configuration& c) {
  const bool text = c.has("model.file");
  const auto complete = [&](const char* key, Value value) {
    if (!c.has(key)) c.set(key, std::move(value), false);
  };
  complete("model.layers", text ? 1 : 2);
  complete("model.width", text ? 64 : 32);
  complete("sim.dropout", text ? 0.2 : 0.0);
  complete("sim.weight_decay", text ? 0.0 : 1e-4);
  complete("sim.clip", text ? 0.5 : 0.0);
  complete("sim.batch", text ? 20 : 128);
  if (!c.has("sim.steps")) {
    List steps;
    for (std::int64_t k = 0; k <= 20; ++k) steps.emplace_back(k * (text ? 100 : 50));
    c.set("sim.steps", std::move(steps), false);
  }
  const std::int64_t heads = c.integer("model.heads");
  require(c.integer("model.width") % heads == 0,
          "model.heads",
          static_cast<double>(heads),
          "a divisor of the width");
}

DeepExperiment::DeepExperiment(const Configuration& configuration,
                               std::vector<double> learning_rates,
                               bool named)
    : configuration_(configuration),
      rates_(std::move(learning_rates)),
      named_(named),
      text_(configuration.has("model.file")) {
  const Configuration& c = configuration_;
  const int width = static_cast<int>(c.integer("model.width"));
  network_ = {.text = text_,
              .layers = static_cast<int>(c.integer("model.layers")),
              .heads = static_cast<int>(c.integer("model.heads")),
              .width = width,
              .mlp_width = width,
              .causal = c.text("model.mask") == "causal",
              .dropout = c.real("sim.dropout"),
              .weight_decay = c.real("sim.weight_decay"),
              .clip = c.real("sim.clip")};
  for (const std::int64_t step : joma_steps(c)) steps_.push_back(static_cast<std::uint64_t>(step));
  if (text_) {
    words_ =
        read_words(c.input_text("model.file"), static_cast<std::size_t>(c.integer("model.tokens")));
    text_task(*words_, cut_of(c));  // refuses a text that is too short
    diagnostics_ = {{"words", words_->tokens.size()}, {"vocabulary", words_->words.size()}};
  } else {
    diagnostics_ = {{"leaves", static_cast<std::int64_t>(tree_of(c).leaves())}};
  }
}

std::vector<std::string> DeepExperiment::warnings() const {
  if (!words_ || words_->bad_bytes == 0) return {};
  return {fmt::format("model.file: {} bytes are not UTF-8, read as spaces", words_->bad_bytes)};
}

void DeepExperiment::prepare() const {
  std::call_once(once_, [this] {
    const Configuration& c = configuration_;
    if (text_) {
      task_ = text_task(*words_, cut_of(c));
      reference_loss_ = unigram_loss(*words_);
      return;
    }
    const LatentTreeSampler sampler(tree_of(c));
    RandomStream stream(
        {.seed = static_cast<std::uint64_t>(c.integer("sim.seed")), .id = StreamId::test_data});
    const std::vector<TreeSample> validation = tree_samples(sampler, kTreeValidation, stream);
    for (const TreeSample& s : validation) {
      const TreePosterior posterior = tree_posterior(sampler.tree(), s.leaves);
      reference_loss_ -=
          std::log(posterior.classes[s.label]) / static_cast<double>(kTreeValidation);
    }
    task_ = tree_task(sampler, static_cast<int>(c.integer("sim.batch")), validation);
  });
}

TheoryResult DeepExperiment::theory(TheoryGrid) const {
  prepare();
  TheoryResult result;
  result.predictions.push_back(
      constant_prediction(text_ ? "unigram_loss" : "bayes_loss", {}, reference_loss_));
  // Uniform attention: ln t at position t of a causal mask.
  const int length = task_.length;
  const double uniform = network_.causal ? std::lgamma(length + 1.0) / length : std::log(length);
  result.predictions.push_back(constant_prediction("uniform_entropy", {}, uniform));
  return result;
}

std::vector<Outcome> DeepExperiment::simulate(const Piece& piece) const {
  prepare();
  return each_replicate(piece, [&](std::uint64_t replicate) {
    return run(rates_[piece.point], piece.stream(replicate), piece);
  });
}

Outcome DeepExperiment::run(double rate, const StreamAddress& address, const Piece& piece) const {
  DeepNetwork options = network_;
  options.learning_rate = rate;
  networks::Transformer<float> network = deep_network(options, task_, address);
  const Point outer = named_ ? Point{{"eta", rate}} : Point{};
  const auto series = [&](const std::string& name) { return Series{name, outer, "step", {}, {}}; };
  Series loss = series("validation_loss");
  Series accuracy = series("accuracy");
  std::vector<std::vector<Series>> layers;
  for (const char* name : {"attention_entropy", "stable_rank", "embedding_cosine"}) {
    auto& all = layers.emplace_back();
    for (int layer = 0; layer < options.layers; ++layer) {
      all.push_back(series(name));
      all.back().point = joined(outer, {{"layer", numbered(static_cast<std::size_t>(layer))}});
    }
  }
  const auto add = [](Series& s, std::uint64_t step, double y) {
    s.x.push_back(static_cast<double>(step));
    s.y.push_back(y);
  };
  const networks::TrainingResult end = train_deep(
      network,
      options,
      task_,
      steps_,
      address,
      [&](std::uint64_t step) {
        const DeepRecord record = measure_deep(network, task_, step);
        add(loss, step, record.validation_loss);
        add(accuracy, step, record.accuracy);
        for (std::size_t l = 0; l < record.stable_rank.size(); ++l) {
          add(layers[0][l], step, record.attention_entropy[l]);
          add(layers[1][l], step, record.stable_rank[l]);
          add(layers[2][l], step, record.cosine[l]);
        }
      },
      [&] { return piece.stop.stop_requested(); });

  Outcome outcome{.series = {}};
  const double best = *std::min_element(loss.y.begin(), loss.y.end());
  outcome.series.push_back({"best_loss", outer, "none", {0.0}, {best}});
  for (std::size_t l = 0; l < layers[0].size(); ++l) {
    outcome.series.push_back(
        {"bounce", layers[0][l].point, "none", {0.0}, {bounce_statistic(layers[0][l].y)}});
  }
  outcome.series.push_back(std::move(loss));
  outcome.series.push_back(std::move(accuracy));
  for (auto& all : layers) {
    for (Series& s : all) outcome.series.push_back(std::move(s));
  }
  mark_end(outcome, end);
  return outcome;
}

std::vector<double> smoothed(const std::vector<double>& curve) {
  constexpr std::size_t kRecords = 5;
  std::vector<double> means;
  for (std::size_t k = 1; k + kRecords <= curve.size(); ++k) {
    double sum = 0;
    for (std::size_t i = 0; i < kRecords; ++i) sum += curve[k + i];
    means.push_back(sum / kRecords);
  }
  return means.empty() ? curve : means;
}

double bounce_statistic(const std::vector<double>& curve) {
  const std::vector<double> means = smoothed(curve);
  const double least = *std::min_element(means.begin(), means.end());
  const double fallen = curve.front() - least;
  return fallen > 0 ? (means.back() - least) / fallen : 0;
}

std::vector<std::vector<double>> curves_of(const Observed& observed,
                                           const std::string& series,
                                           const Point& point) {
  std::vector<std::vector<double>> curves;
  for (const ObservedCurve& curve : observed.simulation) {
    if (curve.mean.name != series || curve.mean.point != point) continue;
    for (const std::vector<double>& at : curve.values) {
      curves.resize(std::max(curves.size(), at.size()));
      for (std::size_t r = 0; r < at.size(); ++r) curves[r].push_back(at[r]);
    }
  }
  return curves;
}

ClaimResult learning_claim(const Configuration& c, const Observed& observed, const Point& point) {
  const bool text = c.has("model.file");
  double reference = 0;
  for (const Prediction& p : observed.theory) {
    if (p.series.name == (text ? "unigram_loss" : "bayes_loss")) reference = p.series.y.front();
  }
  // A little above what measured runs end at (0.009 to 0.015 nats).
  constexpr double kNearBayes = 0.05;
  const double limit = text ? reference : reference + kNearBayes;
  std::vector<bool> holds;
  for (const double y : last_values(observed, "validation_loss", point)) holds.push_back(y < limit);
  return claim_in_every("learnt",
                        text ? "validation loss below that of predicting by frequency"
                             : "validation loss within 0.05 nats of the Bayes loss",
                        holds,
                        fmt::format("limit {:.3f}", limit));
}

std::vector<SeriesInfo> deep_series() {
  return {{"attention_entropy", "H", "mean over sequences, heads and positions, nats, per layer"},
          {"stable_rank", "|W_1|_F²/|W_1|²", "of the first MLP matrix, per layer"},
          {"embedding_cosine", "|cos|", "mean over pairs of columns of W_2, per layer"},
          {"validation_loss", "L", "cross-entropy on held-out data, nats"},
          {"accuracy", "acc", "share of right predictions on held-out data"},
          {"best_loss", "min L", "smallest recorded validation loss"},
          {"bounce", "b", "(H_end - H_min)/(H_0 - H_min), smoothed over five records, per layer"},
          {"unigram_loss", "", "text: loss of predicting by frequency (theory)"},
          {"bayes_loss", "", "tree: loss of the exact posterior on the held-out data (theory)"},
          {"uniform_entropy", "", "entropy of uniform attention, the maximum (theory)"}};
}

}  // namespace attica
