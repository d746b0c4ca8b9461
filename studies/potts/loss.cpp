/// @file
/// @brief Study potts-loss: excess loss against training steps, factored attention and ordinary
/// transformers on the same Potts sequences.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "attica/core/potts/conditional_entropy.hpp"
#include "attica/sim/potts/transformer.hpp"
#include "attica/studies/potts/model.hpp"
#include "attica/studies/training_end.hpp"
#include "attica/theory/potts/blind_attention.hpp"
#include "attica/theory/potts/factored_flow.hpp"

namespace attica::potts_loss {
namespace {

using Eigen::Index;

/// What is trained on a realisation of the couplings.
struct Trained {
  Point name;
  std::string label;
  std::int64_t layers = 0;  ///< of a transformer; 0: factored attention
  bool blind = false;       ///< to positions
};

const Trained kFactored{.name = {{"model", "factored"}}, .label = "factored attention"};
const Trained kBlind{.name = {{"model", "blind"}},
                     .label = "one layer blind to positions",
                     .layers = 1,
                     .blind = true};

Trained transformer(std::int64_t layers) {
  return {.name = {{"model", "transformer"}, {"layers", static_cast<double>(layers)}},
          .label = fmt::format("transformer, {} layer{}", layers, layers == 1 ? "" : "s"),
          .layers = layers};
}

std::vector<Trained> trained(const Configuration& c) {
  std::vector<Trained> all{kFactored, kBlind};
  for (const std::int64_t layers : c.integers("sim.layers")) all.push_back(transformer(layers));
  return all;
}

Point on(std::int64_t realisation, const Trained& network) {
  Point point = network.name;
  point.emplace_back("realisation", static_cast<double>(realisation));
  return point;
}

class Loss : public PointwiseExperiment {
 public:
  explicit Loss(Configuration& c)
      : family_(c),
        data_(gibbs_pool_options(c)),
        trained_(trained(c)),
        test_sequences_(c.integer("sim.test_sequences")),
        factored_(c, "sim.eta_factored", 14) {
    if (!family_.random() && !c.given("sim.realisations")) {
      c.set("sim.realisations", std::int64_t{1}, false);
    }
    realisations_ = c.integer("sim.realisations");
    require(family_.random() || realisations_ == 1,
            "sim.realisations",
            static_cast<double>(realisations_),
            "1 for a model that is not drawn");
    transformer_ = {
        .shape = masked_transformer(
            c.integer("model.sites"), c.integer("model.colours"), 1, c.integer<int>("sim.width")),
        .optimiser = {.kind = networks::OptimiserKind::adam,
                      .learning_rate = c.real("sim.eta_transformer"),
                      .clip_norm = 1,
                      .schedule = factored_.training.optimiser.schedule},
        .batch = c.integer("sim.batch"),
        .recorded = factored_.training.recorded};
    transformer_.shape.heads = c.integer<int>("sim.heads");
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
    List log_partitions;
    std::int64_t rejected = 0;
    for (std::int64_t r = 0; r < realisations_; ++r) {
      PottsFamily::Realisation drawn = family_.realise(static_cast<std::uint64_t>(r));
      rejected += drawn.rejected_draws;
      if (grid == TheoryGrid::run && potts_states(drawn.model) > static_cast<double>(kMostStates)) {
        result.warnings.emplace_back("too many states to enumerate: no best losses");
        return result;
      }
      const PottsEnumeration all =
          drawn.enumeration ? std::move(*drawn.enumeration) : enumerate(drawn.model);
      const double bayes = mean_conditional_entropy(all.states, family_.colours());
      const Point here = {{"realisation", static_cast<double>(r)}};
      add_constant(result, "bayes_loss", bayes, here);
      add_constant(result, "marginal_loss", marginal_loss(all.states, family_.colours()), here);
      for (const Trained& network : trained_) {
        const std::optional<PredictedValue> best =
            best_loss(network, drawn.model, all.states, bayes, result);
        if (best) add_constant(result, "end_loss", *best, on(r, network));
        if (network.blind) add_constant(result, "mask_evenness", even_masks(), on(r, network));
      }
      log_partitions.emplace_back(all.log_partition);
    }
    result.diagnostics = {
        {"log_partition",
         family_.random() ? Value(std::move(log_partitions)) : log_partitions.front()}};
    tell_rejected(rejected, result);
    return result;
  }

