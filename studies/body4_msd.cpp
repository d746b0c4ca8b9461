/// @file
/// @brief Study body4-msd: how far every layer of a deep factored network has moved, against time.

#include <fmt/format.h>

#include <algorithm>

#include "attica/studies/body_setup.hpp"
#include "attica/studies/potts_setup.hpp"
#include "attica/studies/potts_studies.hpp"

namespace attica {
namespace {

Point layer_point(std::size_t layer) { return {{"layer", static_cast<double>(layer)}}; }

class Displacement : public Experiment {
 public:
  explicit Displacement(const Configuration& c)
      : problem_(lazy_body_problem(c)),
        plan_(body_training(c, static_cast<int>(c.integer("sim.layers")))) {}

  TheoryResult theory(TheoryGrid /*grid*/) const override { return body_theory(*problem_.get()); }

  std::size_t points() const override { return 1; }
  std::uint64_t replicates_per_piece(std::size_t /*point*/) const override { return 1; }

  std::vector<Outcome> simulate(const Piece& piece) const override {
    const BodyProblem& problem = *problem_.get();
    return each_replicate(piece, [&](std::uint64_t replicate) {
      Series loss{"test_loss", {}, "step", {}, {}};
      std::vector<Series> moved;
      for (int l = 1; l <= plan_.shape.layers; ++l) {
        moved.push_back({"msd", layer_point(static_cast<std::size_t>(l)), "step", {}, {}});
      }
      Outcome outcome =
          train_body(problem, plan_, piece, replicate, [&](const DeepFactoredRecord& record) {
            loss.x.push_back(static_cast<double>(record.step));
            loss.y.push_back(problem.masked().bayes_loss() + record.excess_loss);
            for (std::size_t l = 0; l < moved.size(); ++l) {
              moved[l].x.push_back(static_cast<double>(record.step));
              moved[l].y.push_back(record.displacement[l]);
            }
          });
      outcome.series = std::move(moved);
      outcome.series.push_back(std::move(loss));
      return outcome;
    });
  }

 private:
  Lazy<std::unique_ptr<BodyProblem>> problem_;
  DeepFactoredTraining plan_;
};

std::unique_ptr<Experiment> make(Configuration& c) { return std::make_unique<Displacement>(c); }

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

/// The recorded step at which each replicate's displacement first reaches a tenth of its last one.
std::vector<double> onset_steps(const ObservedCurve& curve) {
  constexpr double kPart = 0.1;
  std::vector<double> onsets;
  for (std::size_t r = 0; r < curve.values.back().size(); ++r) {
    const double end = curve.values.back()[r];
    const std::uint64_t replicate = curve.replicates.back()[r];
    for (std::size_t k = 0; k < curve.values.size(); ++k) {
      const auto at = std::find(curve.replicates[k].begin(), curve.replicates[k].end(), replicate);
      const auto index = static_cast<std::size_t>(at - curve.replicates[k].begin());
      if (curve.values[k][index] >= kPart * end) {
        onsets.push_back(curve.mean.x[k]);
        break;
      }
    }
  }
  return onsets;
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  const auto layers = static_cast<std::size_t>(c.integer("sim.layers"));
  std::vector<std::vector<double>> onsets;
  for (std::size_t l = 1; l <= layers; ++l) {
    for (const ObservedCurve& curve : observed.simulation) {
      if (curve.mean.name == "msd" && curve.mean.point == layer_point(l) && !curve.values.empty()) {
        onsets.push_back(onset_steps(curve));
      }
    }
  }
  std::vector<bool> holds;
  std::string detail = "steps";
  if (onsets.size() == layers) {
    for (std::size_t r = 0; r < onsets.front().size(); ++r) {
      bool ordered = true;
      for (std::size_t l = 0; l < layers; ++l) {
        detail += fmt::format("{}{}", l == 0 ? " " : "/", onsets[l][r]);
        if (l > 0) ordered = ordered && onsets[l - 1][r] > onsets[l][r];
      }
      holds.push_back(ordered);
    }
  }
  return {claim_in_every("last-layer-first",
                         "layers reach a tenth of their displacement one after the other, the last "
                         "layer first",
                         holds,
                         detail)};
}

std::vector<Parameter> parameters() {
  return body_parameters(
      {integer_parameter("sim.layers", 3, "number of layers", {.low = 1, .high = 16}),
       replicates_parameter(4, "starts, each with its own data")});
}

std::vector<SeriesInfo> series() {
  std::vector<SeriesInfo> all = body_series();
  all.push_back(
      {"msd", "MSD_l", "|A_l - A_l(0)|²/L + |V_l - V_l(0)|²/C of layer l = 1 (first) to N (last)"});
  return all;
}

}  // namespace

Study body4_msd() {
  return {
      .name = "body4-msd",
      .question = "In which order do the layers of a deep factored network learn?",
      .neglects =
          "nothing: the claim is an order of times; without residuals, or with Adam, all "
          "layers move together",
      .parameters = parameters(),
      .series = series(),
      .presets = {{"quick", "the defaults: L = 6, C = 3, four-body mean field, 16000 steps", {}},
                  {"paper",
                   "L = 8, beta = 0.4, 60000 steps, 8 starts",
                   {{"model.sites", 8},
                    {"model.beta", 0.4},
                    {"sim.steps", 60000},
                    {"sim.replicates", 8}}}},
      .sources = {potts_source("interactions beyond pairs: layers of deep factored attention learn "
                               "one after the other")},
      .make = make,
      .figure = figure,
      .agreement = agreement,
      .claims = claims,
  };
}

}  // namespace attica
