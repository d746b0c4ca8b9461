/// @file
/// @brief Study gauss-double-descent: generalization error of ridge regression in Gaussian masked
/// modelling against the number of samples, theory over simulation, on model covariances and on
/// users' own data.

#include "attica/studies/gauss/ridge_sweep.hpp"

namespace attica {
namespace {

struct DoubleDescent : RidgeSweep {
  explicit DoubleDescent(Configuration& c)
      : RidgeSweep(
            c,
            RidgeAxis::alpha,
            {{"test_error",
              [](const RidgePoint& p) { return Told(p.test_error, p.finite_size_test); },
              &RidgeFit::test},
             {"train_error",
              [](const RidgePoint& p) {
                // Far below the test error it is not described at leading order.
                constexpr double kSmallestRatio = 1e-2;
                return Told(p.train_error,
                            p.finite_size_train,
                            p.train_error >= kSmallestRatio * p.test_error);
              },
              &RidgeFit::train},
             {"bias", [](const RidgePoint& p) { return Told(p.bias); }},
             {"sampling_variance", [](const RidgePoint& p) { return Told(p.sampling_variance); }},
             {"noise_variance", [](const RidgePoint& p) { return Told(p.noise_variance); }}}) {}
};

Figure figure(const Configuration& c) {
  const auto panel = [&](const std::string& kind) {
    Panel p = error_panel(
        kind, alpha_axis(), "alpha", {{.series = kind + "_error", .label = lambda_label(c)}});
    p.vertical_marks = {1.0};
    return p;
  };
  return {.name = "gauss-double-descent",
          .panels = {panel("test"), panel("train")},
          .columns = 1,
          .caption =
              "Ridge regression of every site on the others in Gaussian masked modelling: error "
              "against the number of samples per input. Lines: theory at leading order; points: "
              "simulation, mean and standard error over replicates; band: declared margin." +
              lambda_note(c)};
}

}  // namespace

Study gauss_double_descent() {
  return {
      .name = "gauss-double-descent",
      .question =
          "How many samples does ridge regression need to fill in a masked site of Gaussian "
          "sequences?",
      .neglects = kRidgeNeglects,
      // The hardest point, lambda = 0.001 near alpha = 1.3, needs 700 to 1000 data sets.
      .parameters = together({gaussian_model_parameters(),
                              {alpha_parameter(log_grid(0.2, 4, 12)),
                               lambda_parameter({1e-3, 0.1, 1.0}, true),
                               data_sets_parameter(1200)}}),
      .series = {test_error_info(),
                 train_error_info(),
                 {"bias", "B", "squared bias of the mean predictor (theory)"},
                 {"sampling_variance",
                  "B gamma/(1-gamma)",
                  "variance from the choice of inputs (theory)"},
                 {"noise_variance",
                  "sigma^2 gamma/(1-gamma)",
                  "variance from the sites' intrinsic noise (theory)"}},
      .presets =
          {{"quick", "the defaults: L = 60, 12 alpha, 3 lambda, 1200 replicates", {}},
           {"paper",
            "L = 400, 40 alpha, 3 lambda, 50 replicates",
            {{"model.sites", 400}, {"sweep.alpha", log_grid(0.2, 4, 40)}, {"sim.replicates", 50}}},
           {"demo",
            "handwritten digits (8 x 8 pixels) against the theory for Gaussian data of equal "
            "covariance",
            {{"model.covariance", "data"},
             {"model.file", "digits.csv"},
             {"model.sites", 61},
             {"sweep.alpha", log_grid(0.5, 8, 10)},
             {"sweep.lambda", List{0.1, 1.0, 10.0}},
             {"sim.replicates", 400}}}},
      .sources = ridge_sources(),
      .make = make<DoubleDescent>,
      .figure = figure,
      .agreement = ridge_agreement,
      .size_coordinate = "sites",
      .recipes = {{.name = "gauss-double-descent-standardised",
                   .meaning =
                       "Digits with every pixel scaled to unit variance: rare pixels then weigh as "
                       "much as common ones, and they are far from Gaussian.",
                   .preset = "demo",
                   .values = {{"model.standardise", true}}},
                  {.name = "gauss-double-descent-few-replicates",
                   .meaning = "Eight data sets do not decide at a margin of 5 %.",
                   .values = {{"sim.replicates", 8}},
                   .expected = Verdict::inconclusive}},
      .diagnostic = {"bias", "sampling_variance", "noise_variance"}};
}

}  // namespace attica
