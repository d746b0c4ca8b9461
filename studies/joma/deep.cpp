#include "attica/studies/joma/deep.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <optional>

#include "attica/sim/joma/deep.hpp"
#include "attica/solvers/statistics/distributions.hpp"
#include "attica/studies/joined_experiments.hpp"
#include "attica/studies/joma/deep_flow.hpp"
#include "attica/studies/training_end.hpp"
#include "attica/theory/joma/latent_tree.hpp"
#include "attica/theory/joma/random_start.hpp"

namespace attica {
namespace {

constexpr double kSmallStart = 0.1;  // bound of the text encoder's embeddings and decoder

std::vector<std::int64_t> widths_of(const Configuration& c) {
  if (c.declares("sweep.width")) return ascending(c.integers("sweep.width"));
  return {c.integer("model.width")};
}

/// Fills in what was left open (layers, width, steps, ...) as the measured presets have it.
void complete(Configuration& c) {
  const bool text = c.has("model.file");
  // Of masked words 15 % are targets, of a causal mask all: with 20 windows nothing is learnt.
  const bool causal = c.text("model.mask") == "causal";
  List steps;
  // Of width 32, a network is 0.02 nats above the Bayes loss after 400 steps; narrow ones take
  // longer.
  const std::int64_t every = text ? 100 : c.declares("sweep.width") ? 50 : 20;
  for (std::int64_t k = 0; k <= 20; ++k) steps.emplace_back(k * every);
  const Table defaults = {{"model.layers", text || c.declares("sweep.width") ? 1 : 2},
                          {"model.width", text ? 64 : 32},
                          {"sim.dropout", text ? 0.2 : 0.0},
                          {"sim.lambda", text ? 0.0 : 1e-4},
                          {"sim.clip", text ? 0.5 : 0.0},
                          {"sim.batch", text && causal ? 20 : 128},
                          {"sim.starts", 768},
                          {"sim.steps", steps}};
  for (const auto& [key, value] : defaults) {
    if (c.declares(key) && !c.has(key)) c.set(key, value, false);
  }
  constexpr std::int64_t kTextStarts = 64;  // they are larger
  if (text && c.declares("sim.starts") && !c.given("sim.starts")) {
    c.set("sim.starts", kTextStarts, false);
  }
  const std::int64_t heads = c.integer("model.heads");
  for (const std::int64_t width : widths_of(c)) {
    require(
        width % heads == 0, "model.heads", static_cast<double>(heads), "a divisor of the width");
  }
}

std::vector<TreeSample> test_samples(const LatentTreeSampler& sampler, const Configuration& c) {
  constexpr std::size_t kSamples = 2000;
  RandomStream stream({.seed = c.seed(), .id = StreamId::test_data});
  return tree_samples(sampler, kSamples, stream);
}

/// Each with every class: labels then add no noise to the loss at the start.
std::vector<TreeSample> of_every_class(const std::vector<TreeSample>& samples, int classes) {
  std::vector<TreeSample> all;
  for (const TreeSample& sample : samples) {
    for (int label = 0; label < classes; ++label) all.push_back({label, sample.leaves});
  }
  return all;
}

/// Mean loss of the exact posterior.
double bayes_loss(const LatentTree& tree, const std::vector<TreeSample>& samples) {
  double loss = 0;
  for (const TreeSample& s : samples) {
    loss -= std::log(tree_posterior(tree, s.leaves).classes[s.label]) /
            static_cast<double>(samples.size());
  }
  return loss;
}

/// Transformers trained on text or on a latent tree, one point per learning rate.
class DeepExperiment : public PointwiseExperiment {
 public:
  explicit DeepExperiment(const Configuration& c)
      : configuration_(c),
        by_width_(c.declares("sweep.width")),
        swept_(c.declares("sweep.eta")),
        widths_(widths_of(c)),
        etas_(swept_ ? ascending(c.reals("sweep.eta")) : std::vector{c.real("sim.eta")}),
        network_(deep_options(c)),
        steps_(recorded_steps<std::uint64_t>(c)) {
    if (!network_.text) {
      diagnostics_ = {{"leaves", static_cast<std::int64_t>(deep_tree(c, "model.depth").leaves())}};
      return;
    }
    words_ = read_words(c.input_text("model.file"), c.integer<std::size_t>("model.tokens"));
    task_.get();  // refuses a text that is too short
    diagnostics_ = {{"words", words_->tokens.size()}, {"vocabulary", words_->words.size()}};
    warnings_ = words_->warnings;
  }

