/// @file
/// @brief Study potts-loss: excess loss against training steps, factored attention and ordinary
/// transformers on the same Potts sequences.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "attica/core/potts/conditional_entropy.hpp"
#include "attica/sim/potts/transformer.hpp"
#include "attica/studies/potts/model.hpp"
#include "attica/studies/training_end.hpp"

namespace attica::potts_loss {
namespace {

using Eigen::Index;

Point factored_point() { return {{"model", "factored"}}; }
Point transformer_point(std::int64_t layers) {
  return {{"model", "transformer"}, {"layers", static_cast<double>(layers)}};
}

class Loss : public PointwiseExperiment {
 public:
  explicit Loss(Configuration& c)
      : family_(c),
        data_(gibbs_pool_options(c)),
        layers_(c.integers("sim.layers")),
        replicates_(static_cast<std::uint64_t>(c.integer("sim.replicates"))),
        test_sequences_(c.integer("sim.test_sequences")),
        factored_(c, "sim.eta_factored", 14) {
    transformer_ = {.shape = masked_transformer(c.integer("model.sites"),
                                                c.integer("model.colours"),
                                                1,
                                                static_cast<int>(c.integer("sim.width"))),
                    .optimiser = {.kind = networks::OptimiserKind::adam,
                                  .learning_rate = c.real("sim.eta_transformer"),
                                  .clip_norm = 1,
                                  .schedule = factored_.training.optimiser.schedule},
                    .batch = c.integer("sim.batch"),
                    .recorded = factored_.training.recorded};
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
    if (grid == TheoryGrid::requested) (void)family_.enumerable();
    TheoryResult result;
    const std::uint64_t realisations = family_.random() ? replicates_ : 1;
    List log_partitions;
    std::int64_t rejected = 0;
    for (std::uint64_t r = 0; r < realisations; ++r) {
      PottsFamily::Realisation drawn = family_.realise(r);
      rejected += drawn.rejected_draws;
      if (grid == TheoryGrid::run && potts_states(drawn.model) > static_cast<double>(kMostStates)) {
        result.warnings.emplace_back("too many states to enumerate: no Bayes loss");
        return result;
      }
      const PottsEnumeration all =
          drawn.enumeration ? std::move(*drawn.enumeration) : enumerate(drawn.model);
      Point point;
      if (family_.random()) point = {{"realisation", static_cast<double>(r)}};
      add_constant(
          result, "bayes_loss", mean_conditional_entropy(all.states, family_.colours()), point);
      log_partitions.emplace_back(all.log_partition);
    }
    result.diagnostics.emplace_back(
        "log_partition",
        family_.random() ? Value(std::move(log_partitions)) : log_partitions.front());
    result.diagnostics.emplace_back("rejected_draws", rejected);
    return result;
  }

  std::vector<std::string> warnings() const override {
    if (family_.random() || has_couplings(family_.model(0))) return {};
    return {"the model has no couplings: their error is undefined and left out"};
  }

  std::size_t points() const override { return 1 + layers_.size(); }

 protected:
  Outcome run(const Replicate& replicate) const override {
    const PottsModel model = family_.model(replicate.number);
    // Data and test sequences are those of the realisation, whatever is trained on them.
    StreamAddress shared{.seed = replicate.piece.seed, .replicate = replicate.number};
    const PottsData data(model, data_, shared);
    shared.id = StreamId::test_data;
    RandomStream test_stream(shared);
    const ExcessLoss test(model, equally_weighted(data.draw(test_sequences_, test_stream)));
    const SequenceSource source = [&](Index n, RandomStream& s) { return data.draw(n, s); };
    const auto stop = [&] { return replicate.stopped(); };

    const bool is_factored = replicate.point() == 0;
    const std::int64_t layers = is_factored ? 0 : layers_[replicate.point() - 1];
    const Point point = is_factored ? factored_point() : transformer_point(layers);
    Curves losses(point, "step", {"excess_loss", "test_loss"});
    Curves errors(point, "step", {"coupling_error"});
    const auto record = [&](std::uint64_t step, double excess) {
      losses.add(static_cast<double>(step), {excess, excess + test.bayes_loss()});
    };
    ChosenStart chosen;
    networks::TrainingResult end{};
    if (is_factored) {
      chosen = choose_start(model.sites(),
                            model.colours(),
                            factored_.starts,
                            factored_.training,
                            source,
                            replicate.address(),
                            stop);
      if (replicate.stopped()) return {};  // the choice may have been cut short: no state of it
      end = train_factored(
          chosen.start,
          factored_.training,
          source,
          replicate.address(),
          [&](std::uint64_t step, const FactoredAttention& student) {
            record(step, test(student));
            if (!has_couplings(model)) return;
            errors.add(static_cast<double>(step), {coupling_error(model, student)});
          },
          stop,
          replicate.state_file());
    } else {
      TransformerTraining plan = transformer_;
      plan.shape.layers = static_cast<int>(layers);
      end = train_transformer(
          plan, source, test, replicate.address(), record, stop, replicate.state_file());
    }
    Outcome outcome;
    mark_end(outcome, end);
    if (losses.empty()) return outcome;  // stopped or diverged before the first record
    losses.into(outcome);
    if (!errors.empty()) errors.into(outcome);
    if (is_factored) add_start_spread(chosen, factored_.starts, point, outcome);
    return outcome;
  }

