/// @file
/// @brief Study topics-value-curves: entries of the value matrix against training steps, SGD
/// against the recursion of its mean.

#include <fmt/format.h>

#include "attica/studies/topics/value_training.hpp"

namespace attica::topics_value_curves {
namespace {

Figure figure(const Configuration& c) {
  Panel panel{.x = {.label = "step"},
              .y = {.label = "entry of {/:Italic W}_V"},
              .layers = value_layers(c),
              .x_name = "step"};
  const bool exact = !uncovered_training(c);
  if (exact) {
    panel.layers.push_back(
        {.series = "optimum_d", .label = "limit of {/:Italic d}", .reference = true});
    panel.layers.push_back(
        {.series = "optimum_g", .label = "limit of {/:Italic g}", .reference = true});
  }
  return {.name = "topics-value-curves",
          .panels = {panel},
          .caption = fmt::format(
              "Value matrix under uniform attention, trained by {} on masked topic documents: mean "
              "entries of each class. {}Points: mean and standard error over runs.",
              described_training(c),
              exact ? "Lines: exact recursion of the mean; dashed: its limit. " : "")};
}

}  // namespace

Study study() {
  return described({.name = "topics-value-curves",
                    .make = [](Configuration& c) -> std::unique_ptr<Experiment> {
                      return std::make_unique<ValueTraining>(c, false);
                    },
                    .figure = figure,
                    .agreement = value_training_agreement,
                    .claims = value_training_claims});
}

}  // namespace attica::topics_value_curves
