/// @file
/// @brief Study bigrams-large: training curves of SGD's Gaussian surrogate on large vocabularies
/// against the mean-field recursion.

#include "attica/studies/bigrams/mean_field.hpp"

namespace attica::bigrams_large {

Study study() {
  return {
      .name = "bigrams-large",
      .question = "Does the mean field hold for large vocabularies and contexts?",
      .neglects =
          "covariance of V's noise beyond leading order; real sequences, unless sim.surrogate = "
          "\"none\"",
      .outside = kMeanFieldOutside,
      .parameters = bigram_parameters({.tokens = 50,
                                       .batch = 512,
                                       .steps = {50, 100, 150, 200, 250, 300, 350, 400, 500, 600},
                                       .surrogate = "dense",
                                       .replicates = 40,
                                       .law = unequal_law(),
                                       .starts = {"stationary", "uniform"}}),
      .series = bigram_series(mean_field_names()),
      .presets = {{"quick", "the defaults: N = 50 unequal tokens, T = 1000, Q = 2, B = 512", {}},
                  {"paper",
                   "N = 500, T = 100000, B = 4096, 72 runs of the aggregated surrogate",
                   circulant_law({{"model.tokens", 500},
                                  {"model.context", 100000},
                                  {"sim.batch", 4096},
                                  {"sim.surrogate", "aggregated"},
                                  {"sim.replicates", 72}})}},
      .sources = {cited("ren2024learning",
                        "surrogate idea: population gradient plus Gaussian noise")},
      .make = make_mean_field,
      .figure = [](const Configuration&) { return mean_field_figure("bigrams-large"); },
      .agreement = [](const Configuration& c) { return mean_field_rules(c, 0.02); },
      .plants =
          {{.name = "context",
            .values = {{"model.context", 900}},
            .meaning = "T a tenth too small"},
           {.name = "factor", .series = "d_A", .factor = 1.1, .meaning = "a remainder times 1.1"}}};
}

}  // namespace attica::bigrams_large
