/// @file
/// @brief Study gauss-double-descent: generalization error of ridge regression in Gaussian masked
/// modelling against the number of samples, theory over simulation, on model covariances and on
/// users' own data.

#include "attica/studies/gaussian_studies.hpp"
#include "attica/studies/ridge_sweep.hpp"

namespace attica {
namespace {

std::unique_ptr<Experiment> make(Configuration& c) {
  // Far below the test error the training error is not described at leading order.
  constexpr double kSmallestTrainRatio = 1e-2;
  const auto large_enough = [](const RidgePoint& p) {
    return p.train_error >= kSmallestTrainRatio * p.test_error;
  };
  return std::make_unique<RidgeSweep>(
      c,
      RidgeAxis::alpha,
      std::vector<RidgeQuantity>{
          {.name = "test_error",
           .theory = &RidgePoint::test_error,
           .simulation = &RidgeFit::test,
           .finite_size = [](const RidgePoint& p) { return p.finite_size_test; }},
          {.name = "train_error",
           .theory = &RidgePoint::train_error,
           .simulation = &RidgeFit::train,
           .finite_size = [](const RidgePoint& p) { return p.finite_size_train; },
           .compared = large_enough},
          {.name = "bias", .theory = &RidgePoint::bias},
          {.name = "sampling_variance", .theory = &RidgePoint::sampling_variance},
          {.name = "noise_variance", .theory = &RidgePoint::noise_variance}});
}

Figure figure(const Configuration& c) {
  const std::string label = lambda_label(c);
  const Axis alpha = alpha_axis();
  Panel test{.x = alpha,
             .y = {.label = "test error {/:Italic E}_{test}", .scale = AxisScale::log},
             .layers = {{.series = "test_error", .label = label}},
             .x_name = "alpha"};
  test.residuals = true;
  test.vertical_marks = {1.0};
  Panel train{.x = alpha,
              .y = {.label = "train error {/:Italic E}_{train}", .scale = AxisScale::log},
              .layers = {{.series = "train_error", .label = label}},
              .x_name = "alpha"};
  train.vertical_marks = {1.0};
  return {.name = "gauss-double-descent",
          .panels = {test, train},
          .columns = 1,
          .caption =
              "Ridge regression of every site on the others in Gaussian masked modelling: error "
              "against the number "
              "of samples per input. Lines: theory at leading order; points: simulation, mean and "
              "standard error over "
              "replicates; band: declared margin." +
              lambda_note(c)};
}

}  // namespace

Study gauss_double_descent() {
  std::vector<Parameter> parameters = gaussian_model_parameters();
  parameters.push_back(alpha_parameter(log_grid(0.2, 4, 12)));
  parameters.push_back(lambda_parameter({1e-3, 0.1, 1.0}, true));
  // The hardest point, lambda = 0.001 near alpha = 1.3, needs 700 to 1000.
  parameters.push_back(
      replicates_parameter(1200, "independent data sets of every size; all lambda share them"));
  return {
      .name = "gauss-double-descent",
      .question =
          "How many samples does ridge regression need to fill in a masked site of Gaussian "
          "sequences?",
      .neglects =
          "corrections of relative order 1/(M (1 - gamma)) to the limit of many sites and samples; "
          "on data, "
          "everything beyond the covariance",
      .parameters = std::move(parameters),
      .series = {{"test_error",
                  "E_test",
                  "population mean squared error, averaged over sites, no factor 1/2"},
                 {"train_error",
                  "E_train",
                  "mean squared error on the training samples, averaged over sites"},
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
      .make = make,
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
  };
}

}  // namespace attica
