#include "attica/theory/gauss/ridge_limits.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>
#include <string>

#include "attica/core/error.hpp"
#include "reference_values.hpp"
#include "refused.hpp"
#include "theory/gauss/isotropic_ridge.hpp"

using attica::testing::Reference;
using namespace attica;
using attica::testing::isotropic_ridge;
using attica::testing::IsotropicTask;
using attica::testing::reference_values;
using attica::testing::refused;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

TEST_CASE("optimal_penalty: reference values", "[theory][ridge_limits]") {
  for (const Reference entry : reference_values("potts").at("optimal_lambda_common")) {
    const Reference sigma = entry.at("sigma");
    const GaussianRidge ridge{GaussianMlm(ar1_covariance(sigma.at("L"), sigma.at("param")))};
    const OptimalPenalty best = optimal_penalty(ridge, entry.at("M"));
    CHECK_FALSE(best.at_edge);
    // The place of a minimum is known to the square root of the rounding, its value to rounding.
    CHECK_THAT(best.lambda, WithinRel(entry.at("lam_opt").get<double>(), 1e-6));
    CHECK_THAT(best.test_error, WithinRel(entry.at("mean_test").get<double>(), 1e-12));
  }
}

TEST_CASE("optimal_penalty: at the ends of the range", "[theory][ridge_limits]") {
  // Independent sites: nothing can be learnt, the error falls towards λ = ∞.
  const GaussianRidge independent{GaussianMlm(Eigen::MatrixXd::Identity(6, 6))};
  const OptimalPenalty none = optimal_penalty(independent, 4);
  CHECK(none.at_edge);
  CHECK_THAT(none.test_error, WithinRel(1.0, 1e-7));
  // No noise and more samples than the rank: λ = 0 learns exactly.
  const GaussianRidge exact{GaussianMlm(Eigen::MatrixXd::Ones(4, 4), Definiteness::semi_positive)};
  const OptimalPenalty zero = optimal_penalty(exact, 3);
  CHECK(zero.lambda == 0);
  CHECK(zero.test_error == 0);
  CHECK_FALSE(zero.at_edge);
}

TEST_CASE("GaussianRidge: of an isotropic site it is the closed form", "[theory][ridge_limits]") {
  const double rho = -0.8;
  const GaussianRidge ridge{GaussianMlm(2 * arrow_covariance(11, rho))};
  const IsotropicTask task{
      .variance = 2, .weight_norm2 = rho * rho, .noise_variance = 2 * (1 - rho * rho)};
  for (const double lambda : {0.0, 1e-12, 0.1, 50.0}) {
    for (const double alpha : {0.3, 1.0, 1.7}) {
      const RidgeSite general = ridge.site(0, 10 * alpha, lambda);
      const RidgeLimit closed = isotropic_ridge(task, alpha, lambda);
      CHECK(closed.status == general.status);
      CHECK_THAT(closed.kappa, WithinRel(general.kappa, 1e-13));
      CHECK_THAT(closed.one_minus_gamma, WithinRel(general.one_minus_gamma, 1e-13));
      CHECK_THAT(closed.train_error, WithinRel(general.train_error, 1e-12));
      if (closed.status == RidgeStatus::divergent) {
        CHECK(std::isinf(closed.test_error));
      } else {
        CHECK_THAT(closed.test_error, WithinRel(general.test_error, 1e-12));
      }
    }
  }
}

TEST_CASE("precision_ridge_limit: reference values", "[theory][ridge_limits]") {
  for (const Reference entry : reference_values("potts").at("goe_precision_Linf")) {
    const RidgeLimit limit = precision_ridge_limit(
        {.nu = entry.at("nu"), .tau = entry.at("tau")}, entry.at("alpha"), entry.at("lam"));
    CHECK_THAT(limit.kappa, WithinRel(entry.at("kappa").get<double>(), 1e-12));
    CHECK_THAT(limit.test_error, WithinRel(entry.at("test").get<double>(), 1e-12));
    CHECK_THAT(limit.train_error, WithinRel(entry.at("train").get<double>(), 1e-12));
  }
}

