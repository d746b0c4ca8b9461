/// @file
/// @brief Study gauss-overlaps: what the ridge estimators of Gaussian masked modelling look like:
/// their overlap with the best predictor, with themselves, and their norm, against the number of
/// samples.

#include "attica/studies/gauss/ridge_sweep.hpp"
#include "attica/studies/mean_claims.hpp"

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

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  if (on_data(c)) return {};
  return claims_on_average(observed, study_named(c.study()).agreement(c));
}

}  // namespace

Study study() {
  return described({.name = "gauss-overlaps", .make = make<Overlaps>, .claims = claims});
}

}  // namespace attica::gauss_overlaps
