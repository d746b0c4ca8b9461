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
          .panels = panels,
          .columns = panels.size(),
          .caption = fmt::format(
              "Value matrix after training under uniform attention: {}mean over runs of {}. Token "
              "0 is the mask; topics are the blocks.",
              exact ? "exact mean, and " : "",
              described_training(c))};
}

}  // namespace

Study study() {
  return described({.name = "topics-value-map",
                    .make = [](Configuration& c) -> std::unique_ptr<Experiment> {
                      return std::make_unique<ValueTraining>(c, true);
                    },
                    .figure = figure,
                    .agreement = value_training_agreement,
                    .claims = value_training_claims});
}

}  // namespace attica::topics_value_map
