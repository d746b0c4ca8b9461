#include "attica/theory/gauss/ridge_first_order.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "attica/core/gauss/ensembles.hpp"
#include "attica/core/random.hpp"
#include "attica/theory/gauss/ridge.hpp"
#include "attica/theory/gauss/site_regression.hpp"
#include "attica/theory/ridge_kappa.hpp"

using namespace attica;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace gauss_ridge_first_order_test {

GaussianMlm random_problem(Eigen::Index sites, Eigen::Index rank) {
  RandomStream stream({.seed = 11, .id = StreamId::model});
  const Eigen::MatrixXd loadings = Eigen::MatrixXd::NullaryExpr(
      sites, rank, [&](Eigen::Index, Eigen::Index) { return stream.normal(); });
  return GaussianMlm(loadings * loadings.transpose(), Definiteness::semi_positive);
}

/// E[(Ŝ + λ + εC)⁻¹] to order 1/M in C's eigenbasis, as the expansion reads before anything is
/// simplified: with G0 = (Λ + C/(1+δ))⁻¹ and δ = tr(C G0)/M solved by bisection.
Eigen::ArrayXd mean_resolvent(const Eigen::ArrayXd& s, double samples, double lambda, double eps) {
  double low = 0;
  double high = s.sum() / (samples * lambda);
  const auto leading = [&](double delta) -> Eigen::ArrayXd {
    return 1 / (lambda + eps * s + s / (1 + delta));
  };
  for (int step = 0; step < 200; ++step) {
    const double middle = 0.5 * (low + high);
    ((s * leading(middle)).sum() / samples > middle ? low : high) = middle;
  }
  const double a = 1 + high;
  const Eigen::ArrayXd g0 = leading(high);
  const Eigen::ArrayXd sg = s * g0;
  const double second = sg.square().sum() / samples;
  const double third = sg.cube().sum() / samples;
  const double rest = 1 - second / (a * a);
  const double delta1 = (third / (a * a) - second * second / (a * a * a)) / (samples * rest * rest);
  return g0 + g0 * (sg * delta1 / (a * a) +
                    (sg.square() / (a * a) - second * sg / (a * a * a)) / (samples * rest));
}

struct Errors {
  double bias = 0;
  double noise_variance = 0;
  double test = 0;
  double train = 0;
  double overlap_m = 0;
  double weight_norm2 = 0;
};

/// From E[G], E[GCG] = -∂E[G]/∂ε and E[G²] = -∂E[G]/∂λ by central differences.
Errors by_differences(const SiteRegression& site, double samples, double lambda, double kappa) {
  const Eigen::ArrayXd& s = site.s;
  const Eigen::ArrayXd v2 = site.teacher.array().square();
  const double sigma2 = site.bayes_error;
  const double n = static_cast<double>(s.size());
  const auto slope = [](const auto& f, double step) -> Eigen::ArrayXd {
    return (8 * (f(step) - f(-step)) - (f(2 * step) - f(-2 * step))) / (12 * step);
  };
  const Eigen::ArrayXd g = mean_resolvent(s, samples, lambda, 0);
  const Eigen::ArrayXd gcg = -slope([&](double e) { return mean_resolvent(s, samples, lambda, e); },
                                    1e-3 * lambda / kappa);
  const Eigen::ArrayXd g2 =
      -slope([&](double d) { return mean_resolvent(s, samples, lambda + d, 0); }, 1e-3 * lambda);
  const double l2 = lambda * lambda;
  Errors result;
  // Of the squared bias λ² wᵀE[G] C E[G] w the terms up to the first order.
  const Eigen::ArrayXd g0 = kappa / lambda / (s + kappa);
  result.bias = l2 * (s * v2 * g0 * (2 * g - g0)).sum();
  result.noise_variance = sigma2 / samples * (s * (g - lambda * g2)).sum();
  result.test = sigma2 + l2 * (v2 * gcg).sum() + result.noise_variance;
  result.train = l2 * (v2 * (g - lambda * g2)).sum() + sigma2 * (1 - (n - l2 * g2.sum()) / samples);
  result.overlap_m = (s * v2 * (1 - lambda * g)).sum();
  result.weight_norm2 =
      (v2 * (1 - 2 * lambda * g + l2 * g2)).sum() + sigma2 / samples * (g - lambda * g2).sum();
  return result;
}

double relative_correction(const GaussianMlm& problem, double samples, double lambda) {
  const RidgeSite leading = ridge_site(problem, 0, samples, lambda);
  const RidgeSite first = ridge_site(problem, 0, samples, lambda, RidgeOrder::first);
  return first.test_error / leading.test_error - 1;
}

TEST_CASE("add_first_order: errors are derivatives of the mean resolvent", "[theory][ridge]") {
  const GaussianMlm problem = GENERATE(GaussianMlm(ar1_covariance(12, 0.7)), random_problem(9, 14));
  for (const double samples : {3.0, 8.0, 11.0, 14.0, 60.0}) {
    for (const double lambda : {0.02, 0.4, 5.0}) {
      const RidgeSite site = ridge_site(problem, 4, samples, lambda, RidgeOrder::first);
      const Errors expected =
          by_differences(site_regression(problem, 4), samples, lambda, site.kappa);
      INFO("M = " << samples << " lambda = " << lambda);
      // Differences of fourth order in relative steps of 1e-3, 1e-8 at worst; what cancels in the
      // training error is of the order of σ².
      CHECK_THAT(site.test_error, WithinRel(expected.test, 1e-7));
      CHECK_THAT(site.train_error, WithinRel(expected.train, 1e-6));
      CHECK_THAT(site.bias, WithinRel(expected.bias, 1e-7));
      CHECK_THAT(site.noise_variance, WithinRel(expected.noise_variance, 1e-7));
      CHECK_THAT(site.overlap_m, WithinRel(expected.overlap_m, 1e-8));
      CHECK_THAT(site.weight_norm2, WithinRel(expected.weight_norm2, 1e-8));
    }
  }
}

TEST_CASE("add_first_order: without penalty the exact inverse Wishart means are expanded",
          "[theory][ridge]") {
  // E_test = σ²(M-1)/(M-n-1) and tr E S⁻¹ = tr C⁻¹ M/(M-n-1) for M > n+1: with d = M-n, 1/(d-1) is
  // (1+1/d)/d but for 1/(d²(d-1)). E_train is exact at leading order.
  const GaussianMlm problem(ar1_covariance(8, 0.6));
  for (const double samples : {12.0, 20.0, 100.0}) {
    const SiteRegression regression = site_regression(problem, 2);
    const double d = samples - 7;
    const double expanded = (1 + 1 / d) / d;
    const RidgeSite site = GaussianRidge(problem, RidgeOrder::first).site(2, samples, 0);
    const double sigma2 = site.bayes_error;
    CHECK_THAT(site.test_error, WithinRel(sigma2 * (1 + 7 * expanded), 1e-12));
    CHECK_THAT(site.train_error, WithinRel(sigma2 * (1 - 7 / samples), 1e-12));
    const double norm2 =
        regression.teacher.squaredNorm() + sigma2 * regression.s.inverse().sum() * expanded;
    CHECK_THAT(site.weight_norm2, WithinRel(norm2, 1e-12));
    CHECK_THAT(site.overlap_m, WithinRel(site.signal, 1e-12));
    const double exact = sigma2 * (samples - 1) / (d - 1);
    CHECK(std::abs(site.test_error - exact) <= site.finite_size_test * (1 + 1e-9));
  }
}

TEST_CASE("add_first_order: one input is an inverse chi-square", "[theory][ridge]") {
  // Two sites of correlation r, n = 1: E M/χ²_M = M/(M-2), to order 1/M² 1 + 2/M.
  const GaussianMlm problem(equi_covariance(2, 0.6));
  for (const double samples : {50.0, 5000.0}) {
    const RidgeSite site = GaussianRidge(problem, RidgeOrder::first).site(0, samples, 0);
    const double noise = (site.weight_norm2 - 0.36) * samples / site.bayes_error;
    CHECK_THAT(noise, WithinAbs(samples / (samples - 2), 6 / (samples * samples)));
  }
}

TEST_CASE("add_first_order: without penalty and with M < n, isotropic inputs", "[theory][ridge]") {
  // The minimum-norm solution: noise σ² M/(n-M-1), and a random projection: B = |w|² (1-M/n) c.
  const GaussianMlm problem(arrow_covariance(41, 0.5));
  for (const double samples : {5.0, 20.0, 33.0}) {
    const RidgeSite site = GaussianRidge(problem, RidgeOrder::first).site(0, samples, 0);
    const double d = 40 - samples;
    CHECK_THAT(site.noise_variance, WithinRel(site.bayes_error * samples * (1 + 1 / d) / d, 1e-11));
    CHECK_THAT(site.overlap_m, WithinRel(site.signal * samples / 40, 1e-11));
    CHECK_THAT(site.bias + site.sampling_variance, WithinRel(site.signal * d / 40, 1e-11));
    CHECK(site.train_error == 0);
  }
}

TEST_CASE("GaussianRidge: at first order one decomposition serves all sites too",
          "[theory][ridge]") {
  const std::vector<int> order = {0, 1, 2, 2, 3, 4, 5};
  const Eigen::MatrixXd doubled = ar1_covariance(6, 0.5)(order, order);
  const GaussianMlm problem = GENERATE_COPY(random_problem(9, 14),
                                            random_problem(9, 6),
                                            GaussianMlm(ar1_covariance(13, 0.8)),
                                            GaussianMlm(arrow_covariance(2, 0.3)),
                                            GaussianMlm(doubled, Definiteness::semi_positive));
  const GaussianRidge ridge(problem, RidgeOrder::first);
  for (const double lambda : {0.0, 1e-6, 1e-3, 0.1, 10.0}) {
    for (const double samples : {1.0, 3.4, 7.5, 20.0, 1e4}) {
      const std::vector<RidgeSite> sites = ridge.all_sites(samples, lambda);
      RidgePoint mean;
      for (Eigen::Index i = 0; i < problem.sites(); ++i) {
        INFO("site " << i << " M = " << samples << " lambda = " << lambda);
        const RidgeSite& site = sites[static_cast<std::size_t>(i)];
        const double share = 1 / static_cast<double>(problem.sites());
        mean.test_error += share * site.test_error;
        mean.finite_size_test += share * site.finite_size_test;
        mean.finite_size_train += share * site.finite_size_train;
        mean.finite_size_overlap_q += share * site.finite_size_overlap_q;
        if (site.kappa == 0 && site.bayes_error == 0) continue;  // learnt without error
        const RidgeSite expected = ridge_site(problem, i, samples, lambda, RidgeOrder::first);
        const double scale = expected.test_error + expected.signal;
        const auto same = [&](double value, double oracle, double size) {
          CHECK_THAT(value, WithinAbs(oracle, 1e-9 * size));
        };
        same(site.bias, expected.bias, scale);
        same(site.noise_variance, expected.noise_variance, scale);
        same(site.test_error, expected.test_error, scale);
        same(site.train_error, expected.train_error, scale);
        same(site.overlap_m, expected.overlap_m, scale);
        same(site.overlap_q, expected.overlap_q, scale);
        same(site.weight_norm2, expected.weight_norm2, expected.weight_norm2 + 1);
        same(site.finite_size_test, expected.finite_size_test, scale);
        same(site.finite_size_train, expected.finite_size_train, scale);
        same(site.bias + site.sampling_variance + site.noise_variance + site.bayes_error,
             site.test_error,
             scale);
        same(site.overlap_q - 2 * site.overlap_m + site.signal + site.bayes_error,
             site.test_error,
             scale);
      }
      const RidgePoint average = ridge.average(samples, lambda);
      CHECK_THAT(average.test_error, WithinRel(mean.test_error, 1e-12));
      CHECK_THAT(average.finite_size_test, WithinRel(mean.finite_size_test, 1e-9));
      CHECK_THAT(average.finite_size_train, WithinRel(mean.finite_size_train, 1e-9));
      CHECK_THAT(average.finite_size_overlap_q, WithinRel(mean.finite_size_overlap_q, 1e-9));
    }
  }
}

TEST_CASE("add_first_order: the terms fall as 1/M at fixed M/N", "[theory][ridge]") {
  // Equal sites of independent inputs beside the first, so that only the size changes.
  const double small = relative_correction(GaussianMlm(arrow_covariance(41, 0.5)), 60, 0.1);
  const double large = relative_correction(GaussianMlm(arrow_covariance(401, 0.5)), 600, 0.1);
  CHECK(std::abs(small) > 1e-4);
  CHECK_THAT(large * 10, WithinRel(small, 1e-9));
}

TEST_CASE("GaussianRidge: at the threshold without penalty there is no first order either",
          "[theory][ridge]") {
  const RidgePoint peak =
      GaussianRidge(GaussianMlm(ar1_covariance(12, 0.6)), RidgeOrder::first).average(11, 0);
  CHECK(peak.status == RidgeStatus::divergent);
  CHECK(peak.test_error == std::numeric_limits<double>::infinity());
  CHECK(peak.finite_size_test == std::numeric_limits<double>::infinity());
}

TEST_CASE("second_order: covers the exact inverse moments of Wishart matrices", "[theory][ridge]") {
  // d degrees of freedom left, many samples: E_test = 1/(1-1/d) without penalty and M > n; E_train
  // in the limit λ → 0 with M < n is leading/((1-1/d)(1-3/d)).
  for (const double d : {4.0, 5.0, 8.0, 20.0, 300.0}) {
    const double omega = 1 / d;
    const SecondOrder above =
        second_order({.omega = omega, .gamma = 1, .d2 = 0, .interpolating_share = 0});
    const double test = 1 / (1 - omega) - 1 - omega;
    CHECK(above.test >= test * (1 - 1e-12));
    CHECK(above.test <= 1.01 * test);
    const SecondOrder below =
        second_order({.omega = omega, .gamma = 1, .d2 = 1, .interpolating_share = 1});
    const double train = 1 / ((1 - omega) * (1 - 3 * omega)) - 1 - 4 * omega;
    CHECK(below.train >= 0.97 * train);
    CHECK(below.train <= 1.5 * train);
  }
}

TEST_CASE("second_order: covers the universal coefficients at the threshold", "[theory][ridge]") {
  // u = E Σ 1/(x+τ) of real Wishart matrices obeys u² + uν/τ - n/τ = u' - u/τ + ... ; to second
  // order at M = n the test error is leading (1 + 3/8 ω²), the train error leading (1 + ω - 9/8
  // ω²).
  const double omega = 0.02;
  const SecondOrder peak =
      second_order({.omega = omega, .gamma = 1, .d2 = 0.5, .interpolating_share = 0.5});
  CHECK(peak.test >= 3.0 / 8 * omega * omega);
  CHECK(peak.test <= omega * omega);
  CHECK(peak.train >= 9.0 / 8 * omega * omega);
  CHECK(peak.train <= 2 * omega * omega);
}

}  // namespace gauss_ridge_first_order_test
