/// @file
/// @brief Study potts-loss: excess loss against training steps, factored attention and ordinary
/// transformers on the same Potts sequences.

#include <fmt/format.h>

#include <cmath>

#include "attica/core/error.hpp"
#include "attica/sim/factored_attention.hpp"
#include "attica/sim/potts_transformer.hpp"
#include "attica/studies/potts_setup.hpp"
#include "attica/studies/potts_studies.hpp"
#include "attica/studies/training_end.hpp"

namespace attica {
namespace {

using Eigen::Index;

Point factored_point() { return {{"model", "factored"}}; }
Point transformer_point(std::int64_t layers) {
  return {{"model", "transformer"}, {"layers", static_cast<double>(layers)}};
}

class Loss : public Experiment {
 public:
  Loss(PottsFamily family, const Configuration& c)
      : family_(std::move(family)),
        data_(GibbsPoolOptions::from(c)),
        layers_(c.integers("sim.layers")),
        replicates_(static_cast<std::uint64_t>(c.integer("sim.replicates"))),
        test_sequences_(c.integer("sim.test_sequences")) {
    const auto steps = static_cast<std::uint64_t>(c.integer("sim.steps"));
    constexpr std::uint64_t kFirstRecord = 10;
    constexpr int kRecords = 14;
    const auto recorded = recorded_steps(kFirstRecord, steps, kRecords);
    factored_ = FactoredPlan::from(c, "sim.eta_factored", recorded);
    transformer_ = {.shape = masked_transformer(c.integer("model.sites"),
                                                c.integer("model.colours"),
                                                1,
                                                static_cast<int>(c.integer("sim.width"))),
                    .optimiser = {.kind = networks::OptimiserKind::adam,
                                  .learning_rate = c.real("sim.eta_transformer"),
                                  .clip_norm = 1,
                                  .schedule = half_constant(steps)},
                    .batch = c.integer("sim.batch"),
                    .recorded = recorded};
    transformer_.shape.heads = static_cast<int>(c.integer("sim.heads"));
    if (c.text("sim.variant") == "full") {
      constexpr int kHiddenPerWidth = 4;
      transformer_.shape.mlp_width = kHiddenPerWidth * transformer_.shape.width;
      transformer_.shape.normalisation = networks::Normalisation::pre;
    }
    require(transformer_.shape.width % transformer_.shape.heads == 0,
            "sim.heads",
            static_cast<double>(transformer_.shape.heads),
            "a divisor of sim.width");
    networks::validate(transformer_.shape);
  }

  TheoryResult theory(TheoryGrid grid) const override {
    if (grid == TheoryGrid::requested) family_.require_enumerable();
    TheoryResult result;
    const std::uint64_t realisations = family_.random() ? replicates_ : 1;
    List log_partitions;
    for (std::uint64_t r = 0; r < realisations; ++r) {
      const PottsModel model = family_.model(r);
      if (grid == TheoryGrid::run && potts_states(model) > static_cast<double>(kMostStates)) {
        result.warnings.emplace_back("too many states to enumerate: no Bayes loss");
        return result;
      }
      const PottsEnumeration all = enumerate(model);
      Point point;
      if (family_.random()) point = {{"realisation", static_cast<double>(r)}};
      result.predictions.push_back(
          {.series = {"bayes_loss", point, "none", {0}, {bayes_loss(model, all.states)}}});
      log_partitions.emplace_back(all.log_partition);
    }
    result.diagnostics.emplace_back(
        "log_partition",
        family_.random() ? Value(std::move(log_partitions)) : log_partitions.front());
    return result;
  }

  std::vector<std::string> warnings() const override {
    if (family_.random()) return {};
    const PottsModel model = family_.model(0);
    if (std::isfinite(coupling_error(model, model.as_student()))) return {};
    return {"the model has no couplings: their error is undefined and left out"};
  }

  std::size_t points() const override { return 1 + layers_.size(); }
  std::uint64_t replicates_per_piece(std::size_t /*point*/) const override { return 1; }

  std::vector<Outcome> simulate(const Piece& piece) const override {
    return each_replicate(piece, [&](std::uint64_t replicate) { return one(piece, replicate); });
  }