  std::vector<std::string> warnings() const override {
    if (family_.random() || has_couplings(family_.model(0))) return {};
    return {"the model has no couplings: their error is undefined and left out"};
  }

  std::size_t points() const override {
    return static_cast<std::size_t>(realisations_) * trained_.size();
  }

 protected:
  Outcome run(const Replicate& replicate) const override {
    const std::size_t realisation = replicate.point() / trained_.size();
    const Trained& network = trained_[replicate.point() % trained_.size()];
    const PottsModel model = family_.model(realisation);
    // Data and test sequences are those of the realisation, whatever is trained on them.
    StreamAddress shared{
        .seed = replicate.piece.seed, .point = realisation, .replicate = replicate.number};
    const PottsData data(model, data_, shared);
    shared.id = StreamId::test_data;
    RandomStream test_stream(shared);
    // No more states than test sequences: all of them, and no error of sampling.
    const ExcessLoss test(model,
                          potts_states(model) <= static_cast<double>(test_sequences_)
                              ? enumerate(model).states
                              : equally_weighted(data.draw(test_sequences_, test_stream)));
    const SequenceSource source = [&](Index n, RandomStream& s) { return data.draw(n, s); };
    const auto stop = [&] { return replicate.stopped(); };

    const Point point = on(static_cast<std::int64_t>(realisation), network);
    Curves losses(point, "step", {"excess_loss", "test_loss"});
    Curves errors(point, "step", {"coupling_error"});
    std::optional<double> last;
    const auto record = [&](std::uint64_t step, double excess) {
      losses.add(static_cast<double>(step), {excess, excess + test.bayes_loss()});
      if (step == steps()) last = excess + test.bayes_loss();
    };
    std::optional<double> evenness;
    ChosenStart chosen;
    networks::TrainingResult end{};
    if (network.layers == 0) {
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
      plan.shape.layers = static_cast<int>(network.layers);
      if (network.blind) {
        // From scores near 0 training comes to rest where all colours weigh the same.
        constexpr double kWide = 0.2;
        plan.shape.position = networks::PositionCode::none;
        plan.deviation = kWide;
      }
      end = train_transformer(
          plan, source, test, replicate.address(), record, stop, replicate.state_file());
      if (network.blind) evenness = evenness_of_masks(plan, replicate.address());
    }
    Outcome outcome;
    mark_end(outcome, end);
    if (losses.empty()) return outcome;  // stopped or diverged before the first record
    losses.into(outcome);
    if (last && known(network, model)) add_constant(outcome, "end_loss", *last, point);
    if (evenness) add_constant(outcome, "mask_evenness", *evenness, point);
    if (!errors.empty()) errors.into(outcome);
    if (network.layers == 0) add_start_spread(chosen, factored_.starts, point, outcome);
    return outcome;
  }

 private:
  std::uint64_t steps() const { return factored_.training.recorded.back(); }

  /// L Σ_i f_i² of the shares f_i in which a training masks its sites: 1 if they are equal.
  double evenness_of_masks(const TransformerTraining& plan, const StreamAddress& address) const {
    Eigen::ArrayXd counts = Eigen::ArrayXd::Zero(family_.sites());
    for (std::uint64_t step = 0; step < steps(); ++step) {
      for (const Index site : masked_sites(plan, address, step)) counts[site] += 1;
    }
    return static_cast<double>(counts.size()) * (counts / counts.sum()).square().sum();
  }

