/// @file
/// @brief Study body4-msd: how far every layer of a deep factored network has moved, against time.

#include <fmt/format.h>

#include <algorithm>

#include "attica/studies/potts/body.hpp"
#include "attica/studies/potts/model.hpp"

namespace attica::body4_msd {
namespace {

Point layer_point(std::int64_t layer) { return {{"layer", static_cast<double>(layer)}}; }

class Displacement : public PointwiseExperiment {
 public:
  explicit Displacement(const Configuration& c)
      : problem_(c), plan_(body_training(c, static_cast<int>(c.integer("sim.layers")))) {}

  TheoryResult theory(TheoryGrid /*grid*/) const override { return problem_.theory(); }

 protected:
  Outcome run(const Replicate& replicate) const override {
    Curves losses({}, "step", {"test_loss"});
    std::vector<Curves> moved;
    for (int l = 1; l <= plan_.shape.layers; ++l) {
      moved.emplace_back(layer_point(l), "step", std::vector<std::string>{"msd"});
    }
    Outcome outcome =
        problem_.train(plan_, replicate, [&](const DeepFactoredRecord& record, double loss) {
          const auto step = static_cast<double>(record.step);
          losses.add(step, {loss});
          for (std::size_t l = 0; l < moved.size(); ++l) {
            moved[l].add(step, {record.displacement[l]});
          }
        });
    if (losses.empty()) return outcome;
    for (const Curves& of_layer : moved) of_layer.into(outcome);
    losses.into(outcome);
    return outcome;
  }

 private:
  BodyProblem problem_;
  DeepFactoredTraining plan_;
};

Figure figure(const Configuration& c) {
  const Axis step{.label = "step", .scale = AxisScale::log};
  const Panel moved{.x = step,
                    .y = {.label = "MSD_{/:Italic l}", .scale = AxisScale::log},
                    .layers = {{.series = "msd", .label = "layer {layer}", .theory = false}},
                    .x_name = "step"};
  const Panel loss{.x = step,
                   .y = {.label = "loss {/:Italic ε} (nats)"},
                   .layers = {{.series = "plateau", .simulation = false, .reference = true},
                              {.series = "test_loss", .label = "network", .theory = false}},
                   .x_name = "step"};
  return {.name = "body4-msd",
          .panels = {moved, loss},
          .columns = 1,
          .caption = fmt::format(
              "A deep factored network of {} layers trained on sequences with {}-body "
              "interactions: mean squared displacement of the layers from their start, and loss "
              "with the plateaus of 1, 2, ... bodies. Mean and standard error over starts.",
              c.integer("sim.layers"),
              c.integer("model.order"))};
}

std::vector<AgreementRule> agreement(const Configuration& /*c*/) { return {}; }

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  constexpr double kPart = 0.1;
  // The recorded step at which a replicate's displacement first reaches a tenth of its last one.
  std::vector<std::vector<double>> onsets;  // a list for every layer
  for (std::int64_t l = 1; l <= c.integer("sim.layers"); ++l) {
    const ObservedCurve* curve = observed.curve("msd", layer_point(l));
    if (curve == nullptr) continue;
    for (std::vector<double>& of_layer = onsets.emplace_back();
         const std::vector<double>& path : observed.paths("msd", layer_point(l))) {
      if (path.size() < curve->mean.x.size()) continue;  // ended early
      const auto at =
          std::ranges::find_if(path, [&](double y) { return !(y < kPart * path.back()); });
      of_layer.push_back(curve->mean.x[static_cast<std::size_t>(at - path.begin())]);
    }
  }
  std::vector<bool> holds;
  std::string detail = "steps";
  for (std::size_t r = 0; !onsets.empty() && r < onsets.front().size(); ++r) {
    bool ordered = true;
    for (std::size_t l = 0; l < onsets.size(); ++l) {
      detail += fmt::format("{}{}", l == 0 ? " " : "/", onsets[l][r]);
      if (l > 0) ordered = ordered && onsets[l - 1][r] > onsets[l][r];
    }
    holds.push_back(ordered);
  }
  return {claim_rate("last-layer-first",
                     "layers reach a tenth of their displacement one after the other, the last "
                     "layer first",
                     holds,
                     detail,
                     kHalf)};
}

std::vector<SeriesInfo> series() {
  std::vector<SeriesInfo> all = body_series();
  all.push_back(
      {"msd", "MSD_l", "|A_l - A_l(0)|²/L + |V_l - V_l(0)|²/C of layer l = 1 (first) to N (last)"});
  return all;
}

}  // namespace

Study study() {
  return {
      .name = "body4-msd",
      .question = "In which order do the layers of a deep factored network learn?",
      .neglects =
          "there is no theory of the times, only a claim of their order; without residuals, or "
          "with "
          "Adam, all layers move together",
      .parameters = body_parameters(
          {integer_parameter("sim.layers", 3, "number of layers", {.low = 1, .high = 16}),
           replicates_parameter(8, "starts, each with its own data")}),
      .series = series(),
      .presets = body_presets("sim.replicates"),
      .sources = {potts_source("interactions beyond pairs: layers of deep factored attention learn "
                               "one after the other")},
      .make = make<Displacement>,
      .figure = figure,
      .agreement = agreement,
      .claims = claims,
      .renamed = {{"sim.steps", "sim.length"}},
      .diagnostic = {"bayes_loss"}};
}

}  // namespace attica::body4_msd
