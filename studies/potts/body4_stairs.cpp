/// @file
/// @brief Study body4-stairs: the loss of deep factored networks on four-body data falls in stairs,
/// one for every order of interaction.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "attica/studies/potts/body.hpp"
#include "attica/studies/potts/model.hpp"

namespace attica::body4_stairs {
namespace {

class Stairs : public PointwiseExperiment {
 public:
  explicit Stairs(const Configuration& c)
      : problem_(c),
        starts_(static_cast<std::size_t>(c.integer("sim.starts"))),
        samples_(static_cast<double>(c.integer("sim.samples"))),
        alike_(problem_.model().common_strength().has_value()) {
    for (const std::int64_t layers : c.integers("sim.layers")) {
      plans_.push_back(body_training(c, static_cast<int>(layers)));
    }
  }

  TheoryResult theory(TheoryGrid /*grid*/) const override {
    TheoryResult result = problem_.theory();
    if (!alike_) return result;
    for (const Prediction& p : result.predictions) {
      if (p.series.name == "plateau" && p.series.point == Point{{"order", 2.0}}) {
        // Stored sequences cost a fit half a nat a parameter, twice that where a pair is seen from
        // both its ends; as much again since pairs are not all there is. 0.7 of it was seen.
        const DeepFactoredShape& shape = plans_.front().shape;
        const auto parameters =
            static_cast<double>(shape.sites * (shape.sites - 1) + shape.colours * shape.colours);
        const double fit =
            samples_ > 0 ? 2 * parameters / (samples_ * static_cast<double>(shape.sites)) : 0;
        const double pairs = p.series.y.front();
        for (std::size_t k = 0; k < starts_; ++k)
          add_constant(result, "end_loss", Told(pairs, fit), one_layer(k));
        break;
      }
    }
    return result;
  }

  std::size_t points() const override { return plans_.size() * starts_; }

 protected:
  Outcome run(const Replicate& replicate) const override {
    const DeepFactoredTraining& plan = plans_[replicate.point() / starts_];
    Curves losses({{"layers", static_cast<double>(plan.shape.layers)},
                   {"start", static_cast<double>(replicate.point() % starts_)}},
                  "step",
                  {"test_loss"});
    std::optional<double> last;
    Outcome outcome =
        problem_.train(plan, replicate, [&](const DeepFactoredRecord& record, double loss) {
          losses.add(static_cast<double>(record.step), {loss});
          if (record.step == plan.recorded.back()) last = loss;
        });
    if (!losses.empty()) losses.into(outcome);
    if (last && alike_ && plan.shape.layers == 1) {
      add_constant(outcome, "end_loss", *last, one_layer(replicate.point() % starts_));
    }
    return outcome;
  }

 private:
  static Point one_layer(std::size_t start) {
    return {{"layers", 1.0}, {"start", static_cast<double>(start)}};
  }

