#include "attica/theory/gauss/ridge.hpp"

#include <Eigen/LU>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/core/gauss/ensembles.hpp"
#include "attica/theory/ridge_kappa.hpp"
#include "reference_values.hpp"
#include "refused.hpp"
#include "theory/gauss/ridge_saddle_point.hpp"

using attica::testing::Reference;
using namespace attica;
using attica::testing::reference_values;
using attica::testing::refused;
using attica::testing::ridge_site_replica;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace gauss_ridge_test {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

GaussianMlm reference_problem(Reference sigma) {
  const auto sites = sigma.at("L").get<Eigen::Index>();
  const double parameter = sigma.at("param");
  return GaussianMlm(sigma.at("type") == "ar1" ? ar1_covariance(sites, parameter)
                                               : equi_covariance(sites, parameter));
}

/// A covariance without symmetry: random loadings of `rank` factors, with given unequal scales.
GaussianMlm random_problem(Eigen::Index sites, Eigen::Index rank, double decay = 1) {
  RandomStream stream({.seed = 11, .id = StreamId::model});
  const Eigen::MatrixXd loadings =
      Eigen::MatrixXd::NullaryExpr(sites, rank, [&](Eigen::Index, Eigen::Index k) {
        return stream.normal() * std::pow(decay, static_cast<double>(k));
      });
  return GaussianMlm(loadings * loadings.transpose(), Definiteness::semi_positive);
}

/// Relative to the value, or to `scale` where the value is smaller.
void check_close(double value, double expected, double tolerance, double scale = 0) {
  if (std::isinf(expected)) {
    CHECK(value == expected);
  } else {
    CHECK_THAT(value, WithinAbs(expected, tolerance * std::max(std::abs(expected), scale)));
  }
}

void check_same(const RidgeSite& a, const RidgeSite& b, double tolerance, double scale) {
  CHECK(a.status == b.status);
  check_close(a.kappa, b.kappa, tolerance);
  check_close(a.one_minus_gamma, b.one_minus_gamma, tolerance);
  check_close(a.bayes_error, b.bayes_error, tolerance, scale);
  check_close(a.bias, b.bias, tolerance, scale);
  check_close(a.sampling_variance, b.sampling_variance, tolerance, scale);
  check_close(a.noise_variance, b.noise_variance, tolerance, scale);
  check_close(a.test_error, b.test_error, tolerance, scale);
  check_close(a.train_error, b.train_error, tolerance, scale);
  check_close(a.overlap_m, b.overlap_m, tolerance, scale);
  check_close(a.overlap_q, b.overlap_q, tolerance, scale);
  check_close(a.weight_norm2, b.weight_norm2, tolerance, scale);
  check_close(a.signal, b.signal, tolerance, scale);
}

const std::vector<double> kPenalties = {0, 1e-12, 1e-3, 0.1, 10};

TEST_CASE("GaussianRidge and ridge_site: reference values", "[theory][ridge]") {
  for (const Reference entry : reference_values("potts").at("ridge")) {
    const GaussianMlm problem = reference_problem(entry.at("sigma"));
    const GaussianRidge ridge(problem);
    const double samples = entry.at("M");
    const double lambda = entry.at("lam");
    const double tolerance = entry.at("tol");
    INFO(entry.at("sigma") << " M = " << samples << " lambda = " << lambda);
    const std::vector<RidgeSite> shared = ridge.all_sites(samples, lambda);
    for (std::size_t i = 0; i < shared.size(); ++i) {
      for (const RidgeSite& site :
           {shared[i],
            ridge.site(static_cast<Eigen::Index>(i), samples, lambda),
            ridge_site(problem, static_cast<Eigen::Index>(i), samples, lambda)}) {
        const auto expected = [&](const char* name) { return entry.at(name)[i].get<double>(); };
        check_close(site.kappa, expected("kappa"), tolerance);
        check_close(site.one_minus_gamma, expected("one_minus_gamma"), tolerance);
        check_close(site.bayes_error, expected("sigma2"), tolerance);
        check_close(site.bias, expected("B"), tolerance, expected("sigma2"));
        check_close(site.test_error, expected("test"), tolerance);
        check_close(site.train_error, expected("train"), tolerance);
        check_close(site.overlap_m, expected("m"), tolerance);
        check_close(site.overlap_q, expected("q"), tolerance);
        check_close(site.signal, expected("rho"), tolerance);
        check_close(site.weight_norm2, expected("norm2"), tolerance);
      }
    }
    const RidgePoint average = ridge.average(samples, lambda);
    CHECK(average.status == RidgeStatus::converged);
    check_close(average.test_error, entry.at("mean_test"), tolerance);
    check_close(average.train_error, entry.at("mean_train"), tolerance);
  }
}

TEST_CASE("GaussianRidge: reference values of a random precision matrix", "[theory][ridge]") {
  const Reference entry = reference_values("potts").at("precision_ensemble_det");
  const auto sites = entry.at("L").get<Eigen::Index>();
  const Eigen::MatrixXd covariance =
      Eigen::MatrixXd::NullaryExpr(sites, sites, [&](Eigen::Index i, Eigen::Index j) {
        return entry.at("Sigma")[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]
            .get<double>();
      });
  const GaussianRidge ridge{GaussianMlm(covariance)};
  for (const Reference expected : entry.at("cases")) {
    const std::vector<RidgeSite> result = ridge.all_sites(expected.at("M"), expected.at("lam"));
    for (std::size_t i = 0; i < result.size(); ++i) {
      check_close(result[i].kappa, expected.at("kappa")[i], 1e-12);  // well conditioned
      check_close(result[i].test_error, expected.at("test")[i], 1e-12);
      check_close(result[i].train_error, expected.at("train")[i], 1e-12);
    }
  }
}

TEST_CASE("GaussianRidge: isotropic inputs follow the closed form", "[theory][ridge]") {
  for (const Reference entry : reference_values("potts").at("isotropic_arrow_site0")) {
    const auto inputs = entry.at("N").get<Eigen::Index>();
    const double rho = std::sqrt(entry.at("w2").get<double>());
    const GaussianMlm problem(arrow_covariance(inputs + 1, rho));
    const RidgeSite site = GaussianRidge(problem).site(0, entry.at("M"), entry.at("lam"));
    check_close(site.kappa, entry.at("kappa"), 1e-12);
    check_close(site.test_error, entry.at("test"), 1e-12);
    check_close(site.train_error, entry.at("train"), 1e-12);
  }
}

TEST_CASE("GaussianRidge: one decomposition for all sites agrees with one per site",
          "[theory][ridge]") {
  const GaussianMlm problem = GENERATE(random_problem(13, 20),
                                       GaussianMlm(ar1_covariance(13, 0.8)),
                                       GaussianMlm(arrow_covariance(2, 0.3)));
  const GaussianRidge ridge(problem);
  const double rank = static_cast<double>(problem.sites() - 1);
  for (const double lambda : kPenalties) {
    for (const double samples :
         {1.0, 0.4 * rank, rank - 0.1, rank, rank + 0.1, 2.0 * rank, 1e4 * rank}) {
      if (samples < 1) continue;
      for (Eigen::Index i = 0; i < problem.sites(); ++i) {
        INFO("site " << i << " M = " << samples << " lambda = " << lambda);
        // Condition numbers below 500; both paths lose that factor to rounding. Parts of the error
        // are compared on the scale of the whole.
        const RidgeSite expected = ridge_site(problem, i, samples, lambda);
        const double scale = std::isinf(expected.test_error)
                                 ? expected.bayes_error
                                 : std::max(expected.test_error, expected.signal);
        check_same(ridge.site(i, samples, lambda), expected, 1e-12, scale);
      }
    }
  }
}

TEST_CASE("GaussianRidge: rank-deficient covariances agree with the path per site",
          "[theory][ridge]") {
  // Rank 6 of 9: every site is a function of the others. Duplicated site: two are, five are not.
  const std::vector<int> order = {0, 1, 2, 2, 3, 4, 5};
  const Eigen::MatrixXd doubled = ar1_covariance(6, 0.5)(order, order);
  const GaussianMlm problem =
      GENERATE_COPY(random_problem(9, 6), GaussianMlm(doubled, Definiteness::semi_positive));
  REQUIRE(problem.rank() < problem.sites());
  const GaussianRidge ridge(problem);
  for (const double lambda : kPenalties) {
    for (const double samples : {1.0, 4.5, 5.0, 6.0, 6.5, 30.0}) {
      for (Eigen::Index i = 0; i < problem.sites(); ++i) {
        INFO("site " << i << " M = " << samples << " lambda = " << lambda);
        const RidgeSite expected = ridge_site(problem, i, samples, lambda);
        const double scale = std::isinf(expected.test_error)
                                 ? expected.bayes_error
                                 : std::max(expected.test_error, expected.signal);
        check_same(ridge.site(i, samples, lambda), expected, 1e-11, scale);
      }
    }
  }
}

TEST_CASE("GaussianRidge: a duplicated input equals one input scaled by √2", "[theory][ridge]") {
  // The two copies enter through (x+x)/√2 = √2 x only, since ŵ has no part along their difference.
  const Eigen::MatrixXd original = ar1_covariance(6, 0.5);
  const std::vector<int> order = {0, 1, 2, 2, 3, 4, 5};
  const GaussianRidge doubled{GaussianMlm(original(order, order), Definiteness::semi_positive)};
  Eigen::VectorXd scales = Eigen::VectorXd::Ones(6);
  scales[2] = std::sqrt(2.0);
  const GaussianRidge dropped{GaussianMlm(scales.asDiagonal() * original * scales.asDiagonal())};
  for (const double lambda : kPenalties) {
    for (const double samples : {2.5, 5.0, 5.5, 20.0}) {
      for (const auto& [with, without] : {std::pair{0, 0}, std::pair{4, 3}, std::pair{6, 5}}) {
        check_same(doubled.site(with, samples, lambda),
                   dropped.site(without, samples, lambda),
                   1e-11,
                   1.0);
      }
    }
  }
}

TEST_CASE("GaussianRidge: the ridgeless value is the limit of small penalties", "[theory][ridge]") {
  const GaussianMlm problem = GENERATE(random_problem(9, 6), random_problem(9, 14));
  const GaussianRidge ridge(problem);
  const double lambda = 1e-9 * problem.mean_eigenvalue();
  for (const double samples : {2.0, 4.0, 12.0, 40.0}) {
    const std::vector<RidgeSite> limit = ridge.all_sites(samples, 0);
    const std::vector<RidgeSite> small = ridge.all_sites(samples, lambda);
    for (std::size_t i = 0; i < limit.size(); ++i) {
      // First order in lambda, times condition numbers of at most a few hundred.
      const double tolerance = 1e-5 * ridge.mean_eigenvalue();
      CHECK_THAT(small[i].test_error, WithinAbs(limit[i].test_error, tolerance));
      CHECK_THAT(small[i].train_error, WithinAbs(limit[i].train_error, tolerance));
      CHECK_THAT(small[i].overlap_q, WithinAbs(limit[i].overlap_q, tolerance));
      CHECK_THAT(small[i].weight_norm2, WithinRel(limit[i].weight_norm2, 1e-5));
    }
  }
}

TEST_CASE("GaussianRidge: the saddle point gives the same numbers", "[theory][ridge]") {
  const GaussianMlm problem = random_problem(10, 15);
  const GaussianRidge ridge(problem);
  for (const double lambda : {0.03, 1.0}) {
    for (const double samples : {3.0, 9.0, 25.0}) {
      for (Eigen::Index i = 0; i < problem.sites(); ++i) {
        const RidgeSite replica = ridge_site_replica(problem, i, samples, lambda);
        REQUIRE(replica.status == RidgeStatus::converged);
        // Iterated to 1e-14 at a rate that may come near 1.
        check_same(replica, ridge.site(i, samples, lambda), 1e-10, problem.covariance()(i, i));
      }
    }
  }
}

TEST_CASE("GaussianRidge: limits of large penalty and of many samples", "[theory][ridge]") {
  const GaussianMlm problem = random_problem(7, 10);
  const GaussianRidge ridge(problem);
  for (Eigen::Index i = 0; i < problem.sites(); ++i) {
    const double variance = problem.covariance()(i, i);
    const double lambda = 1e9 * problem.mean_eigenvalue();
    const RidgeSite null = ridge.site(i, 5, lambda);
    CHECK_THAT(null.test_error, WithinRel(variance, 1e-7));  // first order in 1/lambda
    CHECK_THAT(null.train_error, WithinRel(variance, 1e-7));
    // First order: ŵ = r̂/λ, so m λ = |b|² and |ŵ|² λ² = |b|² + (E_test/M) tr C.
    const double b2 = problem.covariance().col(i).squaredNorm() - variance * variance;
    const double trace = problem.covariance().trace() - variance;
    CHECK_THAT(null.overlap_m * lambda, WithinRel(b2, 1e-7));
    CHECK_THAT(null.weight_norm2 * lambda * lambda, WithinRel(b2 + variance * trace / 5, 1e-7));

    const RidgeSite known = ridge.site(i, 1e12, 0.0);
    CHECK_THAT(known.test_error, WithinRel(known.bayes_error, 1e-11));
    CHECK_THAT(known.bayes_error, WithinRel(1 / problem.covariance().inverse()(i, i), 1e-11));
    const RidgeSite population = ridge.site(i, 1e12, 0.3);  // (C+λ)⁻¹ b
    Eigen::MatrixXd shifted = problem.covariance();
    shifted.diagonal().array() += 0.3;
    const Eigen::VectorXd predictor = shifted.inverse().col(i) / shifted.inverse()(i, i);
    CHECK_THAT(population.test_error,
               WithinRel(predictor.dot(problem.covariance() * predictor), 1e-9));
  }
}

TEST_CASE("GaussianRidge: ridgeless errors agree with the exact finite-size ones to O(1/M)",
          "[theory][ridge]") {
  // Inverse Wishart: E_test = σ²(M-1)/(M-N-1), E_train = σ²(M-N)/M for M > N+1.
  for (const Eigen::Index sites : {20, 200}) {
    const GaussianRidge ridge{GaussianMlm(ar1_covariance(sites, 0.5))};
    const double inputs = static_cast<double>(sites - 1);
    const double samples = 3 * inputs;
    const RidgePoint point = ridge.average(samples, 0);
    const double exact = point.bayes_error * (samples - 1) / (samples - inputs - 1);
    CHECK(std::abs(point.test_error - exact) < point.finite_size_test);
    CHECK_THAT(point.train_error, WithinRel(point.bayes_error * (1 - inputs / samples), 1e-13));
  }
}

TEST_CASE("GaussianRidge: the parts add up", "[theory][ridge]") {
  const GaussianMlm problem = random_problem(11, 14);
  const GaussianRidge ridge(problem);
  for (const double lambda : {0.0, 1e-4, 0.5}) {
    for (const double samples : {1.0, 4.0, 9.5, 12.0, 100.0}) {
      for (const RidgeSite& s : ridge.all_sites(samples, lambda)) {
        const double sum = s.bias + s.sampling_variance + s.noise_variance + s.bayes_error;
        CHECK_THAT(sum, WithinRel(s.test_error, 1e-14));
        const double overlaps = s.overlap_q - 2 * s.overlap_m + s.signal + s.bayes_error;
        CHECK_THAT(overlaps, WithinAbs(s.test_error, 1e-12 * (s.overlap_q + s.signal)));
        CHECK(s.bias >= 0);
        CHECK(s.train_error <= s.test_error);
      }
    }
  }
}

TEST_CASE("GaussianRidge: at the interpolation threshold", "[theory][ridge]") {
  const GaussianMlm problem(ar1_covariance(12, 0.6));
  const GaussianRidge ridge(problem);
  const RidgePoint peak = ridge.average(11, 0);
  CHECK(peak.status == RidgeStatus::divergent);
  CHECK(peak.test_error == kInfinity);
  CHECK(peak.noise_variance == kInfinity);
  CHECK(peak.train_error == 0);
  CHECK(peak.sampling_variance == 0);
  CHECK(std::isfinite(peak.overlap_m));
  CHECK(peak.finite_size_test == kInfinity);

  // κ → √(λ/⟨1/s⟩) and E_test → σ²/(2√(λ⟨1/s⟩)), corrections of relative order √λ.
  const double lambda = 1e-14;
  std::vector<int> inputs = {0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11};
  const Eigen::MatrixXd covariance = problem.covariance()(inputs, inputs);
  const double mean_inverse = covariance.inverse().trace() / 11;
  const RidgeSite site = ridge.site(3, 11, lambda);
  CHECK_THAT(site.kappa, WithinRel(std::sqrt(lambda / mean_inverse), 1e-5));
  CHECK_THAT(site.test_error,
             WithinRel(site.bayes_error / (2 * std::sqrt(lambda * mean_inverse)), 1e-5));
}

TEST_CASE("GaussianRidge: sites determined by the others are learnt without error",
          "[theory][ridge]") {
  const GaussianMlm problem = random_problem(9, 6);
  const GaussianRidge ridge(problem);
  for (const double samples : {6.0, 6.5, 20.0}) {
    for (const RidgeSite& site : ridge.all_sites(samples, 0)) {
      CHECK(site.status == RidgeStatus::converged);
      CHECK(site.test_error == 0);
      CHECK(site.overlap_q == site.signal);
    }
  }
  CHECK(ridge.average(5, 0).test_error > 0);
}

TEST_CASE("GaussianRidge: condition number 1e12 stays consistent", "[theory][ridge]") {
  const GaussianMlm problem = random_problem(10, 10, 0.047);  // scales 0.047^k: 0.047^18 = 1e-24
  const GaussianMlm steep(problem.covariance() +
                          1e-12 * problem.eigenvalues()[9] * Eigen::MatrixXd::Identity(10, 10));
  CHECK(steep.condition_number() > 5e11);
  const GaussianRidge ridge(steep);
  for (const double lambda : {0.0, 1e-12, 1e-6, 1.0}) {
    for (const double samples : {3.0, 9.0, 20.0}) {
      for (Eigen::Index i = 0; i < 10; ++i) {
        const RidgeSite shared = ridge.site(i, samples, lambda);
        const RidgeSite direct = ridge_site(steep, i, samples, lambda);
        INFO("site " << i << " M = " << samples << " lambda = " << lambda);
        REQUIRE(shared.status == direct.status);
        if (shared.status == RidgeStatus::divergent) continue;
        // Small eigenvalues are known to 1e12 eps relative only, a few 1e-4.
        check_close(shared.test_error, direct.test_error, 5e-3);
        check_close(shared.kappa, direct.kappa, 5e-3);
      }
    }
  }
}

TEST_CASE("GaussianRidge: warm starts along a curve do not change the results", "[theory][ridge]") {
  const GaussianMlm problem = random_problem(12, 18);
  const GaussianRidge ridge(problem);
  std::vector<double> samples;
  for (int j = 0; j < 200; ++j) samples.push_back(std::exp(std::log(100.0) * j / 199));
  samples.push_back(samples.back());  // a repeated point
  samples.push_back(11);              // a jump, onto the threshold
  for (const double lambda : {0.0, 1e-6, 0.1}) {
    const std::vector<RidgePoint> curve = ridge.curve(samples, lambda);
    for (std::size_t j = 0; j < samples.size(); ++j) {
      const RidgePoint cold = ridge.average(samples[j], lambda);
      INFO("M = " << samples[j] << " lambda = " << lambda);
      check_close(curve[j].test_error, cold.test_error, 1e-13);
      check_close(curve[j].train_error, cold.train_error, 1e-13);
      check_close(curve[j].weight_norm2, cold.weight_norm2, 1e-13);
      CHECK(curve[j].samples == samples[j]);
    }
  }
}

TEST_CASE("GaussianRidge: a point averages its sites and their allowances", "[theory][ridge]") {
  const GaussianRidge ridge{random_problem(5, 8)};
  double test = 0;
  double allowance = 0;
  double train_allowance = 0;
  for (const RidgeSite& site : ridge.all_sites(3, 0.1)) {
    test += site.test_error / 5;
    allowance += site.test_error / (3 * site.one_minus_gamma) / 5;
    train_allowance += 3 * site.train_error / (3 * site.one_minus_gamma) / 5;
  }
  const RidgePoint point = ridge.average(3, 0.1);
  CHECK_THAT(point.test_error, WithinRel(test, 1e-14));
  CHECK_THAT(point.finite_size_test, WithinRel(allowance, 1e-14));
  CHECK_THAT(point.finite_size_train, WithinRel(train_allowance, 1e-14));
}

TEST_CASE("GaussianRidge: sites that are alike count once", "[theory][ridge]") {
  RandomStream stream({.seed = 6, .id = StreamId::model});
  // Mirror images in a chain, all sites where all are equal, none in a random matrix.
  const std::vector<std::pair<GaussianMlm, std::size_t>> cases{
      {GaussianMlm(ar1_covariance(9, 0.7)), 5},
      {GaussianMlm(equi_covariance(9, 0.4)), 1},
      {GaussianMlm(precision_covariance({.sites = 9}, stream)), 9}};
  for (const auto& [problem, kinds] : cases) {
    for (const RidgeOrder order : {RidgeOrder::leading, RidgeOrder::first}) {
      const GaussianRidge ridge(problem, order);
      CHECK(ridge.kinds().size() == kinds);
      double shares = 0;
      for (const SiteKind& kind : ridge.kinds()) shares += kind.share;
      CHECK_THAT(shares, WithinRel(1.0, 1e-14));
      double test = 0;
      double norm = 0;
      for (const RidgeSite& site : ridge.all_sites(7, 0.2)) {
        test += site.test_error / 9;
        norm += site.weight_norm2 / 9;
      }
      // Sites are alike to 1e-12 of their weights.
      CHECK_THAT(ridge.average(7, 0.2).test_error, WithinRel(test, 1e-12));
      CHECK_THAT(ridge.average(7, 0.2).weight_norm2, WithinRel(norm, 1e-12));
    }
  }
}

TEST_CASE("ridge_kappa: solves its equation inside the bracket", "[theory][ridge]") {
  const Eigen::ArrayXd spectrum = Eigen::ArrayXd::LinSpaced(20, -12, 0).exp();
  for (const double lambda : {1e-300, 1e-280, 1e-140, 1e-12, 1e-3, 1.0, 1e12}) {
    for (const double samples : {1.0, 7.3, 19.999999, 20.0, 20.000001, 300.0}) {
      const double kappa = ridge_kappa(spectrum, samples, lambda);
      CHECK(kappa >= lambda);
      CHECK(kappa <= (lambda + spectrum.sum() / samples) * (1 + 1e-15));
      // Residual, on the scale of what cancels in it.
      const double df1 = (spectrum / (spectrum + kappa)).sum();
      const double residual = kappa * (1 - df1 / samples) - lambda;
      CHECK_THAT(residual, WithinAbs(0, 1e-14 * (kappa + lambda)));
    }
  }
  CHECK(ridge_kappa(spectrum, 20, 0) == 0);
  CHECK(ridge_kappa(spectrum, 19.9, 0) > 0);
  Eigen::ArrayXd deficient = spectrum;
  deficient.head(5).setZero();
  CHECK(ridge_kappa(deficient, 15, 0) == 0);
  // λ = κ (1 - n/M) to first order in λ.
  for (const double lambda : {1e-300, 1e-280, 1e-20}) {
    CHECK_THAT(ridge_kappa(deficient, 20, lambda), WithinRel(lambda / (1 - 15.0 / 20), 1e-12));
  }
}

TEST_CASE("GaussianRidge: penalties of almost nothing are right where squares leave the numbers",
          "[theory][ridge]") {
  // Of full rank, and with sites that are determined by the others, of which 1/κ² is needed.
  const GaussianMlm problem = GENERATE(random_problem(9, 14), random_problem(9, 6));
  for (const RidgeOrder order : {RidgeOrder::leading, RidgeOrder::first}) {
    const GaussianRidge ridge(problem, order);
    for (const double lambda : {1e-300, 1e-280, 1e-160, 1e-153}) {
      for (const double samples : {3.0, 5.0, 7.0, 12.0, 40.0}) {
        // 1e-40 is nothing beside the eigenvalues, either: the same limit.
        const std::vector<RidgeSite> tiny = ridge.all_sites(samples, lambda);
        const std::vector<RidgeSite> small = ridge.all_sites(samples, 1e-40);
        for (std::size_t i = 0; i < tiny.size(); ++i) {
          CAPTURE(lambda, samples, i);
          CHECK(tiny[i].status == RidgeStatus::converged);
          if (samples > 8) check_close(tiny[i].kappa / lambda, small[i].kappa / 1e-40, 1e-10);
          check_close(tiny[i].one_minus_gamma, small[i].one_minus_gamma, 1e-10);
          check_close(tiny[i].test_error, small[i].test_error, 1e-10, 1e-10);
          check_close(tiny[i].train_error, small[i].train_error, 1e-10, 1e-10);
          check_close(tiny[i].overlap_m, small[i].overlap_m, 1e-10);
          check_close(tiny[i].overlap_q, small[i].overlap_q, 1e-10);
          check_close(tiny[i].weight_norm2, small[i].weight_norm2, 1e-10);
          if (order == RidgeOrder::first) CHECK(std::isfinite(tiny[i].finite_size_test));
        }
      }
    }
  }
}

TEST_CASE("GaussianRidge: at the threshold the error grows as the root of 1/lambda down to 1e-300",
          "[theory][ridge]") {
  const GaussianMlm problem(ar1_covariance(12, 0.6));
  const RidgeSite usual = GaussianRidge(problem).site(3, 11, 1e-20);
  for (const double lambda : {1e-280, 1e-300}) {
    const RidgeSite site = GaussianRidge(problem).site(3, 11, lambda);
    const double root = std::sqrt(1e-20) / std::sqrt(lambda);
    CHECK_THAT(site.kappa * root, WithinRel(usual.kappa, 1e-8));  // corrections of order √λ
    CHECK_THAT(site.test_error / root, WithinRel(usual.test_error, 1e-8));
    // To first order there are no numbers: the leading one, with an allowance without bound.
    const RidgeSite first = GaussianRidge(problem, RidgeOrder::first).site(3, 11, lambda);
    CHECK(first.status == RidgeStatus::converged);
    CHECK(std::isfinite(first.test_error));
    CHECK(first.finite_size_test > first.test_error);
  }
}

TEST_CASE("solve_kappa: any start gives the same root; from the right it falls monotonically",
          "[theory][ridge]") {
  const Eigen::ArrayXd s = Eigen::ArrayXd::LinSpaced(20, -12, 0).exp();
  for (const double lambda : {1e-12, 1e-3, 1.0}) {
    for (const double samples : {1.0, 7.3, 20.0, 300.0}) {
      const KappaEquation equation{.lambda = lambda, .highest = lambda + s.sum() / samples};
      std::vector<double> trials;
      const auto evaluate = [&](double kappa) {
        trials.push_back(kappa);
        const double rank = static_cast<double>(s.size());
        const double share = 2 * samples < rank
                                 ? 1 - (s / (s + kappa)).sum() / samples
                                 : (samples - rank + kappa * (1 / (s + kappa)).sum()) / samples;
        return KappaTrial{share, 1 - (s / (s + kappa)).square().sum() / samples};
      };
      const KappaRoot top = solve_kappa(equation, equation.highest, evaluate);
      INFO("M = " << samples << " lambda = " << lambda);
      REQUIRE(top.converged);
      // The last trials may differ from the root by rounding.
      for (std::size_t j = 1; j < trials.size(); ++j) {
        CHECK(trials[j] <= trials[j - 1] * (1 + 1e-13));
        CHECK(trials[j] >= top.kappa * (1 - 1e-13));
      }
      for (const double position : {1e-6, 0.1, 0.5, 0.9, 0.999}) {
        const double start =
            lambda * std::pow(equation.highest / lambda, position);  // from λ up to the top
        const KappaRoot root = solve_kappa(equation, start, evaluate);
        CHECK(root.converged);
        check_close(root.kappa, top.kappa, 1e-13);
      }
    }
  }
}

TEST_CASE("solve_kappa: reports an equation that cannot be solved", "[theory][ridge]") {
  const KappaRoot root = solve_kappa({.lambda = 1, .highest = 2}, 2, [](double) {
    return KappaTrial{std::nan(""), 1};
  });
  CHECK_FALSE(root.converged);
}

TEST_CASE("GaussianRidge: refuses bad arguments by name, reports overflow as a status",
          "[theory][ridge]") {
  const GaussianMlm problem(ar1_covariance(4, 0.5));
  const GaussianRidge ridge(problem);
  for (const double samples : {0.0, -3.0, 0.99, std::nan(""), kInfinity}) {
    CHECK(refused([&] { (void)ridge.site(0, samples, 0.1); }) == "samples");
    CHECK(refused([&] { (void)ridge.average(samples, 0.1); }) == "samples");
    CHECK(refused([&] { (void)ridge_site(problem, 0, samples, 0.1); }) == "samples");
  }
  for (const double lambda : {-1e-9, std::nan(""), kInfinity}) {
    CHECK(refused([&] { (void)ridge.all_sites(5, lambda); }) == "lambda");
    CHECK(refused([&] { (void)ridge_site(problem, 0, 5, lambda); }) == "lambda");
  }
  CHECK(refused([&] { (void)ridge.site(4, 5, 0.1); }) == "site");
  CHECK(refused([&] { (void)ridge_site(problem, -1, 5, 0.1); }) == "site");

  CHECK(ridge.site(0, 2, 1e-310).test_error == ridge.site(0, 2, 0).test_error);
  CHECK(ridge.average(5, 1e300).status == RidgeStatus::not_converged);
}

}  // namespace gauss_ridge_test
