/// @file
/// @brief Study topics-value-map: all entries of the value matrix after training, SGD against the
/// recursion of its mean.

#include <fmt/format.h>

#include "attica/studies/topics/value_training.hpp"

namespace attica::topics_value_map {
namespace {

Figure figure(const Configuration& c) {
  const auto panel = [](bool theory, const std::string& title) {
    return Panel{.kind = PanelKind::heat_map,
                 .x = {.label = "column (token)"},
                 .y = {.label = "row (token)"},
                 .layers = {{.series = "value_entry", .theory = theory, .simulation = !theory}},
                 .x_name = "column",
                 .y_coordinate = "row",
                 .title = title,
                 .value = {.label = "entry of {/:Italic W}_V"}};
  };
  std::vector<Panel> panels = {panel(false, described_training(c))};
  const bool exact = !uncovered_training(c);
  if (exact) panels.insert(panels.begin(), panel(true, "theory"));
  return {.name = "topics-value-map",
          .panels = std::move(panels),
          .columns = 1,
          .caption = fmt::format(
              "Value matrix after training under uniform attention: {}mean over runs of {}. Token "
              "0 is the mask; topics are the blocks.",
              exact ? "exact mean, and " : "",
              described_training(c))};
}

}  // namespace

Study study() {
  std::vector<SeriesInfo> series = value_training_series();
  series.push_back(topic_series({"value_entry"}).front());
  return {.name = "topics-value-map",
          .question = "What does the value matrix look like after training?",
          .neglects = "nothing: the mean of SGD with fresh documents obeys a linear recursion",
          .parameters = value_training_parameters(
              {.topics = 5, .words = 4, .length = 60, .lambda = 0.0}, 32, {400}, 120),
          .series = std::move(series),
          .presets = {{"quick", "the defaults: T = 5, v = 4, N = 60", {}},
                      {"paper",
                       "T = v = 10, Dirichlet 0.1, N = 100..150",
                       paper_documents({{"sim.steps", List{5000}}, {"sim.replicates", 40}})},
                      {"adam",
                       "the same by Adam on 10000 fixed documents; no theory, a claim only",
                       paper_documents({{"sim.optimiser", "adam"},
                                        {"sim.eta", 0.01},
                                        {"sim.data", "fixed"},
                                        {"sim.steps", List{5000}},
                                        {"sim.replicates", 4}})}},
          .sources = {topic_source("Theorem 2, figure of the value matrix")},
          .make = [](Configuration& c) -> std::unique_ptr<Experiment> {
            return std::make_unique<ValueTraining>(c, true);
          },
          .figure = figure,
          .agreement = value_training_agreement,
          .claims = value_training_claims,
          .plants = {{.name = "mask",
                      .values = {{"model.mask_rate", 0.16}},
                      .meaning = "the rate of masking 0.01 off"},
                     {.name = "topics", .values = {{"model.topics", 6}}, .meaning = "T + 1 for T"}},
          .renamed = {{"model.penalty", "model.lambda"}},
          .diagnostic = {
              "optimum_b", "value_0w", "value_00", "loss", "optimum_s", "optimum_d", "optimum_g"}};
}

}  // namespace attica::topics_value_map
