/// @file
/// @brief Relations that the theory of Gaussian sequences satisfies whatever a simulation finds, by
/// second routes, at the settings of the studies' presets.

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <span>
#include <vector>

#include "attica/core/gauss/ensembles.hpp"
#include "attica/theory/gauss/flow.hpp"
#include "attica/theory/gauss/ridge.hpp"
#include "attica/theory/gauss/site_regression.hpp"
#include "theory/gauss/ridge_filter.hpp"
#include "theory/gauss/ridge_saddle_point.hpp"

using namespace attica;
using attica::testing::ridge_filter;
using attica::testing::ridge_site_replica;

namespace gauss_checks_test {

/// Sizes M of `sites` - 1 inputs at ratios from 0.2 to 4.
std::vector<double> sizes(const GaussianMlm& problem) {
  constexpr int kSizes = 12;
  std::vector<double> all;
  for (int k = 0; k < kSizes; ++k) {
    const double alpha = 0.2 * std::pow(20.0, k / (kSizes - 1.0));
    all.push_back(std::round(alpha * static_cast<double>(problem.sites() - 1)));
  }
  return all;
}

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

TEST_CASE(
    "GaussianRidge: sites of one decomposition are those of their own and of the saddle point",
    "[theory][ridge][study:gauss-overlaps]") {
  const GaussianMlm problem(ar1_covariance(60, 0.7));
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
    std::size_t k = 0;
    for (const double samples : sizes(problem)) {
      const Eigen::Index site = ridge.kinds()[k++ % ridge.kinds().size()].site;
      for (const double lambda : {0.0, 0.001, 0.1, 1.0}) {
        const RidgeSite here = ridge.site(site, samples, lambda);
        compare(here, ridge_site(problem, site, samples, lambda, order), kOfSite.size());
        // Small penalties take the iteration too long.
        constexpr double kSmallest = 0.05;
        if (order == RidgeOrder::first || lambda < kSmallest * problem.mean_eigenvalue()) continue;
        compare(here, ridge_site_replica(problem, site, samples, lambda), kOfReplica);
      }
    }
  }
  CHECK(worst < 1e-6);
}

// Without penalty and with M > N inverse moments of Wishart matrices are known:
// E_test = σ² (M-1)/(M-N-1), E|w|² = |w*|² + σ² tr C⁻¹/(M-N-1).
TEST_CASE("GaussianRidge: without penalty theory and allowance are the moments of inverse Wishart",
          "[theory][ridge][study:gauss-overlaps]") {
  constexpr double kFewestLeft = 6;
  constexpr double kAccuracy = 1e-6;
  const GaussianMlm problem(ar1_covariance(60, 0.7));
  const auto inputs = static_cast<double>(problem.sites() - 1);
  const GaussianRidge ridge(problem, RidgeOrder::first);
  std::size_t k = 0;
  for (const double samples : sizes(problem)) {
    const Eigen::Index site = ridge.kinds()[k++ % ridge.kinds().size()].site;
    const double left = samples - inputs;
    if (left < kFewestLeft) continue;
    CAPTURE(samples, site);
    const SiteRegression regression = site_regression(problem, site);
    const RidgeSite found = ridge.site(site, samples, 0);
    const double test = regression.bayes_error * (samples - 1) / (left - 1);
    const double norm = regression.teacher.squaredNorm() +
                        regression.bayes_error * regression.s.inverse().sum() / (left - 1);
    // What is beyond the order 1/M is the allowance itself of the test error, and within that of
    // the norm.
    CHECK(std::abs(test - found.test_error - found.finite_size_test) / test < kAccuracy);
    const double beyond = norm - found.weight_norm2;
    CHECK(beyond > 0);
    CHECK(beyond <= (1 + kAccuracy) * found.finite_size_weight_norm2);
  }
}

// The same contours serve any filter: that of ridge regression has a theory without contours. Its
// change r by the first order makes the allowance: r²/2, or what ridge regression at the inverse of
// the filter's time has.
TEST_CASE(
    "GaussianFlow: with the filter of ridge regression its theory and allowances, at either order",
    "[theory][flow][study:gauss-flow]") {
  const RidgeOrder order = GENERATE(RidgeOrder::leading, RidgeOrder::first);
  const GaussianMlm problem(ar1_covariance(61, 0.7));
  const GaussianFlow flow(problem, order);
  const GaussianRidge ridge(problem, order);
  const GaussianRidge leading(problem);
  std::vector<double> penalties;
  std::vector<ResidualFilter> filters;
  for (const double multiple : {0.02, 0.3, 3.0}) {
    penalties.push_back(multiple * problem.mean_eigenvalue());
    filters.push_back(ridge_filter(penalties.back()));
  }
  double worst = 0;
  double allowances = 0;
  const auto allowance = [&](double found, double error, double start, double relative) {
    if (order == RidgeOrder::leading) return;
    const double change = error / start - 1;
    const double expected = start * std::max(0.5 * change * change, relative);
    allowances = std::max(allowances, std::abs(found / expected - 1));
  };
  const auto compare = [&](const std::vector<FlowPoint>& points, const auto& expected) {
    for (std::size_t k = 0; k < points.size(); ++k) {
      if (points[k].status != FlowStatus::converged) continue;
      const auto exact = expected(ridge, penalties[k]);
      const auto start = expected(leading, penalties[k]);
      const auto beside = expected(ridge, 1 / filters[k].time);
      allowance(points[k].finite_size_test,
                exact.test_error,
                start.test_error,
                beside.finite_size_test / beside.test_error);
      allowance(points[k].finite_size_train,
                exact.train_error,
                start.train_error,
                beside.finite_size_train / beside.train_error);
      for (const double defect : {points[k].test_error - exact.test_error,
                                  points[k].train_error - exact.train_error,
                                  points[k].noise_error - exact.noise_variance}) {
        worst = std::max(worst, std::abs(defect) / exact.test_error);
      }
    }
  };
  const std::vector<SiteKind>& kinds = ridge.kinds();
  std::size_t k = 0;
  for (const double samples : {30.0, 60.0, 150.0}) {
    compare(flow.average(samples, filters),
            [&](const GaussianRidge& of, double penalty) { return of.average(samples, penalty); });
    const Eigen::Index site = kinds[k++ % kinds.size()].site;
    compare(flow.site(site, samples, filters), [&](const GaussianRidge& of, double penalty) {
      return of.site(site, samples, penalty);
    });
  }
  CHECK(worst < 1e-6);
  CHECK(allowances < 1e-3);
}

}  // namespace gauss_checks_test