  /// The mean of that over independent masks.
  double even_masks() const {
    const auto masks = static_cast<double>(transformer_.batch) * static_cast<double>(steps());
    return 1 + static_cast<double>(family_.sites() - 1) / masks;
  }

  /// Without couplings to find, their error is undefined.
  static bool has_couplings(const PottsModel& model) {
    return std::isfinite(coupling_error(model, model.as_student()));
  }

  /// Whether it is known what the network can represent, and what the best of that is.
  bool known(const Trained& network, const PottsModel& model) const {
    if (network.layers == 0) return true;
    const networks::TransformerShape& shape = transformer_.shape;
    const Index vectors = model.colours() + 1 + (network.blind ? 0 : model.sites());
    const Index head = network.blind ? model.colours() : std::max(model.sites(), model.colours());
    return shape.mlp_width == 0 && shape.width >= vectors && shape.width / shape.heads >= head &&
           (network.blind || one_sign(model));
  }

  /// The smallest loss that the network can have on the population, where it is known.
  std::optional<PredictedValue> best_loss(const Trained& network,
                                          const PottsModel& model,
                                          const WeightedSequences& states,
                                          double bayes,
                                          TheoryResult& result) const {
    if (network.layers == 0) {
      return PredictedValue{bayes, left(factored_tail(model, states).trace)};
    }
    if (!known(network, model)) return {};
    // Training with positions is slow: its end is shown, not compared.
    if (!network.blind) return PredictedValue{bayes, 0, false};
    const BlindAttention layer(states, model.colours(), transformer_.shape.heads);
    const BlindOptimum best = best_blind_attention(layer);
    // To a minimum that few starts find, or that lies far away, training need not come.
    constexpr double kFar = 2e-4;
    const bool compared = 2 * best.agreeing >= best.starts && best.reach <= kFar;
    if (!compared) {
      result.warnings.push_back(fmt::format(
          "attention blind to positions: {} of {} starts of the minimisation come to the "
          "smallest loss, {:.6g}, and moderate parameters to {:.2g} nats above it: not "
          "compared",
          best.agreeing,
          best.starts,
          best.loss,
          best.reach));
    }
    return PredictedValue{best.loss, left(static_cast<double>(layer.parameters())), compared};
  }

  /// What a rate that falls to 0 leaves: the last part of a training averages as an estimate from
  /// its sequences does, tr(H^+ K)/2M above the minimum, one for every parameter where the model is
  /// right. An eighth of the steps is counted.
  double left(double trace) const {
    const networks::Schedule& schedule = factored_.training.optimiser.schedule;
    return trace / (2 * static_cast<double>(factored_.training.batch) *
                    static_cast<double>(schedule.length) / 8);
  }