  BodyProblem problem_;
  std::size_t starts_;
  double samples_;  ///< stored sequences, or 0
  /// All pairs of sites are alike: the best prediction by pairs is of the form A_ij V.
  bool alike_;
  std::vector<DeepFactoredTraining> plans_;
};

std::string depth_of(std::int64_t layers) {
  return fmt::format("{} layer{}", layers, layers == 1 ? "" : "s");
}

Figure figure(const Configuration& c) {
  Panel panel{.x = {.label = "step", .scale = AxisScale::log},
              .y = {.label = "loss {/:Italic ε} (nats)"},
              .layers = {{.series = "plateau",
                          .label = "plateaus {/:Italic ε_p}",
                          .simulation = false,
                          .reference = true}},
              .x_name = "step"};
  // The other starts of one layer end at the same place.
  panel.layers.push_back(
      {.series = "end_loss", .label = "1 layer, end", .theory = false, .only = {{"start", 0.0}}});
  for (const std::int64_t layers : c.integers("sim.layers")) {
    panel.layers.push_back({.series = "test_loss",
                            .label = depth_of(layers),
                            .theory = false,
                            .trajectories = true,
                            .only = {{"layers", static_cast<double>(layers)}}});
  }
  return {.name = "body4-stairs",
          .panels = {panel},
          .columns = 1,
          .caption = fmt::format(
              "Deep factored networks trained on sequences with {}-body interactions: loss against "
              "training steps, {} starts each. Dashed: the smallest losses that interactions of "
              "1, 2, ... bodies can reach, from above.",
              c.integer("model.order"),
              c.integer("sim.starts"))};
}

std::vector<AgreementRule> agreement(const Configuration& /*c*/) {
  // What the last fifth of the steps, at a tenth of the rate, leaves: docs/beyond-pairs.md.
  return {{.series = "end_loss", .relative = 1e-3}};
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  constexpr double kClose = 0.02;  // nats, and nearer than half way to the plateau above
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
    std::vector<bool> stay;
    for (const double loss : smallest) stay.push_back(loss >= *bound - known);
    std::vector<bool> reach;
    double worst = 0;
    for (const auto& [replicate, loss] : best) {
      reach.push_back(loss <= *bound + close);
      worst = std::max(worst, loss);
    }
    results.push_back(claim_rate(
        fmt::format("bound-{}", layers),
        fmt::format(
            "{} stay above the plateau of order {}, {:.4f} nats", depth_of(layers), order, *bound),
        stay,
        fmt::format("smallest loss at any step {:.4f}", std::ranges::min(smallest))));
    results.push_back(
        claim_rate(fmt::format("reached-{}", layers),
                   fmt::format("the best of {} starts of {} {} within {:.2g} nats of it",
                               c.integer("sim.starts"),
                               depth_of(layers),
                               stored ? "comes" : "ends",
                               close),
                   reach,
                   fmt::format("worst of these {:.4f}", worst),
                   kHalf));
  }
  return results;
}

std::vector<SeriesInfo> stairs_series() {
  std::vector<SeriesInfo> all = body_series();
  all.push_back({"end_loss", "ε_end", "loss of one layer after the last step, nats"});
  return all;
}

}  // namespace

Study study() {
  return {
      .name = "body4-stairs",
      .question = "Which orders of interaction do deep factored networks learn, and when?",
      .neglects =
          "what finite training leaves: the plateaus are exact optima over all predictions of an "
          "order. That two and more layers reach theirs is not proven, and some starts stay above: "
          "claims, which are inequalities",
      .parameters = body_parameters(
          {integers_parameter(
               "sim.layers", List{1, 2, 3}, "numbers of layers", {.low = 1, .high = 16}),
           integer_parameter("sim.starts",
                             3,
                             "starts of every depth; some stay on a plateau for long",
                             {.low = 1, .high = 1000}),
           replicates_parameter(8, "repetitions of every start with other data and values")}),
      .series = stairs_series(),
      .presets =
          {{"quick", "the defaults: L = 6, C = 3, four-body mean field", {}},
           {"paper",
            "L = 8, beta = 0.4, 60000 steps, 8 starts",
            {{"model.sites", 8}, {"model.beta", 0.4}, {"sim.length", 60000}, {"sim.starts", 8}}}},
      .sources = {potts_source("interactions beyond pairs: deep factored attention with squares "
                               "between layers; the loss falls in stairs"),
                  cited("rende2024distributional",
                        "plateaus of limited interaction order in time")},
      .make = make<Stairs>,
      .figure = figure,
      .agreement = agreement,
      .claims = claims,
      .plants = {{.name = "beta",
                  .values = {{"model.beta", 0.72}},
                  .meaning = "the inverse temperature off"},
                 {.name = "factor",
                  .series = "end_loss",
                  .factor = 1.005,
                  .meaning = "a plateau half a per cent too high"}},
      .renamed = {{"sim.steps", "sim.length"}},
      .diagnostic = {"bayes_loss"}};
}

}  // namespace attica::body4_stairs
