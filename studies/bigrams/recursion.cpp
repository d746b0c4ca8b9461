/// @file
/// @brief Study bigrams-recursion: training curves of SGD against the mean-field recursion.

#include "attica/studies/bigrams/mean_field.hpp"

namespace attica::bigrams_recursion {

Study study() {
  return {
      .name = "bigrams-recursion",
      .question =
          "How do gradient noise and signal share the training of a linear transformer on "
          "sparse contextual bigrams?",
      .neglects =
          "fluctuations of A's noise, and correlations with V's: 3 % (of d_V, whose mean noise "
          "hides at these replicates, 12 %) and 1 % of a curve's largest value, but at most 6 % "
          "of the value",
      .outside = kMeanFieldOutside,
      .parameters =
          bigram_parameters({.context = 300,
                             .steps = {50, 100, 150, 200, 250, 300, 400, 500, 600, 700, 800, 1000},
                             .replicates = 1200,
                             .law = unequal_law(),
                             .algorithms = {"sgd_hat", "sgd_raw", "sgd_projected"},
                             .starts = {"stationary", "uniform"}}),
      .series = bigram_series(mean_field_names()),
      .presets = {{"quick", "the defaults: N = 3 unequal tokens, T = 300, Q = 2, B = 64", {}},
                  {"paper",
                   "N = 5, T = 2000, B = 256, 1700 runs",
                   circulant_law({{"model.tokens", 5},
                                  {"model.context", 2000},
                                  {"sim.batch", 256},
                                  {"sim.replicates", 1700}})}},
      .sources = {cited("ren2024learning", "SGD experiments, projected gradients")},
      .make = make_mean_field,
      .figure = [](const Configuration&) { return mean_field_figure("bigrams-recursion"); },
      .agreement = [](const Configuration& c) { return mean_field_rules(c, 0.03); },
      .recipes = {{.name = "bigrams-recursion-text",
                   .meaning = "Six characters of the psalms in batches of 128, enough for a signal "
                              "above the noise.",
                   .values = text_law({{"sim.batch", 128},
                                       {"sim.steps", List{200, 400, 600, 800, 1000}},
                                       {"sim.replicates", 800}}),
                   .expected = Verdict::agree}},
      .plants =
          {{.name = "context",
            .values = {{"model.context", 270}},
            .meaning = "T a tenth too small"},
           {.name = "factor", .series = "d_A", .factor = 1.1, .meaning = "a remainder times 1.1"}}};
}

}  // namespace attica::bigrams_recursion
