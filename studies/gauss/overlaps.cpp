/// @file
/// @brief Study gauss-overlaps: what the ridge estimators of Gaussian masked modelling look like:
/// their overlap with the best predictor, with themselves, and their norm, against the number of
/// samples.

#include "attica/studies/gauss/ridge_sweep.hpp"

namespace attica {
namespace {

/// Allowed: the site average of 1/(M (1 - gamma)), weighted with the test errors.
template <double RidgePoint::*quantity>
Told with_allowance(const RidgePoint& p) {
  return {p.*quantity, p.finite_size_test / p.test_error * p.*quantity};
}

struct Overlaps : RidgeSweep {
  explicit Overlaps(Configuration& c)
      : RidgeSweep(c,
                   RidgeAxis::alpha,
                   {{"overlap_m", with_allowance<&RidgePoint::overlap_m>, &RidgeFit::overlap_m},
                    {"overlap_q", with_allowance<&RidgePoint::overlap_q>, &RidgeFit::overlap_q},
                    {"weight_norm2",
                     with_allowance<&RidgePoint::weight_norm2>,
                     &RidgeFit::weight_norm2}}) {}
};

Figure figure(const Configuration& c) {
  const auto panel = [&](const char* series, const char* label, AxisScale scale) {
    return Panel{.x = alpha_axis(),
                 .y = {.label = label, .scale = scale},
                 .layers = {{.series = series, .label = lambda_label(c)}},
                 .x_name = "alpha",
                 .vertical_marks = {1.0}};
  };
  return {.name = "gauss-overlaps",
          .panels = {panel("overlap_m", "overlap {/:Italic m}", AxisScale::linear),
                     panel("overlap_q", "overlap {/:Italic q}", AxisScale::log),
                     panel("weight_norm2", "norm |{/:Italic w}|^2", AxisScale::log)},
          .columns = 1,
          .caption =
              "Ridge estimators of Gaussian masked modelling against the number of samples per "
              "input: overlap m with the best predictor, overlap q with themselves in the metric "
              "of the inputs, and squared norm, averages over sites. Lines: theory at leading "
              "order; points: simulation, mean and standard error over replicates." +
              lambda_note(c)};
}

std::vector<AgreementRule> agreement(const Configuration& c) {
  return rules({"overlap_m", "overlap_q", "weight_norm2"},
               {.series = {}, .relative = ridge_margin(c)});
}

}  // namespace

Study gauss_overlaps() {
  return {
      .name = "gauss-overlaps",
      .question = "How near to the best predictor are the ridge estimators, and how large?",
      .neglects = kRidgeNeglects,
      .parameters = together({gaussian_model_parameters(),
                              {alpha_parameter(log_grid(0.2, 4, 12)),
                               lambda_parameter({1e-3, 0.1, 1.0}, true),
                               data_sets_parameter(2000)}}),
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
      .make = make<Overlaps>,
      .figure = figure,
      .agreement = agreement,
      .size_coordinate = "sites",
  };
}

}  // namespace attica
