/// @file
/// @brief Study gauss-overlaps: what the ridge estimators of Gaussian masked modelling look like:
/// their overlap with the best predictor, with themselves, and their norm, against the number of
/// samples.

#include "attica/studies/gauss/ridge_sweep.hpp"

namespace attica::gauss_overlaps {
namespace {

struct Overlaps : RidgeSweep {
  explicit Overlaps(Configuration& c)
      : RidgeSweep(c,
                   RidgeAxis::alpha,
                   {{"overlap_m",
                     &RidgePoint::overlap_m,
                     &RidgePoint::finite_size_overlap_m,
                     &RidgeFit::overlap_m},
                    {"overlap_q",
                     &RidgePoint::overlap_q,
                     &RidgePoint::finite_size_overlap_q,
                     &RidgeFit::overlap_q},
                    {"weight_norm2",
                     &RidgePoint::weight_norm2,
                     &RidgePoint::finite_size_weight_norm2,
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
              "of the inputs, and squared norm, averages over sites. Lines: " +
              order_words(c) + "; points: simulation, mean and standard error over replicates." +
              lambda_note(c)};
}

std::vector<AgreementRule> agreement(const Configuration& c) {
  return rules({"overlap_m", "overlap_q", "weight_norm2"},
               {.series = {}, .relative = ridge_margin(c)});
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  if (on_data(c)) return {};
  return claims_on_average(observed, agreement(c));
}

}  // namespace

Study study() {
  return {.name = "gauss-overlaps",
          .question = "How near to the best predictor are the ridge estimators, and how large?",
          .neglects = kRidgeNeglects,
          .parameters =
              together({gaussian_model_parameters(),
                        {order_parameter(),
                         alpha_parameter(log_grid(0.2, 4, 12)),
                         lambda_parameter({0.0, 1e-3, 0.1, 1.0}, true),
                         data_sets_parameter(16),
                         replicates_parameter(150, "replicates of every number of samples")}}),
          .series =
              {{"overlap_m",
                "m",
                "w^T C w*, overlap of the estimator with the best predictor, averaged over sites"},
               {"overlap_q", "q", "w^T C w, variance of the prediction, averaged over sites"},
               {"weight_norm2", "|w|^2", "squared norm of the estimator, averaged over sites"}},
          .presets = {{"quick",
                       "the defaults: L = 60, 12 alpha, 4 lambda, 150 replicates of 16 data sets",
                       {}},
                      {"paper",
                       "L = 400, 40 alpha, 4 lambda, 100 replicates of 2 data sets",
                       {{"model.sites", 400},
                        {"sweep.alpha", log_grid(0.2, 4, 40)},
                        {"sim.data_sets", 2},
                        {"sim.replicates", 100}}}},
          .sources = ridge_sources(),
          .make = make<Overlaps>,
          .figure = figure,
          .agreement = agreement,
          .size_coordinate = "sites",
          .claims = claims,
          .plants = {{.name = "correlation",
                      .values = {{"model.rho", 0.714}},
                      .meaning = "neighbours' correlation taken 2 % too large"},
                     {.name = "overlap_m",
                      .series = "overlap_m",
                      .factor = 0.98,
                      .meaning = "an overlap 2 % too small: the shrinkage of too large a penalty"},
                     {.name = "overlap_q",
                      .series = "overlap_q",
                      .factor = 1.02,
                      .meaning = "a self-overlap 2 % too large"},
                     {.name = "weight_norm2",
                      .series = "weight_norm2",
                      .factor = 0.98,
                      .meaning = "a norm 2 % too small, as with M + 1 in place of M = 50"}}};
}

}  // namespace attica::gauss_overlaps
