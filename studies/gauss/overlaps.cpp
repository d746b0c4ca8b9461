/// @file
/// @brief Study gauss-overlaps: what the ridge estimators of Gaussian masked modelling look like:
/// their overlap with the best predictor, with themselves, and their norm, against the number of
/// samples.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "attica/studies/gauss/ridge_sweep.hpp"
#include "attica/studies/mean_claims.hpp"
#include "attica/theory/gauss/site_regression.hpp"

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

/// The first kOfReplica of them, of the leading order, are those that the saddle point has.
constexpr std::array kOfSite = {&RidgeSite::kappa,
                                &RidgeSite::one_minus_gamma,
                                &RidgeSite::bias,
                                &RidgeSite::sampling_variance,
                                &RidgeSite::noise_variance,
                                &RidgeSite::test_error,
                                &RidgeSite::train_error,
                                &RidgeSite::overlap_m,
                                &RidgeSite::overlap_q,
                                &RidgeSite::weight_norm2,
                                &RidgeSite::signal,
                                &RidgeSite::finite_size_test,
                                &RidgeSite::finite_size_train,
                                &RidgeSite::finite_size_overlap_m,
                                &RidgeSite::finite_size_overlap_q,
                                &RidgeSite::finite_size_weight_norm2};
constexpr std::size_t kOfReplica = 11;

/// Sites of one decomposition of the sequence's covariance, against one of the site's inputs and
/// the saddle point.
ClaimResult routes_claim(const GaussianModel& model,
                         const SampleSizes& sizes,
                         const std::vector<double>& lambdas) {
  constexpr double kAccuracy = 1e-6;
  const GaussianMlm& problem = model.problem();
  double worst = 0;
  constexpr double kRounded = 1e-6;  // what is less beside the error is compared with that much
  const auto compare = [&](const RidgeSite& one, const RidgeSite& other, std::size_t members) {
    if (one.status != RidgeStatus::converged) return;
    for (const auto member : std::span(kOfSite).first(members)) {
      const double scale = std::max(std::abs(other.*member), kRounded * other.test_error);
      worst = std::max(worst, std::abs(one.*member - other.*member) / scale);
    }
  };
  for (const RidgeOrder order : {RidgeOrder::leading, RidgeOrder::first}) {
    const GaussianRidge ridge(problem, order);
    for (std::size_t k = 0; k < sizes.count(); ++k) {
      const auto samples = static_cast<double>(sizes[k]);
      const Eigen::Index site = ridge.kinds()[k % ridge.kinds().size()].site;
      for (const double configured : lambdas) {
        const double lambda = model.absolute_lambda(configured);
        const RidgeSite here = ridge.site(site, samples, lambda);
        compare(here, ridge_site(problem, site, samples, lambda, order), kOfSite.size());
        // Small penalties take the iteration too long.
        constexpr double kSmallest = 0.05;
        if (order == RidgeOrder::first || lambda < kSmallest * problem.mean_eigenvalue()) continue;
        compare(here, ridge_site_replica(problem, site, samples, lambda), kOfReplica);
      }
    }
  }
  return claim_certain("routes",
                       "one decomposition for all sites, one for each site and the saddle point of "
                       "replicas give the same theory",
                       worst < kAccuracy,
                       fmt::format("largest relative difference {:.2g}", worst));
}

/// Without penalty and with M > N inverse moments of Wishart matrices are known:
/// E_test = σ² (M-1)/(M-N-1), E|w|² = |w*|² + σ² tr C⁻¹/(M-N-1).
ClaimResult wishart_claim(const GaussianModel& model, const SampleSizes& sizes) {
  constexpr double kFewestLeft = 6;
  constexpr double kAccuracy = 1e-6;
  const GaussianMlm& problem = model.problem();
  const GaussianRidge ridge(problem, RidgeOrder::first);
  double worst = 0;
  bool covered = true;
  for (std::size_t k = 0; k < sizes.count(); ++k) {
    const auto samples = static_cast<double>(sizes[k]);
    const double left = samples - model.inputs();
    if (left < kFewestLeft) continue;
    const Eigen::Index site = ridge.kinds()[k % ridge.kinds().size()].site;
    const SiteRegression regression = site_regression(problem, site);
    const RidgeSite told = ridge.site(site, samples, 0);
    const double test = regression.bayes_error * (samples - 1) / (left - 1);
    const double norm = regression.teacher.squaredNorm() +
                        regression.bayes_error * regression.s.inverse().sum() / (left - 1);
    // What is beyond the order 1/M is the allowance itself of the test error, and covered of the
    // norm.
    worst = std::max(worst, std::abs(test - told.test_error - told.finite_size_test) / test);
    const double beyond = norm - told.weight_norm2;
    covered = covered && beyond > 0 && beyond <= (1 + kAccuracy) * told.finite_size_weight_norm2;
  }
  return claim_certain("inverse_wishart",
                       "without penalty and with M > N the theory and its allowance are the exact "
                       "test error, and the allowance covers the exact norm",
                       worst < kAccuracy && covered,
                       fmt::format("largest difference {:.2g} of the test error; the norm is {}",
                                   worst,
                                   covered ? "covered" : "not covered"));
}

std::vector<ClaimResult> claims(const Configuration& configuration, const Observed& observed) {
  if (on_data(configuration)) return {};
  Configuration c = configuration;
  const GaussianModel model = GaussianModel::from(c);
  const SampleSizes sizes = model.sizes(c);
  std::vector<ClaimResult> all = claims_on_average(observed, study_named(c.study()).agreement(c));
  all.push_back(routes_claim(model, sizes, c.reals("sweep.lambda")));
  all.push_back(wishart_claim(model, sizes));
  return all;
}

}  // namespace

Study study() {
  return described({.name = "gauss-overlaps", .make = make<Overlaps>, .claims = claims});
}

}  // namespace attica::gauss_overlaps