  TheoryResult theory(TheoryGrid) const override {
    TheoryResult result;
    if (network_.text) {
      add_constant(result, "unigram_loss", unigram_loss(*words_));
    } else {
      const LatentTreeSampler sampler(deep_tree(configuration_, "model.depth"));
      add_constant(
          result, "bayes_loss", bayes_loss(sampler.tree(), test_samples(sampler, configuration_)));
    }
    add_constant(result, "uniform_entropy", uniform_entropy());
    if (!swept_) predict_start(result);  // a learning rate changes no start
    return result;
  }

  std::size_t points() const override { return etas_.size() * widths_.size(); }

 protected:
  Outcome run(const Replicate& replicate) const override {
    DeepNetwork options = network_;
    options.eta = etas_[replicate.point() / widths_.size()];
    const std::int64_t width = widths_[replicate.point() % widths_.size()];
    options.width = options.mlp_width = static_cast<int>(width);
    const DeepTask& task = task_.get();
    networks::Transformer<float> network = deep_network(options, task, replicate.address());
    const auto layers = static_cast<std::size_t>(options.layers);
    const auto at = static_cast<double>(width);
    const Point rate = swept_ ? Point{{"eta", options.eta}} : Point{};
    const Point outer = by_width_ ? joined(rate, {{"width", at}}) : rate;
    Curves learnt(outer, "step", {"test_loss", "accuracy"});
    NumberedCurves entropy("attention_entropy", "layer", layers, "step", outer);
    NumberedCurves rank("stable_rank", "layer", layers, "step", outer);
    NumberedCurves cosine("embedding_cosine", "layer", layers, "step", outer);
    double best = std::numeric_limits<double>::infinity();
    std::vector<std::vector<double>> entropies(layers);
    std::vector<std::vector<double>> ranks(layers);
    Outcome outcome;
    const auto measure = [&](std::uint64_t step) {
      const DeepRecord record = measure_deep(network, task, step);
      std::vector<double> values = {record.test_loss, record.accuracy};
      for (const auto* of : {&record.attention_entropy, &record.stable_rank, &record.cosine}) {
        values.insert(values.end(), of->begin(), of->end());
      }
      return values;
    };
    const auto tell = [&](std::uint64_t step, const std::vector<double>& values) {
      const double loss = values[0];
      if (outcome.failed || !std::isfinite(loss)) {
        mark_diverged(outcome, static_cast<std::int64_t>(step));
        return;
      }
      const auto x = static_cast<double>(step);
      const auto by_layer = [&](std::size_t which) {
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(2 + which * layers);
        return std::vector<double>(first, first + static_cast<std::ptrdiff_t>(layers));
      };
      learnt.add(x, {loss, values[1]});
      entropy.add(x, by_layer(0));
      rank.add(x, by_layer(1));
      cosine.add(x, by_layer(2));
      best = std::min(best, loss);
      for (std::size_t l = 0; l < layers; ++l) {
        entropies[l].push_back(by_layer(0)[l]);
        ranks[l].push_back(by_layer(1)[l]);
      }
    };
    const networks::TrainingResult end = train_deep(
        network,
        options,
        task,
        steps_,
        replicate.address(),
        {.measure = measure, .tell = tell},
        [&] { return replicate.stopped(); },
        replicate.state_file());
    if (!outcome.failed) mark_end(outcome, end);
    if (learnt.empty()) return outcome;  // ended before its first record

    // What a run comes to: constants, or a value of curves against width.
    const auto put = [&](const std::string& name, double value, const Point& layer) {
      Curves(joined(rate, layer), by_width_ ? "width" : "none", {name})
          .add(by_width_ ? at : 0, {value})
          .into(outcome);
    };
    put("best_loss", best, {});
    for (std::size_t l = 0; l < layers; ++l) {
      const Point layer = {{"layer", numbered(l)}};
      const double bounce = bounce_statistic(entropies[l]);
      put("bounce", bounce, layer);
      put("rank_bounce", bounce_statistic(ranks[l]), layer);
      if (by_width_) put("final_entropy", entropies[l].back(), layer);
      if (swept_) {
        Curves(joined(rate, layer), "bounce", {"bounce_loss"}).add(bounce, {best}).into(outcome);
      }
    }
    if (!swept_) {
      const DeepRecord start = mean_start(options,
                                          start_task_.get(),
                                          replicate.address(),
                                          configuration_.integer<std::uint64_t>("sim.starts"));
      const double all_ranks =
          std::accumulate(start.stable_rank.begin(), start.stable_rank.end(), 0.0);
      start_curves()
          .add(by_width_ ? at : 0,
               {uniform_entropy() - start.attention_entropy.front(),
                start.test_loss - std::log(task.outputs),
                all_ranks / options.layers})
          .into(outcome);
    }
    learnt.into(outcome);
    for (const NumberedCurves* curves : {&entropy, &rank, &cosine}) curves->into(outcome);
    return outcome;
  }