 private:
  Outcome one(const Piece& piece, std::uint64_t replicate) const {
    const PottsModel model = family_.model(replicate);
    // Data and test sequences are those of the realisation, whatever is trained on them.
    const StreamAddress shared{.seed = piece.seed, .replicate = replicate};
    const PottsData data(model, data_, shared);
    StreamAddress test_address = shared;
    test_address.id = StreamId::test_data;
    RandomStream test_stream(test_address);
    const ExcessLoss test(model, equally_weighted(data.draw(test_sequences_, test_stream)));
    const SequenceSource source = [&](Index n, RandomStream& s) { return data.draw(n, s); };
    const auto stop = [&] { return piece.stop.stop_requested(); };
    StreamAddress address{.seed = piece.seed, .point = piece.stream_point, .replicate = replicate};

    Point point = factored_point();
    Series excess{"excess_loss", {}, "step", {}, {}};
    Series error{"coupling_error", {}, "step", {}, {}};
    Series spread{
        "start_spread", {}, "step", {static_cast<double>(factored_.starts.trial_steps)}, {}};
    networks::TrainingResult end{};
    if (piece.point == 0) {
      const ChosenStart chosen = choose_start(model.sites(),
                                              model.colours(),
                                              factored_.starts,
                                              factored_.training,
                                              source,
                                              address,
                                              stop);
      spread.y = {chosen.spread};
      end = train_factored(
          chosen.start,
          factored_.training,
          source,
          address,
          [&](std::uint64_t step, const FactoredAttention& student) {
            excess.x.push_back(static_cast<double>(step));
            excess.y.push_back(test(student));
            error.y.push_back(coupling_error(model, student));
          },
          stop);
      error.x = excess.x;
    } else {
      const std::int64_t layers = layers_[piece.point - 1];
      point = transformer_point(layers);
      TransformerTraining plan = transformer_;
      plan.shape.layers = static_cast<int>(layers);
      end = train_transformer(
          plan,
          source,
          test,
          address,
          [&](std::uint64_t step, double value) {
            excess.x.push_back(static_cast<double>(step));
            excess.y.push_back(value);
          },
          stop);
    }
    excess.point = error.point = spread.point = point;
    Series total = excess;
    total.name = "test_loss";
    for (double& y : total.y) y += test.bayes_loss();
    Outcome outcome{.series = {std::move(excess), std::move(total)}};
    // Without couplings to find, the error is undefined and left out.
    if (!error.y.empty() && std::isfinite(error.y.front())) {
      outcome.series.push_back(std::move(error));
    }
    if (piece.point == 0 && factored_.starts.count > 1) outcome.series.push_back(std::move(spread));
    mark_end(outcome, end);
    return outcome;
  }

  PottsFamily family_;
  GibbsPoolOptions data_;
  std::vector<std::int64_t> layers_;
  std::uint64_t replicates_;
  Index test_sequences_;
  FactoredPlan factored_;
  TransformerTraining transformer_;
};

std::unique_ptr<Experiment> make(Configuration& c) {
  PottsFamily family = PottsFamily::from(c);
  return std::make_unique<Loss>(std::move(family), c);
}

Figure figure(const Configuration& c) {
  const Axis step{.label = "step", .scale = AxisScale::log};
  Panel excess{.x = step,
               .y = {.label = "excess loss {/:Italic ε} − {/:Italic ε}_{opt} (nats)",
                     .scale = AxisScale::log},
               .layers = {{.series = "excess_loss",
                           .label = "factored attention",
                           .theory = false,
                           .only = factored_point()}},
               .x_name = "step"};
  for (const std::int64_t layers : c.integers("sim.layers")) {
    excess.layers.push_back(
        {.series = "excess_loss",
         .label = fmt::format("transformer, {} layer{}", layers, layers == 1 ? "" : "s"),
         .theory = false,
         .only = transformer_point(layers)});
  }
  return {.name = "potts-loss",
          .panels = {excess},
          .columns = 1,
          .caption = fmt::format(
              "Masked modelling of sequences of a Potts model: divergence of the learnt "
              "conditionals from the true ones against training steps, for factored attention and "
              "transformers with {} head{} per layer. 0 is the Bayes loss; the last drop is the "
              "cosine decay of the learning rate. Mean and standard "
              "error over realisations of the couplings.",
              c.integer("sim.heads"),
              c.integer("sim.heads") == 1 ? "" : "s")};
}

std::vector<AgreementRule> agreement(const Configuration&) { return {}; }

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  constexpr double kSmall = 0.01;
  constexpr double kTimes = 10;
  const auto factored = last_values(observed, "excess_loss", factored_point());
  const auto compare =
      [](const std::vector<double>& a, const std::vector<double>& b, double times) {
        std::vector<bool> holds;
        for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k)
          holds.push_back(a[k] > times * b[k]);
        return holds;
      };
  const auto listed = [](const std::vector<double>& values) {
    std::string text;
    for (const double v : values) text += fmt::format("{}{:.3g}", text.empty() ? "" : ", ", v);
    return text;
  };
  std::vector<bool> small;
  for (const double value : factored) small.push_back(value < kSmall);
  std::vector<ClaimResult> results{
      claim_in_every("factored-reaches-the-bayes-loss",
                     fmt::format("excess loss of factored attention < {} nats at the end", kSmall),
                     small,
                     "found " + listed(factored))};
  // At sizes that a short run does not finish only the first claim is made.
  if (c.text("sim.claims") == "factored") return results;
  const auto one = last_values(observed, "excess_loss", transformer_point(1));
  const auto two = last_values(observed, "excess_loss", transformer_point(2));
  if (!one.empty()) {
    results.push_back(claim_in_every(
        "one-layer-falls-short",
        fmt::format("one layer of the transformer ends above {} times factored attention", kTimes),
        compare(one, factored, kTimes),
        "one layer: " + listed(one)));
  }
  if (!one.empty() && !two.empty()) {
    results.push_back(claim_in_every("two-layers-below-one",
                                     "two layers end below one",
                                     compare(one, two, 1),
                                     "two layers: " + listed(two)));
  }
  return results;
}