TEST_CASE("precision_ridge_limit: solves the equations of the semicircle by quadrature",
          "[theory][ridge_limits]") {
  // Precision eigenvalues e = nu + 2 tau cos θ with density (2/π) sin²θ: the midpoint rule in θ
  // converges geometrically for these periodic integrands.
  const PrecisionEnsemble ensemble{.nu = 2.5, .tau = 1.2};
  const auto mean = [&](auto&& f) {
    constexpr int kNodes = 400;
    double sum = 0;
    for (int j = 0; j < kNodes; ++j) {
      const double theta = std::numbers::pi * (j + 0.5) / kNodes;
      const double weight = 2 * std::sin(theta) * std::sin(theta) / kNodes;
      sum += weight * f(1 / (ensemble.nu + 2 * ensemble.tau * std::cos(theta)));
    }
    return sum;
  };
  for (const double lambda : {0.0, 1e-3, 1.0, 100.0}) {
    for (const double alpha : {0.2, 0.9, 1.0, 3.0}) {
      if (lambda == 0 && alpha >= 1) continue;
      const RidgeLimit limit = precision_ridge_limit(ensemble, alpha, lambda);
      REQUIRE(limit.status == RidgeStatus::converged);
      const double k = limit.kappa;
      const double f1 = mean([k](double s) { return s / (s + k); });
      CHECK_THAT(k * (1 - f1 / alpha), WithinAbs(lambda, 1e-12 * (k + lambda)));
      const double f2 = mean([k](double s) { return s * s / ((s + k) * (s + k)); });
      CHECK_THAT(limit.one_minus_gamma, WithinRel(1 - f2 / alpha, 1e-11));
      const double g1 = mean([k](double s) { return 1 / (s + k); });
      const double h2 = mean([k](double s) { return s / ((s + k) * (s + k)); });
      CHECK_THAT(limit.test_error * limit.one_minus_gamma, WithinRel(h2 / (g1 * g1), 1e-11));
    }
  }
}

TEST_CASE("precision_ridge_limit: without randomness the sites are independent",
          "[theory][ridge_limits]") {
  // tau = 0: Σ = 1/nu, isotropic inputs that carry no information.
  const IsotropicTask task{.variance = 0.25, .weight_norm2 = 0, .noise_variance = 0.25};
  for (const double lambda : {0.0, 0.2}) {
    const RidgeLimit limit = precision_ridge_limit({.nu = 4, .tau = 0}, 0.6, lambda);
    const RidgeLimit isotropic = isotropic_ridge(task, 0.6, lambda);
    CHECK_THAT(limit.kappa, WithinRel(isotropic.kappa, 1e-13));
    CHECK_THAT(limit.test_error, WithinRel(isotropic.test_error, 1e-13));
  }
}

TEST_CASE("precision_ridge_limit: drawn covariances approach it", "[theory][ridge_limits]") {
  RandomStream stream({.seed = 5, .id = StreamId::model});
  for (const Eigen::Index sites : {100, 300}) {
    const PrecisionEnsemble ensemble{.sites = sites};
    const GaussianRidge ridge{GaussianMlm(precision_covariance(ensemble, stream))};
    const double inputs = static_cast<double>(sites - 1);
    for (const double alpha : {0.5, 2.0}) {
      for (const double lambda : {0.0, 0.05}) {
        const RidgeLimit limit = precision_ridge_limit(ensemble, alpha, lambda);
        const RidgePoint drawn = ridge.average(alpha * inputs, lambda);
        // Linear spectral statistics of the ensemble fluctuate and are biased by O(1/L).
        const double allowance = 10.0 / static_cast<double>(sites);
        CHECK_THAT(drawn.test_error, WithinRel(limit.test_error, allowance));
        CHECK_THAT(drawn.train_error, WithinRel(limit.train_error, allowance));
        CHECK_THAT(drawn.bayes_error, WithinRel(limit.bayes_error, allowance));
      }
    }
  }
}

TEST_CASE("precision_ridge_limit: thresholds", "[theory][ridge_limits]") {
  const RidgeLimit peak = precision_ridge_limit({}, 1, 0);
  CHECK(peak.status == RidgeStatus::divergent);
  CHECK(std::isinf(peak.test_error));
  const RidgeLimit many = precision_ridge_limit({}, 4, 0);
  CHECK(many.kappa == 0);
  CHECK_THAT(many.test_error, WithinRel(1 / 3.0 / (1 - 0.25), 1e-14));
  CHECK_THAT(precision_ridge_limit({}, 4, 1e-12).test_error, WithinRel(many.test_error, 1e-10));
}

TEST_CASE("closed forms: refuse bad parameters by name", "[theory][ridge_limits]") {
  CHECK(refused([] { precision_ridge_limit({.nu = 2}, 1, 0.1); }) == "nu");
  CHECK(refused([] { precision_ridge_limit({.tau = -1}, 1, 0.1); }) == "tau");
  CHECK(refused([] { precision_ridge_limit({}, 0, 0.1); }) == "alpha");
  CHECK(refused([] { precision_ridge_limit({}, 1, -0.1); }) == "lambda");
  const GaussianRidge ridge{GaussianMlm(ar1_covariance(3, 0.5))};
  CHECK(refused([&] { optimal_penalty(ridge, 0); }) == "samples");
}
