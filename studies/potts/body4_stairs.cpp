/// @file
/// @brief Study body4-stairs: the loss of deep factored networks on four-body data falls in stairs,
/// one for every order of interaction.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "attica/studies/potts/body.hpp"
#include "attica/studies/potts/deep_descent.hpp"
#include "attica/studies/potts/model.hpp"
#include "attica/theory/potts/deep_population.hpp"

namespace attica::body4_stairs {
namespace {

/// Of Adam, for transformers.
constexpr double kSoftmaxRate = 0.003;
constexpr int kWidth = 24;
constexpr int kHeads = 1;
const std::vector<double> kInitialScale = {0.04, 0.2, 0.2};

bool is_softmax(const Configuration& c) { return c.text("sim.network") == "transformer"; }

TransformerTraining transformer_training(const Configuration& c, int layers) {
  const auto heads = c.integer<int>("sim.heads");
  const auto width = c.integer<int>("sim.width");
  require(width % heads == 0, "sim.heads", heads, "a divisor of sim.width");
  DeepFactoredTraining same = body_training(c, 1);
  TransformerTraining plan{.shape = masked_transformer(
                               c.integer("model.sites"), c.integer("model.colours"), layers, width),
                           .optimiser = same.optimiser,
                           .batch = same.batch,
                           .recorded = std::move(same.recorded)};
  plan.shape.heads = heads;
  networks::validate(plan.shape);
  return plan;
}

/// Of the starts that a seed draws the one where the population's loss is steepest: next to a
/// saddle runs leave at times that scatter.
DeepLayers steepest_start(const BodyModel& model,
                          const DeepFactoredTraining& training,
                          std::uint64_t seed) {
  constexpr std::uint64_t kDrawn = 8;
  const DeepPopulation population(MaskedPopulation::enumerated(model, enumerate(model)),
                                  model.colours(),
                                  training.shape.layers,
                                  training.shape.residual);
  DeepLayers steepest;
  double longest = -1;
  for (std::uint64_t k = 0; k < kDrawn; ++k) {
    DeepLayers start =
        random_layers(training.shape, training.initial_scale, {.seed = seed, .point = k});
    Eigen::VectorXd losses, gradient;
    population.pass(packed_layers(start), losses, &population.weights(), &gradient);
    if (gradient.norm() <= longest) continue;
    longest = gradient.norm();
    steepest = std::move(start);
  }
  return steepest;
}

class Stairs : public PointwiseExperiment {
 public:
  explicit Stairs(Configuration& c)
      : softmax_(is_softmax(c)),
        problem_(softmax_ ? with_softmax_defaults(c) : c),
        layers_(c.integers("sim.layers")),
        starts_(c.integer<std::size_t>("sim.starts")),
        samples_(static_cast<double>(c.integer("sim.samples"))),
        descent_(c),
        alike_(!softmax_ && problem_.model().common_strength().has_value()),
        early_([this, seed = c.seed()] {
          std::vector<DeepFactoredTraining> early = first_steps_;
          for (DeepFactoredTraining& training : early) {
            training.start = steepest_start(problem_.model(), training, seed);
          }
          return early;
        }) {
    rounded_ = {problem_.density()};
    const auto only_for = [](const char* network, const char* key, bool left_alone) {
      if (left_alone) return;
      throw Error(ErrorKind::input,
                  fmt::format("parameter '{}' needs sim.network = \"{}\"", key, network),
                  key);
    };
    only_for("transformer", "sim.width", softmax_ || c.integer("sim.width") == kWidth);
    only_for("transformer", "sim.heads", softmax_ || c.integer("sim.heads") == kHeads);
    only_for("factored", "sim.residual", !softmax_ || c.flag("sim.residual"));
    only_for("factored",
             "sim.initial_scale",
             !softmax_ || c.reals("sim.initial_scale") == kInitialScale);
    if (softmax_) {
      require(few_states(c.integer("model.sites"), c.integer("model.colours")),
              "model.sites",
              static_cast<double>(c.integer("model.sites")),
              "for transformers at most 2^16 states, over which their loss is taken");
      require(samples_ == 0, "sim.samples", samples_, "0 for transformers");
    }
    for (const std::int64_t layers : layers_) {
      const auto depth = static_cast<int>(layers);
      if (softmax_) {
        transformers_.push_back(transformer_training(c, depth));
      } else {
        factored_.push_back(body_training(c, depth));
      }
    }
    if (!softmax_) set_early(c);
  }

