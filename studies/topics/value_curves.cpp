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

std::vector<SeriesInfo> series() {
  std::vector<SeriesInfo> all = value_training_series();
  all.push_back(
      {"fixed_d", "d", "entry of a word with itself after a step on 256 fixed documents"});
  return all;
}

}  // namespace

Study study() {
  return {
      .name = "topics-value-curves",
      .question = "How does the value matrix learn which words share a topic?",
      .neglects = "nothing: the mean of SGD with fresh documents obeys a linear recursion",
      .parameters =
          value_training_parameters({.topics = 4, .words = 3, .length = 20, .lambda = 0.0},
                                    8,
                                    {1, 2, 5, 10, 20, 40, 60, 80, 100, 125, 150, 175, 200},
                                    3000),
      .series = series(),
      .presets = {{"quick", "the defaults: T = 4, v = 3, N = 20", {}},
                  {"paper",
                   "T = v = 10, Dirichlet 0.1, N = 100..150",
                   paper_documents({{"sim.steps", List{1, 10, 50, 100, 200, 500, 1000, 2000, 5000}},
                                    {"sim.replicates", 100}})}},
      .sources = {topic_source("model, Theorem 2; the recursion is ours")},
      .make = [](Configuration& c) -> std::unique_ptr<Experiment> {
        return std::make_unique<ValueTraining>(c, false);
      },
      .figure = figure,
      .agreement = value_training_agreement,
      .claims = value_training_claims,
      .plants = {{.name = "mask",
                  .values = {{"model.mask_rate", 0.16}},
                  .meaning = "the rate of masking 0.01 off"},
                 {.name = "factor",
                  .series = "value_s",
                  .factor = 1.03,
                  .meaning = "an entry times 1.03"}},
      .renamed = {{"model.penalty", "model.lambda"}},
      .diagnostic = {"optimum_b", "value_0w", "value_00", "loss", "optimum_s"}};
}

}  // namespace attica::topics_value_curves
