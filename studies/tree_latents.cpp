/// @file
/// @brief Study tree-latents: do hidden units of a trained transformer follow the latents of a
/// hierarchy, more than those of an untrained one?

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "attica/core/error.hpp"
#include "attica/sim/joma_deep.hpp"
#include "attica/studies/joma_setup.hpp"
#include "attica/studies/joma_studies.hpp"
#include "attica/studies/training_end.hpp"

namespace attica {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kLevels = 2;
constexpr int kScoredSamples = 1280;

class Latents : public Experiment {
 public:
  explicit Latents(const Configuration& c)
      : sizes_{.tokens = static_cast<int>(c.integer("model.tokens")),
               .length = static_cast<int>(c.integer("model.length")),
               .units = {},
               .classes = static_cast<int>(c.integer("model.classes")),
               .children = static_cast<int>(c.integer("model.children"))},
        network_{.layers = static_cast<int>(c.integer("model.layers")),
                 .heads = static_cast<int>(c.integer("model.heads")),
                 .width = static_cast<int>(c.integer("model.width")),
                 .mlp_width = static_cast<int>(c.integer("model.hidden")),
                 .learning_rate = c.real("sim.eta"),
                 .weight_decay = c.real("sim.weight_decay")},
        batch_(static_cast<int>(c.integer("sim.batch"))) {
    for (const std::int64_t n : joma_steps(c)) steps_.push_back(static_cast<std::uint64_t>(n));
    for (const std::int64_t n : c.integers("model.units"))
      sizes_.units.push_back(static_cast<int>(n));
    require(sizes_.units.size() == kLevels,
            "model.units",
            static_cast<double>(sizes_.units.size()),
            "two numbers, N_0 and N_1");
    require(network_.width % network_.heads == 0,
            "model.heads",
            network_.heads,
            "a divisor of the width");
    hierarchy(0, static_cast<std::uint64_t>(c.integer("sim.seed")));  // refuses impossible sizes
  }

  TheoryResult theory(TheoryGrid) const override { return {}; }
  std::size_t points() const override { return 1; }
  std::uint64_t replicates_per_piece(std::size_t) const override { return 1; }

  std::vector<Outcome> simulate(const Piece& piece) const override {
    return each_replicate(piece, [&](std::uint64_t replicate) { return run(piece, replicate); });
  }

 private:
  LatentHierarchy hierarchy(std::uint64_t replicate, std::uint64_t seed) const {
    RandomStream stream({.seed = seed, .id = StreamId::model, .replicate = replicate});
    return {sizes_, stream};
  }

  static MatrixXd activity(const LatentHierarchy& h, std::size_t level) {
    MatrixXd active = MatrixXd::Zero(h.sizes().classes, h.sizes().units[level]);
    for (std::size_t k = 0; k < h.sequences().size(); ++k) {
      for (const int unit : h.sequences()[k].active[level]) {
        active(static_cast<Index>(k), unit) = 1;
      }
    }
    return active;
  }

  Outcome run(const Piece& piece, std::uint64_t replicate) const {
    const StreamAddress address{
        .seed = piece.seed, .point = piece.stream_point, .replicate = replicate};
    const LatentHierarchy h = hierarchy(replicate, piece.seed);
    const DeepTask task = hierarchy_task(h, batch_);
    networks::Transformer<float> network = deep_network(network_, task, address);

    StreamAddress scored = address;
    scored.id = StreamId::test_data;
    RandomStream stream(scored);
    VectorXd weights = VectorXd::Zero(sizes_.classes);
    for (int i = 0; i < kScoredSamples; ++i) {
      weights[static_cast<Index>(stream.below(static_cast<std::uint64_t>(sizes_.classes)))] +=
          1.0 / kScoredSamples;
    }
    std::vector<Index> order(static_cast<std::size_t>(sizes_.classes));
    std::iota(order.begin(), order.end(), Index{0});
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[stream.below(i)]);

    // The untrained score is repeated at every record, as the level to compare with.
    std::vector<Series> series;
    for (const double level : {0.0, 1.0}) {
      for (const char* model : {"trained", "untrained", "permuted"}) {
        series.push_back(
            {"normalised_correlation", {{"level", level}, {"model", model}}, "step", {}, {}});
      }
    }
    std::vector<Series> gains;
    for (const double level : {0.0, 1.0}) {
      gains.push_back({"learnt_correlation", {{"level", level}}, "step", {}, {}});
    }
    Series loss{"validation_loss", {}, "step", {}, {}};
    Series accuracy{"accuracy", {}, "step", {}, {}};
    std::vector<MatrixXd> active;
    std::vector<double> untrained;
    Outcome outcome{.series = {}};
    const auto score_of = [&](int level, const MatrixXd& latents) {
      return latent_score(latents, pooled_hidden(network, task, level), weights);
    };
    for (int level = 0; level < kLevels; ++level) {
      active.push_back(activity(h, static_cast<std::size_t>(level)));
      const LatentScore score = score_of(level, active.back());
      untrained.push_back(score.score);
      outcome.series.push_back({"excluded_latents",
                                {{"level", static_cast<double>(level)}},
                                "none",
                                {0.0},
                                {static_cast<double>(score.excluded)}});
    }
    const networks::TrainingResult end = train_deep(
        network,
        network_,
        task,
        steps_,
        address,
        [&](std::uint64_t step) {
          std::size_t next = 0;
          const auto add = [&](Series& s, double y) {
            s.x.push_back(static_cast<double>(step));
            s.y.push_back(y);
          };
          for (std::size_t level = 0; level < kLevels; ++level) {
            const int layer = static_cast<int>(level);
            const double trained = score_of(layer, active[level]).score;
            add(gains[level], trained - untrained[level]);
            add(series[next++], trained);
            add(series[next++], untrained[level]);
            add(series[next++], score_of(layer, MatrixXd(active[level](order, Eigen::all))).score);
          }
          const DeepRecord record = measure_deep(network, task, step);
          add(loss, record.validation_loss);
          add(accuracy, record.accuracy);
        },
        [&] { return piece.stop.stop_requested(); });
    for (auto* all : {&series, &gains}) {
      for (Series& s : *all) outcome.series.push_back(std::move(s));
    }
    outcome.series.push_back(std::move(loss));
    outcome.series.push_back(std::move(accuracy));
    mark_end(outcome, end);
    return outcome;
  }