std::vector<Parameter> parameters() {
  std::vector<Parameter> all = potts_model_parameters({.sites = 8,
                                                       .colours = 4,
                                                       .beta = 1.5,
                                                       .couplings = "gauss",
                                                       .colour_couplings = "gauss",
                                                       .zero_sum = true,
                                                       .least_learnable = 0.2});
  const std::vector<Parameter> own = {
      integers_parameter(
          "sim.layers", List{1, 2}, "transformers: numbers of layers", {.low = 1, .high = 100}),
      integer_parameter("sim.heads",
                        1,
                        "transformers: heads per layer; counts as much as depth",
                        {.low = 1, .high = 64}),
      integer_parameter("sim.width", 32, "transformers: width D", {.low = 1, .high = 4096}),
      word_parameter("sim.variant",
                     "minimal",
                     "transformers: minimal has attention only; full adds an MLP of width 4 D and "
                     "LayerNorm",
                     {"minimal", "full"}),
      real_parameter("sim.eta_transformer",
                     3e-3,
                     "transformers: learning rate of Adam (gradients clipped at norm 1)",
                     kPositive),
      integer_parameter("sim.test_sequences",
                        1024,
                        "sequences on which the divergence is averaged, over all their sites",
                        {.low = 1, .high = 1e7}),
      word_parameter(
          "sim.claims",
          "all",
          "which claims are made: all, or only that factored attention reaches the optimum",
          {"all", "factored"}),
      replicates_parameter(3, "realisations of the couplings, each with its own data and start"),
  };
  for (Parameter& p : factored_plan_parameters(9000, "sim.eta_factored"))
    all.push_back(std::move(p));
  all.insert(all.end(), own.begin(), own.end());
  for (Parameter& p : gibbs_pool_parameters()) all.push_back(std::move(p));
  return all;
}

}  // namespace

Study potts_loss() {
  return {
      .name = "potts-loss",
      .question =
          "Does attention learn the conditionals of a Potts model, and how many layers does "
          "that take?",
      .neglects = "nothing: the Bayes loss is exact, and the claims are inequalities",
      .parameters = parameters(),
      .series = {{"excess_loss",
                  "ε - ε_opt",
                  "divergence of the learnt conditionals from the true ones, nats per masked site"},
                 {"test_loss", "ε", "cross-entropy per masked site, nats"},
                 {"bayes_loss",
                  "ε_opt",
                  "entropy of the true conditionals, nats per site (theory)"},
                 {"coupling_error",
                  "ε_W",
                  "squared error of the learnt couplings over their square, gauge removed"},
                 {"start_spread",
                  "Δε",
                  "highest minus lowest loss of the starts after their trial, nats"}},
      .presets = {{"quick", "the defaults: L = 8, C = 4, 1 and 2 layers, 9000 steps", {}},
                  {"paper",
                   "L = 20, C = 20, width 64; the transformers are not converged",
                   {{"model.sites", 20},
                    {"model.colours", 20},
                    {"model.least_learnable", 0.0},
                    {"sim.burn_in", 4000},
                    {"sim.width", 64},
                    {"sim.eta_factored", 2.0},
                    {"sim.claims", "factored"}}}},
      .sources = {potts_source("factored attention has the conditionals of the Potts model; excess "
                               "loss of one layer and of transformers")},
      .make = make,
      .figure = figure,
      .agreement = agreement,
      .claims = claims,
  };
}

}  // namespace attica