  TheoryResult theory(TheoryGrid /*grid*/) const override {
    TheoryResult result = problem_.theory();
    if (!no_theory_.empty()) result.warnings.push_back("no theory of the times: " + no_theory_);
    for (const DeepFactoredTraining& training : early_.get()) {
      descent_.add(problem_.model(), training, early_curves(training), result);
    }
    if (!alike_) return result;
    for (const Prediction& p : result.predictions) {
      if (p.series.name == "plateau" && p.series.point == Point{{"order", 2.0}}) {
        // Stored sequences cost a fit half a nat a parameter, twice that where a pair is seen from
        // both its ends; as much again since pairs are not all there is. 0.7 of it was seen.
        const DeepFactoredShape& shape = factored_.front().shape;
        const auto parameters =
            static_cast<double>(shape.sites * (shape.sites - 1) + shape.colours * shape.colours);
        const double fit =
            samples_ > 0 ? 2 * parameters / (samples_ * static_cast<double>(shape.sites)) : 0;
        const double pairs = p.series.y.front();
        for (std::size_t k = 0; k < starts_; ++k)
          add_constant(result, "end_loss", PredictedValue(pairs, fit), one_layer(k));
        break;
      }
    }
    return result;
  }

  /// Trainings to the end, then those of the first steps.
  std::size_t points() const override { return layers_.size() * starts_ + first_steps_.size(); }

 protected:
  Outcome run(const Replicate& replicate) const override {
    const std::size_t depth = replicate.point() / starts_;
    const std::size_t start = replicate.point() % starts_;
    if (depth >= layers_.size()) {
      return run_early(early_.get()[replicate.point() - layers_.size() * starts_], replicate);
    }
    Curves losses(
        {{"layers", static_cast<double>(layers_[depth])}, {"start", static_cast<double>(start)}},
        "step",
        {"test_loss"});
    std::optional<double> last;
    const auto observe = [&](std::uint64_t step, double loss) {
      losses.add(static_cast<double>(step), {loss});
      if (!softmax_ && step == factored_[depth].recorded.back()) last = loss;
    };
    Outcome outcome = softmax_ ? problem_.train(transformers_[depth], replicate, observe)
                               : problem_.train(factored_[depth],
                                                replicate,
                                                [&](const DeepFactoredRecord& record, double loss) {
                                                  observe(record.step, loss);
                                                });
    if (!losses.empty()) losses.into(outcome);
    if (last && alike_ && layers_[depth] == 1) {
      add_constant(outcome, "end_loss", *last, one_layer(start));
    }
    return outcome;
  }

 private:
  /// The first steps of every depth, from one start for all replicates.
  void set_early(const Configuration& c) {
    const std::vector<std::int64_t> steps = ascending(c.integers("sim.early_steps"));
    for (DeepFactoredTraining training : factored_) {
      training.batch = c.integer("sim.early_batch");
      training.recorded = {steps.begin(), steps.end()};
      first_steps_.push_back(std::move(training));
    }
    no_theory_ = descent_.missing(problem_.model(), first_steps_.front(), first_steps_.size());
    if (!no_theory_.empty()) first_steps_.clear();
  }

  static DeepCurves early_curves(const DeepFactoredTraining& training) {
    return {
        {{"layers", static_cast<double>(training.shape.layers)}}, training.shape.layers, "loss"};
  }

  Outcome run_early(const DeepFactoredTraining& training, const Replicate& replicate) const {
    DeepCurves curves = early_curves(training);
    Outcome outcome =
        problem_.train(training, replicate, [&](const DeepFactoredRecord& record, double loss) {
          curves.add(record.step, loss, {record.displacement.begin(), record.displacement.end()});
        });
    curves.into(outcome);
    return outcome;
  }

  static Point one_layer(std::size_t start) {
    return {{"layers", 1.0}, {"start", static_cast<double>(start)}};
  }

  static Configuration& with_softmax_defaults(Configuration& c) {
    if (!c.given("sim.optimiser")) c.set("sim.optimiser", "adam", false);
    if (!c.given("sim.eta")) c.set("sim.eta", kSoftmaxRate, false);
    return c;
  }