 private:
  /// Without couplings to find, their error is undefined.
  static bool has_couplings(const PottsModel& model) {
    return std::isfinite(coupling_error(model, model.as_student()));
  }

  PottsFamily family_;
  GibbsPoolOptions data_;
  std::vector<std::int64_t> layers_;
  std::uint64_t replicates_;
  Index test_sequences_;
  FactoredPlan factored_;
  TransformerTraining transformer_;
};

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
              "cosine decay of the learning rate. Mean and standard error over realisations of "
              "the couplings.",
              c.integer("sim.heads"),
              c.integer("sim.heads") == 1 ? "" : "s")};
}

std::vector<AgreementRule> agreement(const Configuration&) { return {}; }

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  constexpr double kSmall = 0.01;
  constexpr double kTimes = 10;
  const auto last = [&](const Point& point) { return observed.last("excess_loss", point); };
  // For every run with both: the first network ends above `times` the second.
  const auto above = [&](const Point& first, const Point& second, double times) {
    std::vector<bool> holds;
    for (const auto& [a, b] : last_of_both(observed, "excess_loss", first, "excess_loss", second))
      holds.push_back(a > times * b);
    return holds;
  };
  const std::vector<double> factored = last(factored_point());
  std::vector<bool> small;
  for (const double loss : factored) small.push_back(loss < kSmall);
  std::vector<ClaimResult> results{
      claim_rate("factored-reaches-the-bayes-loss",
                 fmt::format("excess loss of factored attention < {} nats at the end", kSmall),
                 small,
                 fmt::format("found {:.3g}", fmt::join(factored, ", ")),
                 kHalf)};
  // At sizes that a short run does not finish only the first claim is made.
  if (c.text("sim.claims") == "factored") return results;
  const std::vector<double> one = last(transformer_point(1));
  const std::vector<double> two = last(transformer_point(2));
  if (one.empty()) return results;
  results.push_back(claim_rate(
      "one-layer-falls-short",
      fmt::format("one layer of the transformer ends above {} times factored attention", kTimes),
      above(transformer_point(1), factored_point(), kTimes),
      fmt::format("one layer: {:.3g}", fmt::join(one, ", ")),
      kHalf));
  if (two.empty()) return results;
  results.push_back(claim_rate("two-layers-below-one",
                               "two layers end below one",
                               above(transformer_point(1), transformer_point(2), 1),
                               fmt::format("two layers: {:.3g}", fmt::join(two, ", ")),
                               kHalf));
  return results;
}

}  // namespace

Study study() {
  return {
      .name = "potts-loss",
      .question =
          "Does attention learn the conditionals of a Potts model, and how many layers does "
          "that take?",
      .neglects = "nothing: the Bayes loss is exact, and the claims are inequalities",
      .parameters = together(
          {potts_model_parameters(PottsDefaults::gaussian(8, 4, 1.5, 0.2)),
           factored_plan_parameters(9000, "sim.eta_factored"),
           {integers_parameter("sim.layers",
                               List{1, 2},
                               "transformers: numbers of layers",
                               {.low = 1, .high = 100}),
            integer_parameter("sim.heads",
                              1,
                              "transformers: heads per layer; counts as much as depth",
                              {.low = 1, .high = 64}),
            integer_parameter("sim.width", 32, "transformers: width D", {.low = 1, .high = 4096}),
            word_parameter(
                "sim.variant",
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
            replicates_parameter(
                5, "realisations of the couplings, each with its own data and start")},
           gibbs_pool_parameters()}),
      .series = {kExcessLoss,
                 {"test_loss", "ε", "cross-entropy per masked site, nats"},
                 {"bayes_loss",
                  "ε_opt",
                  "entropy of the true conditionals, nats per site (theory)"},
                 kCouplingError,
                 kStartSpread},
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
      .make = make<Loss>,
      .figure = figure,
      .agreement = agreement,
      .claims = claims,
      .renamed = {{"sim.steps", "sim.length"}},
      .diagnostic = {"test_loss", "bayes_loss", "coupling_error", "start_spread"}};
}

}  // namespace attica::potts_loss