  PottsFamily family_;
  GibbsPoolOptions data_;
  std::vector<Trained> trained_;
  std::int64_t realisations_ = 1;
  Index test_sequences_;
  FactoredPlan factored_;
  TransformerTraining transformer_;
};

Figure figure(const Configuration& c) {
  const Axis step{.label = "step", .scale = AxisScale::log};
  Panel excess{.x = step,
               .y = {.label = "excess loss {/:Italic ε} − {/:Italic ε}_{opt} (nats)",
                     .scale = AxisScale::log},
               .layers = {},
               .x_name = "step"};
  Panel loss{.x = step, .y = {.label = "loss {/:Italic ε} (nats)"}, .layers = {}, .x_name = "step"};
  for (const Trained& network : trained(c)) {
    excess.layers.push_back(
        {.series = "excess_loss", .label = network.label, .theory = false, .only = on(0, network)});
    loss.layers.push_back(
        {.series = "test_loss", .label = network.label, .theory = false, .only = on(0, network)});
  }
  for (const Trained& network : trained(c)) {
    loss.layers.push_back({.series = "end_loss",
                           .label = "smallest loss, " + network.label,
                           .simulation = false,
                           .reference = true,
                           .only = on(0, network)});
  }
  return {.name = "potts-loss",
          .panels = {excess, loss},
          .columns = 2,
          .caption = fmt::format(
              "Masked modelling of sequences of a Potts model: divergence of the learnt "
              "conditionals from the true ones, and loss, against training steps, for factored "
              "attention and transformers with {} head{} per layer. 0 is the Bayes loss; the last "
              "drop is the cosine decay of the learning rate. Dashed: the smallest loss that a "
              "network can represent, where it is known. Mean and standard error over trainings on "
              "the first realisation of the couplings.",
              c.integer("sim.heads"),
              c.integer("sim.heads") == 1 ? "" : "s")};
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  constexpr double kSmall = 0.01;
  constexpr double kTimes = 10;
  constexpr double kShare = 0.1;
  const std::int64_t realisations = c.integer("sim.realisations");
  const auto ends = [&](const Trained& network) {
    std::vector<double> all;
    for (std::int64_t r = 0; r < realisations; ++r) {
      const std::vector<double> some = observed.last("excess_loss", on(r, network));
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  };
  // For every run with both: the first network ends above `times` the second.
  const auto above = [&](const Trained& first, const Trained& second, double times) {
    ByReplicate<std::array<double, 2>> both;
    for (std::int64_t r = 0; r < realisations; ++r) {
      both.append(
          by_replicate(observed, {{"excess_loss", on(r, first)}, {"excess_loss", on(r, second)}}));
    }
    return both.where([&](double a, double b) { return a > times * b; });
  };
  const auto range = [](const std::vector<double>& values) {
    return values.empty()
               ? std::string("nothing")
               : fmt::format(
                     "{:.3g} to {:.3g}", std::ranges::min(values), std::ranges::max(values));
  };
  const std::vector<double> factored = ends(kFactored);
  std::vector<ClaimResult> results{
      claim_rate("factored-reaches-the-bayes-loss",
                 fmt::format("excess loss of factored attention < {} nats at the end", kSmall),
                 by_replicate(factored).where([](double loss) { return loss < kSmall; }),
                 "found " + range(factored),
                 kHalf)};
  // At sizes that a short run does not finish only the first claim is made.
  if (c.text("sim.claims") == "factored") return results;
  const std::vector<double> one = ends(transformer(1));
  const std::vector<double> two = ends(transformer(2));
  if (one.empty()) return results;
  results.push_back(claim_rate(
      "one-layer-falls-short",
      fmt::format("one layer of the transformer ends above {} times factored attention", kTimes),
      above(transformer(1), kFactored, kTimes),
      "one layer: " + range(one),
      kHalf));
  // Beside what other sites teach, which is known where states are enumerated.
  std::vector<bool> misses;
  for (std::int64_t r = 0; r < realisations; ++r) {
    const Point here = {{"realisation", static_cast<double>(r)}};
    const auto apart = observed.predicted("marginal_loss", here);
    const auto best = observed.predicted("bayes_loss", here);
    if (!apart || !best) continue;
    append(
        misses,
        by_replicate(observed.last("excess_loss", on(r, transformer(1)))).where([&](double excess) {
          return excess > kShare * (*apart - *best);
        }));
  }
  if (!misses.empty()) {
    results.push_back(
        claim_rate("one-layer-misses-a-tenth",
                   "one layer of the transformer misses a tenth of what other sites teach, the "
                   "entropy of the marginals less that of the conditionals",
                   misses,
                   "one layer: " + range(one),
                   kHalf));
  }
  if (two.empty()) return results;
  results.push_back(claim_rate("two-layers-below-one",
                               "two layers end below one",
                               above(transformer(1), transformer(2), 1),
                               "two layers: " + range(two),
                               kHalf));
  return results;
}

}  // namespace

Study study() {
  return described({.name = "potts-loss", .make = make<Loss>, .figure = figure, .claims = claims});
}

}  // namespace attica::potts_loss