 private:
  DeepTask make_task() const {
    const auto batch = configuration_.integer<int>("sim.batch");
    if (network_.text) {
      return text_task(*words_,
                       {.window = configuration_.integer<int>("model.window"),
                        .batch = batch,
                        .masked = !network_.causal});
    }
    const LatentTreeSampler sampler(deep_tree(configuration_, "model.depth"));
    return tree_task(sampler, batch, test_samples(sampler, configuration_));
  }

  /// Little to measure many starts on.
  DeepTask make_start_task() const {
    if (network_.text) {
      DeepTask task = task_.get();
      task.test.resize(1);
      return task;
    }
    constexpr std::size_t kSequences = 4;
    const LatentTreeSampler sampler(deep_tree(configuration_, "model.depth"));
    std::vector<TreeSample> few = test_samples(sampler, configuration_);
    few.resize(kSequences);
    const auto classes = static_cast<int>(sampler.tree().classes());
    DeepTask task = tree_task(sampler, 1, of_every_class(few, classes));
    task.probe = tree_task(sampler, 1, few).probe;
    return task;
  }

  /// Of uniform attention: ln t at position t of a causal mask.
  double uniform_entropy() const {
    const auto length = static_cast<double>(task_.get().length);
    return network_.causal ? log_gamma(length + 1.0) / length : std::log(length);
  }

  /// Entropy, loss and rank at the start: constants, or curves against width.
  Curves start_curves() const {
    return {
        {}, by_width_ ? "width" : "none", {"start_deficit", "start_excess", "start_stable_rank"}};
  }

