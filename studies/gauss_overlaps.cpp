/// @file
/// @brief Study gauss-overlaps: what the ridge estimators of Gaussian masked modelling look like:
/// their overlap with the best predictor, with themselves, and their norm, against the number of
/// samples.

#include "attica/studies/gaussian_studies.hpp"
#include "attica/studies/ridge_sweep.hpp"

namespace attica {
namespace {

/// Site average of 1/(M (1 - gamma)), weighted with the test errors.
double relative_allowance(const RidgePoint& p) { return p.finite_size_test / p.test_error; }

std::unique_ptr<Experiment> make(Configuration& c) {
  return std::make_unique<RidgeSweep>(
      c,
      RidgeAxis::alpha,
      std::vector<RidgeQuantity>{
          {.name = "overlap_m",
           .theory = &RidgePoint::overlap_m,
           .simulation = &RidgeFit::overlap_m,
           .finite_size = [](const RidgePoint& p) { return relative_allowance(p) * p.overlap_m; }},
          {.name = "overlap_q",
           .theory = &RidgePoint::overlap_q,
           .simulation = &RidgeFit::overlap_q,
           .finite_size = [](const RidgePoint& p) { return relative_allowance(p) * p.overlap_q; }},
          {.name = "weight_norm2",
           .theory = &RidgePoint::weight_norm2,
           .simulation = &RidgeFit::weight_norm2,
           .finite_size = [](const RidgePoint& p) {
             return relative_allowance(p) * p.weight_norm2;
           }}});
}

Figure figure(const Configuration& c) {
  const auto panel = [&](const char* series, const char* label, AxisScale scale) {
    Panel p{.x = alpha_axis(),
            .y = {.label = label, .scale = scale},
            .layers = {{.series = series, .label = lambda_label(c)}},
            .x_name = "alpha"};
    p.vertical_marks = {1.0};
    return p;
  };
  return {.name = "gauss-overlaps",
          .panels = {panel("overlap_m", "overlap {/:Italic m}", AxisScale::linear),
                     panel("overlap_q", "overlap {/:Italic q}", AxisScale::log),
                     panel("weight_norm2", "norm |{/:Italic w}|^2", AxisScale::log)},
          .columns = 1,
          .caption =
              "Ridge estimators of Gaussian masked modelling against the number of samples "
              "per input: overlap m with the best predictor, overlap q with themselves in "
              "the metric of the inputs, and squared norm, averages over sites. Lines: "
              "theory at leading order; points: simulation, mean and standard error over "
              "replicates." +
              lambda_note(c)};
}

std::vector<AgreementRule> agreement(const Configuration& c) {
  const double relative = ridge_margin(c);
  return {{.series = "overlap_m", .relative = relative},
          {.series = "overlap_q", .relative = relative},
          {.series = "weight_norm2", .relative = relative}};
}

}  // namespace

Study gauss_overlaps() {
  std::vector<Parameter> parameters = gaussian_model_parameters();
  parameters.push_back(alpha_parameter(log_grid(0.2, 4, 12)));
  parameters.push_back(lambda_parameter({1e-3, 0.1, 1.0}, true));
  parameters.push_back(
      replicates_parameter(2000, "independent data sets of every size; all lambda share them"));
  return {
      .name = "gauss-overlaps",
      .question = "How near to the best predictor are the ridge estimators, and how large?",
      .neglects =
          "corrections of relative order 1/(M (1 - gamma)) to the limit of many sites and "
          "samples; on data, everything beyond the covariance",
      .parameters = std::move(parameters),
      .series =
          {{"overlap_m",
            "m",
            "w^T C w*, overlap of the estimator with the best predictor, averaged over sites"},
           {"overlap_q", "q", "w^T C w, variance of the prediction, averaged over sites"},
           {"weight_norm2", "|w|^2", "squared norm of the estimator, averaged over sites"}},
      .presets = {{"quick", "the defaults: L = 60, 12 alpha, 3 lambda, 2000 replicates", {}},
                  {"paper",
                   "L = 400, 40 alpha, 3 lambda, 200 replicates",
                   {{"model.sites", 400},
                    {"sweep.alpha", log_grid(0.2, 4, 40)},
                    {"sim.replicates", 200}}}},
      .sources = ridge_sources(),
      .make = make,
      .figure = figure,
      .agreement = agreement,
      .size_coordinate = "sites",
  };
}

}  // namespace attica