  bool softmax_;
  BodyProblem problem_;
  std::vector<std::int64_t> layers_;
  std::size_t starts_;
  double samples_;  ///< stored sequences, or 0
  DeepDescentPlan descent_;
  /// All pairs of sites are alike: the best prediction by pairs is of the form A_ij V.
  bool alike_;
  std::vector<DeepFactoredTraining> factored_;  ///< of every depth, or
  std::vector<TransformerTraining> transformers_;
  std::vector<DeepFactoredTraining> first_steps_;  ///< of every depth, if there is a theory
  std::string no_theory_;                          ///< why there is none
  Lazy<std::vector<DeepFactoredTraining>> early_;  ///< the same with their starts
};

std::string depth_of(std::int64_t layers) {
  return fmt::format("{} layer{}", layers, layers == 1 ? "" : "s");
}

Figure figure(const Configuration& c) {
  Panel panel{.x = {.label = "step", .scale = AxisScale::log},
              .y = {.label = "loss {/:Italic ε} (nats)"},
              .layers = {{.series = "plateau",
                          .label = "order {order}",
                          .simulation = false,
                          .reference = true}},
              .x_name = "step"};
  for (const std::int64_t layers : c.integers("sim.layers")) {
    panel.layers.push_back({.series = "test_loss",
                            .label = depth_of(layers),
                            .theory = false,
                            .trajectories = true,
                            .only = {{"layers", static_cast<double>(layers)}}});
  }
  // The other starts of one layer end at the same place.
  if (!is_softmax(c)) {
    panel.layers.push_back(
        {.series = "end_loss", .label = "1 layer, end", .theory = false, .only = {{"start", 0.0}}});
  }
  Figure figure{
      .name = "body4-stairs",
      .panels = {panel},
      .columns = 1,
      .caption = fmt::format(
          "{} trained on sequences with {}-body interactions: loss against "
          "training steps, {} starts each. Dashed: the smallest losses that interactions of "
          "1, 2, ... bodies can reach, from above.",
          is_softmax(c) ? "Softmax transformers" : "Deep factored networks",
          c.integer("model.order"),
          c.integer("sim.starts"))};
  if (is_softmax(c)) return figure;
  Panel early{.x = panel.x, .y = panel.y, .layers = {panel.layers.front()}, .x_name = "step"};
  for (const std::int64_t layers : c.integers("sim.layers")) {
    early.layers.push_back({.series = "loss",
                            .label = depth_of(layers),
                            .only = {{"layers", static_cast<double>(layers)}}});
  }
  figure.panels.push_back(early);
  figure.caption += fmt::format(
      " Second panel: the first steps with batches of {} from one start; lines: descent on the "
      "population with the mean effect of batches, points: mean and standard error over runs.",
      c.integer("sim.early_batch"));
  return figure;
}

/// The logits of a softmax layer have no bounded order: only the Bayes loss is a bound. Measured at
/// the defaults of the data: docs/beyond-pairs.md.
std::vector<ClaimResult> softmax_claims(const Configuration& c, const Observed& observed) {
  constexpr double kShare = 0.1;
  std::vector<ClaimResult> results;
  const auto pairs = observed.predicted("plateau", {{"order", 2.0}});
  const auto best = observed.predicted("bayes_loss", {});
  if (!pairs || !best) return results;
  for (const std::int64_t layers : c.integers("sim.layers")) {
    std::vector<double> ends;
    bool above = true;
    for (std::int64_t start = 0; start < c.integer("sim.starts"); ++start) {
      const Point point{{"layers", static_cast<double>(layers)},
                        {"start", static_cast<double>(start)}};
      for (const std::vector<double>& path : observed.paths("test_loss", point)) {
        ends.push_back(path.back());
        above = above && std::ranges::min(path) >= *best - loss_error(c);
      }
    }
    if (ends.empty()) continue;
    const auto of_runs = by_replicate(ends);
    double mean = 0;
    for (const double end : ends) mean += end / static_cast<double>(ends.size());
    const std::string end = fmt::format("mean end {:.4f}", mean);
    const std::string who = "a transformer of " + depth_of(layers);
    results.push_back(
        claim_certain(fmt::format("bound-{}", layers),
                      fmt::format("no loss of {} is below the Bayes loss, {:.4f} nats", who, *best),
                      above,
                      end));
    results.push_back(claim_rate(
        fmt::format("beyond-pairs-{}", layers),
        fmt::format(
            "{} ends below what any pairs reach, {:.4f} nats, by a tenth of what they leave",
            who,
            *pairs),
        of_runs.where([&](double loss) { return loss < *pairs - kShare * (*pairs - *best); }),
        end,
        kHalf));
    std::vector<bool> short_of =
        of_runs.where([&](double loss) { return loss > *best + kShare * (*pairs - *best); });
    if (layers == 1) {
      results.push_back(claim_rate("one-layer-misses",
                                   who + " misses more than a tenth of what pairs leave",
                                   short_of,
                                   end,
                                   kHalf));
    } else {
      short_of.flip();
      results.push_back(claim_rate(fmt::format("reached-{}", layers),
                                   who + " misses less than a tenth of what pairs leave",
                                   short_of,
                                   end,
                                   kHalf));
    }
  }
  return results;
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  constexpr double kClose = 0.02;  // nats, and nearer than half way to the plateau above
  if (is_softmax(c)) return softmax_claims(c, observed);
  const double known = loss_error(c);
  const bool stored = c.integer("sim.samples") > 0;
  std::vector<ClaimResult> results;
  for (const std::int64_t layers : c.integers("sim.layers")) {
    // Of every training its smallest loss at any step, and of every replicate the best end; where
    // sequences are stored, and fitted too closely in the end, of every training stopped at its
    // best.
    std::vector<double> smallest;
    std::map<std::uint64_t, double> best;
    for (std::int64_t start = 0; start < c.integer("sim.starts"); ++start) {
      const Point point{{"layers", static_cast<double>(layers)},
                        {"start", static_cast<double>(start)}};
      for (const std::vector<double>& path : observed.paths("test_loss", point)) {
        smallest.push_back(std::ranges::min(path));
      }
      const ObservedCurve* curve = observed.curve("test_loss", point);
      if (curve == nullptr) continue;
      for (std::size_t k = stored ? 0 : curve->values.size() - 1; k < curve->values.size(); ++k) {
        for (std::size_t r = 0; r < curve->values[k].size(); ++r) {
          double& least = best.try_emplace(curve->replicates[k][r], INFINITY).first->second;
          least = std::min(least, curve->values[k][r]);
        }
      }
    }
    // N layers represent at most 2^(N-1) + 1 bodies; plateaus fall from order to order.
    const double most = std::exp2(static_cast<double>(layers - 1)) + 1;
    const double order = std::min(most, static_cast<double>(c.integer("model.order")));
    const auto bound = observed.predicted("plateau", {{"order", order}});
    const auto above = observed.predicted("plateau", {{"order", order - 1}});
    if (!bound || !above || best.empty()) continue;
    const double close = std::min(kClose, (*above - *bound) / 2);
    std::vector<double> ends;
    for (const auto& [replicate, loss] : best) ends.push_back(loss);
    double worst = 0;
    for (const double loss : ends) worst = std::max(worst, loss);
    results.push_back(claim_rate(
        fmt::format("bound-{}", layers),
        fmt::format(
            "{} stay above the plateau of order {}, {:.4f} nats", depth_of(layers), order, *bound),
        by_replicate(smallest).where([&](double loss) { return loss >= *bound - known; }),
        fmt::format("smallest loss at any step {:.4f}", std::ranges::min(smallest))));
    results.push_back(
        claim_rate(fmt::format("reached-{}", layers),
                   fmt::format("the best of {} starts of {} {} within {:.2g} nats of it",
                               c.integer("sim.starts"),
                               depth_of(layers),
                               stored ? "comes" : "ends",
                               close),
                   by_replicate(ends).where([&](double loss) { return loss <= *bound + close; }),
                   fmt::format("worst of these {:.4f}", worst),
                   kHalf));
  }
  return results;
}

}  // namespace

Study study() {
  return described(
      {.name = "body4-stairs", .make = make<Stairs>, .figure = figure, .claims = claims});
}

}  // namespace attica::body4_stairs