  /// What the first step starts from, as deep_network draws it.
  void predict_start(TheoryResult& result) const {
    const DeepTask& task = start_task_.get();
    const auto length = static_cast<std::ptrdiff_t>(task.length);
    std::vector<std::vector<int>> sequences;
    for (auto at = task.probe.tokens.begin(); at != task.probe.tokens.end(); at += length) {
      sequences.emplace_back(at, at + length);
    }
    constexpr int kWide = 16;  // logits are sums over the width
    // Of the shift by the fourth cumulant, drawn uniform matrices have 0.38 at 16 x 16, 0.57 at 32
    // x 32, 0.71 at 64 x 64: at 16 more than the half that is left open is missing.
    constexpr int kEdge = 32;
    Curves start = start_curves();
    for (const std::int64_t each : widths_) {
      const auto width = static_cast<int>(each);
      if (width < kWide) continue;
      RandomEmbedding embedding{.width = width};
      double logit_variance = (1 + 1.0 / width) / 3;  // decoder, and its bias
      if (network_.text) {
        DeepNetwork options = network_;
        options.width = options.mlp_width = width;
        const networks::Transformer<float> network = deep_network(options, task, {});
        const double bound = kSmallStart * std::sqrt(width);  // after scaling
        embedding.variance = bound * bound / 3;
        embedding.fourth_moment = std::pow(bound, 4) / 5;
        embedding.positions = network.parameters().matrix("W_P").map().cast<double>();
        logit_variance = kSmallStart * kSmallStart / 3 * width;
      }
      const StartMean rank = start_stable_rank(width, width);
      start.add(by_width_ ? width : 0,
                {PredictedValue(start_entropy_deficit(sequences, embedding, network_.causal)),
                 PredictedValue(start_loss_excess(task.outputs, logit_variance)),
                 PredictedValue(rank.value, rank.left_out, width >= kEdge)});
    }
    start.into(result);
  }

  Configuration configuration_;
  bool by_width_;
  bool swept_;
  std::vector<std::int64_t> widths_;
  std::vector<double> etas_;
  DeepNetwork network_;
  std::vector<std::uint64_t> steps_;
  std::optional<VocabularyText> words_;
  Lazy<DeepTask> task_{[this] { return make_task(); }};
  Lazy<DeepTask> start_task_{[this] { return make_start_task(); }};
};

}  // namespace

std::unique_ptr<Experiment> make_deep(Configuration& c) {
  complete(c);
  auto deep = make<DeepExperiment>(c);
  if (c.has("model.file")) return deep;  // whose population is not known
  return std::make_unique<JoinedExperiments>(std::move(deep), make_deep_flow(c));
}

int layers_of(const Observed& observed) {
  return static_cast<int>(
      std::count_if(observed.simulation.begin(), observed.simulation.end(), [](const auto& curve) {
        return curve.mean.name == "attention_entropy";
      }));
}

std::vector<ClaimResult> learning_claims(const Configuration& c,
                                         const Observed& observed,
                                         const Point& point) {
  const bool text = c.has("model.file");
  const double reference = observed.predicted(text ? "unigram_loss" : "bayes_loss").value_or(0);
  // A little above what measured runs end at (0.009 to 0.015 nats).
  constexpr double kNearBayes = 0.05;
  const double limit = text ? reference : reference + kNearBayes;
  const auto ends = by_replicate(observed.last("test_loss", point));
  std::vector<ClaimResult> all = {claim_rate("learnt",
                                             text
                                                 ? "test loss below that of predicting by frequency"
                                                 : "test loss within 0.05 nats of the Bayes loss",
                                             ends.where([&](double y) { return y < limit; }),
                                             fmt::format("limit {:.3f}", limit),
                                             kHalf)};
  if (!text) {
    all.push_back(claim_rate("floor",
                             "test loss above that of the exact posterior on the same samples",
                             ends.where([&](double y) { return y > reference; }),
                             fmt::format("Bayes loss {:.4f}", reference),
                             kHalf));
  }
  return all;
}

Panel layer_panel(const std::string& series, const std::string& label) {
  return {.x = {.label = "step {/:Italic n}"},
          .y = {.label = label},
          .layers = {{.series = series, .label = "layer {layer}", .theory = false}},
          .x_name = "step"};
}

Panel loss_panel() {
  return {.x = {.label = "step {/:Italic n}"},
          .y = {.label = "test loss (nats)"},
          .layers = {{.series = "test_loss", .label = "network", .theory = false},
                     {.series = "unigram_loss", .label = "frequencies", .reference = true},
                     {.series = "bayes_loss", .label = "Bayes", .reference = true}},
          .x_name = {}};
}

Figure deep_figure(const std::string& name, std::vector<Panel> panels, const std::string& caption) {
  return {.name = name, .panels = std::move(panels), .columns = 1, .caption = caption};
}

}  // namespace attica