  HierarchySizes sizes_;
  DeepNetwork network_;
  int batch_;
  std::vector<std::uint64_t> steps_;
};

std::unique_ptr<Experiment> make(Configuration& c) { return std::make_unique<Latents>(c); }

Figure figure(const Configuration&) {
  std::vector<Panel> panels;
  for (const double level : {0.0, 1.0}) {
    Panel panel{.x = {.label = "step {/:Italic n}"},
                .y = {.label = fmt::format("correlation, level {}", level), .low = 0, .high = 1.05},
                .layers = {},
                .x_name = "step"};
    for (const char* model : {"untrained", "permuted", "trained"}) {  // the last is on top
      panel.layers.push_back({.series = "normalised_correlation",
                              .label = model,
                              .theory = false,
                              .only = {{"level", level}, {"model", model}}});
    }
    panels.push_back(std::move(panel));
  }
  panels.push_back(
      {.x = {.label = "step {/:Italic n}"},
       .y = {.label = "trained − untrained"},
       .layers = {{.series = "learnt_correlation", .label = "level {level}", .theory = false}},
       .x_name = "step"});
  return {.name = "tree-latents",
          .panels = std::move(panels),
          .columns = 1,
          .caption =
              "Largest correlation of a latent with a hidden unit of its layer, mean over "
              "latents: trained network, the same before training, and trained with the "
              "latents of classes exchanged; bottom: what training adds. Means and standard errors "
              "over hierarchies."};
}

std::vector<AgreementRule> agreement(const Configuration&) { return {}; }

std::vector<ClaimResult> claims(const Configuration&, const Observed& observed) {
  const auto values = [&](double level, const char* model) {
    return last_values(observed, "normalised_correlation", {{"level", level}, {"model", model}});
  };
  std::vector<bool> holds;
  const std::vector<double> trained = values(0, "trained");
  const std::vector<double> permuted = values(0, "permuted");
  for (std::size_t r = 0; r < std::min(trained.size(), permuted.size()); ++r) {
    holds.push_back(trained[r] > permuted[r]);
  }
  std::string report;
  for (const double level : {0.0, 1.0}) {
    for (const char* model : {"trained", "untrained", "permuted"}) {
      const std::vector<double> all = values(level, model);
      const double sum = std::accumulate(all.begin(), all.end(), 0.0);
      report += fmt::format("level {} {} {:.3f}; ",
                            level,
                            model,
                            all.empty() ? 0 : sum / static_cast<double>(all.size()));
    }
  }
  return {claim_in_every("follows-latents",
                         "trained hidden units follow the lowest latents more closely than "
                         "exchanged ones",
                         holds,
                         report)};
}

}  // namespace

Study tree_latents() {
  return {.name = "tree-latents",
          .question = "Do hidden units of a transformer learn the latents of a hierarchy?",
          .neglects =
              "nothing is predicted: the untrained network and exchanged latents are the "
              "baselines",
          .parameters =
              {integer_parameter(
                   "model.tokens", 100, "M, ids; the last is padding", {.low = 2, .high = 1e6}),
               integer_parameter("model.length", 30, "L, sequence length", {.low = 1, .high = 1e4}),
               integers_parameter("model.units",
                                  {10, 20},
                                  "N_0 and N_1, latents of the lower and the upper level",
                                  {.low = 1, .high = 1e5}),
               integer_parameter("model.classes", 20, "C", {.low = 2, .high = 1e4}),
               integer_parameter("model.children", 2, "N_ch, lower units per latent"),
               integer_parameter("model.layers", 3, "layers", {.low = 2, .high = 100}),
               integer_parameter("model.heads", 1, "attention heads"),
               integer_parameter("model.width", 64, "width d", {.low = 1, .high = 1e5}),
               integer_parameter("model.hidden", 400, "hidden units of the MLP, 4 M"),
               real_parameter("sim.eta", 1e-3, "learning rate of Adam", kPositive),
               real_parameter("sim.weight_decay", 1e-4, "added to the gradient", kNotNegative),
               integer_parameter("sim.batch", 128, "samples per step"),
               steps_parameter({0, 25, 50, 100, 150, 200, 300}),
               replicates_parameter(4, "hierarchies and networks")},
          .series = {{"normalised_correlation",
                      "NC",
                      "largest correlation of a latent with a hidden unit of its layer, mean over "
                      "latents"},
                     {"learnt_correlation", "ΔNC", "trained minus untrained, the same network"},
                     {"excluded_latents", "", "latents that are never or always active"},
                     {"validation_loss", "L", "cross-entropy over classes, nats"},
                     {"accuracy", "acc", "share of classes recognised"}},
          .presets = {{"quick", "the defaults: width 64, 300 steps", {}},
                      {"paper",
                       "width 1024, 10000 steps, 5 seeds",
                       {{"model.width", 1024},
                        {"sim.eta", 1e-4},
                        {"sim.steps", List{0, 300, 1000, 2000, 4000, 7000, 10000}},
                        {"sim.replicates", 5}}}},
          .sources = {joma_source("Table 1")},
          .make = make,
          .figure = figure,
          .agreement = agreement,
          .claims = claims};
}

}  // namespace attica
