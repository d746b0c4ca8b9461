/// @file
/// @brief Study icl-context: errors of linear attention in context against the length of the
/// context.

#include "attica/studies/icl/ridge_sweep.hpp"

namespace attica::icl_context {
namespace {

struct ContextLength : ContextSweep {
  explicit ContextLength(Configuration& c) : ContextSweep(c, ContextAxis::alpha) {}
};

Figure figure(const Configuration&) {
  const Axis alpha{.label = "context {/:Italic α} = {/:Italic l}/{/:Italic d}",
                   .scale = AxisScale::log};
  return {.name = "icl-context",
          .panels = {context_panel("icl", alpha, "alpha", "{/:Italic κ} = {kappa}"),
                     context_panel("idg", alpha, "alpha", "{/:Italic κ} = {kappa}")},
          .columns = 1,
          .caption =
              "Linear attention on linear regression in context: errors on fresh tasks (ICL) and "
              "on tasks of the pool (IDG) against the length of the context. Lines: theory; "
              "points: exact population errors of simulated fits, mean and standard error over "
              "data sets; dashed: best predictor of a fresh task; band: declared margin."};
}

}  // namespace

Study study() {
  return {
      .name = "icl-context",
      .question = "What does a longer context bring a pretrained linear attention?",
      .neglects = kContextNeglects,
      .outside = kContextOutside,
      .parameters = together(
          {context_parameters({.tau = 0.5, .lambda = 0.01, .rho = 0.5, .replicates = 1500}),
           {reals_parameter("sweep.alpha",
                            {1, 3, 10, 100, 1000},
                            "context length per dimension, alpha = l/d",
                            kPositive),
            reals_parameter("sweep.kappa",
                            {0.3, 0.7, 2},
                            "pretraining tasks per dimension, kappa = k/d",
                            kPositive)}}),
      .series = context_series(),
      .presets = {{"quick", "the defaults: d = 16, 5 alpha, 3 kappa, 1500 replicates", {}},
                  {"paper",
                   "d = 32, 5 kappa, 1200 replicates",
                   {{"model.dimension", 32},
                    {"sweep.alpha", log_grid(1, 1000, 10)},
                    {"sweep.kappa", List{0.1, 0.3, 0.5, 0.7, 2.0}},
                    {"sim.replicates", 1200}}}},
      .sources = context_sources("Figure 2"),
      .make = make<ContextLength>,
      .figure = figure,
      .agreement = context_agreement,
      .size_coordinate = "dimension",
      .claims = [](const Configuration&, const Observed& observed) -> std::vector<ClaimResult> {
        return {above_bayes(observed)};
      },
      .recipes = {{.name = "icl-context-ridgeless",
                   .meaning = "With hardly a penalty and two tasks, what finite dimension does is "
                              "four times 1/d of the error: more than Gaussian features allow for.",
                   .values = {{"theory.level", "gaussian"},
                              {"model.dimension", 16},
                              {"model.lambda", 1e-6},
                              {"sweep.alpha", List{100.0}},
                              {"sweep.kappa", List{0.125}},
                              {"sim.replicates", 100}},
                   .expected = Verdict::disagree},
                  {.name = "icl-context-ridgeless-law",
                   .meaning = "The same in twice as many dimensions, with the law of the features: "
                              "the theory holds.",
                   .values = {{"model.dimension", 32},
                              {"model.lambda", 1e-6},
                              {"sweep.alpha", List{100.0}},
                              {"sweep.kappa", List{0.125}},
                              {"sim.replicates", 600}},
                   .expected = Verdict::agree}},
      .plants = {{.name = "no-noise",
                  .values = {{"model.rho", 0.0}},
                  .meaning = "forgets the noise of the labels"},
                 {.name = "length",
                  .series = "context_square",
                  .factor = 1.02,
                  .meaning = "a context miscounted by one sample in a hundred"},
                 {.name = "noise",
                  .series = "label_noise",
                  .factor = 0.94,
                  .meaning = "noise of the labels 3 % too small"},
                 {.name = "half-square",
                  .series = "icl",
                  .factor = 0.5,
                  .meaning = "a loss with the factor 1/2 read as one without"}},
      .diagnostic = {"gap"}};
}

}  // namespace attica::icl_context
