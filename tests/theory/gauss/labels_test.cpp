#include "attica/theory/gauss/labels.hpp"

#include <Eigen/Eigenvalues>
#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/gauss/ensembles.hpp"
#include "attica/core/random.hpp"
#include "attica/theory/gauss/ridge.hpp"
#include "refused.hpp"
#include "theory/gauss/isotropic_ridge.hpp"

using namespace attica;
using attica::testing::isotropic_ridge;
using attica::testing::refused;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using Eigen::ArrayXd;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace gauss_labels_theory_test {

ArrayXd spread_spectrum() {
  return ArrayXd::NullaryExpr(
      30, [](Eigen::Index k) { return 0.05 + 0.01 * static_cast<double>(k * k); });
}

/// The label as one more site of a Gaussian sequence: Cov(x, y) = C w, Var y = wᵀCw + σ².
GaussianMlm with_label(const MatrixXd& inputs, const VectorXd& weights, double noise) {
  const Eigen::Index n = inputs.rows();
  MatrixXd sigma(n + 1, n + 1);
  sigma.topLeftCorner(n, n) = inputs;
  sigma.topRightCorner(n, 1) = inputs * weights;
  sigma.bottomLeftCorner(1, n) = (inputs * weights).transpose();
  sigma(n, n) = weights.dot(inputs * weights) + noise;
  return GaussianMlm(sigma);
}

TEST_CASE("label_ridge: a teacher is a site more of the sequence", "[theory][ridge]") {
  // GaussianRidge takes its sums from the spectrum of the whole sequence. Means over teachers: the
  // error is quadratic in w, and the n directions of a basis average as random ones do.
  const Eigen::Index n = 14;
  const MatrixXd inputs = ar1_covariance(n, 0.6);
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(inputs);
  constexpr double kNoise = 0.3;
  for (const double samples : {6.0, 14.0, 40.0}) {
    for (const RidgeOrder order : {RidgeOrder::leading, RidgeOrder::first}) {
      const double lambda = 0.2;
      double test = 0;
      double train = 0;
      double norm = 0;
      for (Eigen::Index k = 0; k < n; ++k) {
        // |w|² = 1 along a coordinate axis; the mean of wᵀCw is tr C/n = 1.
        const GaussianRidge ridge(with_label(inputs, VectorXd::Unit(n, k), kNoise), order);
        const RidgeSite site = ridge.site(n, samples, lambda);
        test += site.test_error / static_cast<double>(n);
        train += site.train_error / static_cast<double>(n);
        norm += site.weight_norm2 / static_cast<double>(n);
      }
      const LabelRidge mean =
          label_ridge(random_teacher(solver.eigenvalues(), 1.0, kNoise), samples, lambda, order);
      CAPTURE(samples);
      CHECK_THAT(mean.test_error, WithinRel(test, 1e-9));
      CHECK_THAT(mean.train_error, WithinRel(train, 1e-9));
      CHECK_THAT(mean.objective, WithinRel(train + lambda * norm, 1e-9));
    }
  }
}

TEST_CASE("label_ridge: isotropic inputs have the closed form", "[theory][ridge]") {
  for (const double alpha : {0.5, 1.0, 3.0}) {
    const LabelRidge ridge = label_ridge(
        random_teacher(ArrayXd::Constant(40, 1.5), 0.8, 0.2), 40 * alpha, 0.1, RidgeOrder::leading);
    const RidgeLimit limit = isotropic_ridge(
        {.variance = 1.5, .weight_norm2 = 0.8 / 1.5, .noise_variance = 0.2}, alpha, 0.1);
    CHECK_THAT(ridge.kappa, WithinRel(limit.kappa, 1e-10));
    CHECK_THAT(ridge.test_error, WithinRel(limit.test_error, 1e-10));
    CHECK_THAT(ridge.train_error, WithinRel(limit.train_error, 1e-10));
  }
}

TEST_CASE("label_ridge: labels without a rule are remembered by λ/κ alone", "[theory][ridge]") {
  const ArrayXd s = spread_spectrum();
  for (const double samples : {10.0, 30.0, 75.0}) {
    for (const double lambda : {0.01, 0.5}) {
      const LinearTask task{.spectrum = s, .weights2 = ArrayXd::Zero(s.size()), .noise = 2};
      const LabelRidge leading = label_ridge(task, samples, lambda, RidgeOrder::leading);
      CHECK_THAT(leading.objective, WithinRel(2 * lambda / leading.kappa, 1e-10));
      // κ from its own equation, by bisection.
      double low = lambda;
      double high = lambda + s.sum() / samples;
      for (int step = 0; step < 200; ++step) {
        const double middle = 0.5 * (low + high);
        (middle * (1 - (s / (s + middle)).sum() / samples) > lambda ? high : low) = middle;
      }
      CHECK_THAT(leading.kappa, WithinRel(high, 1e-10));
      // E[λ tr(Ŝ+λ)⁻¹] to order 1/M is (λ/κ)(1 + L D₂/M), from the mean resolvent directly.
      const ArrayXd p = s / (s + high);
      const double l = 1 / (1 - p.square().sum() / samples);
      const double d2 = l / samples * ((1 - p) * p.square()).sum();
      const LabelRidge first = label_ridge(task, samples, lambda);
      CHECK_THAT(first.objective, WithinRel(2 * lambda / high * (1 + l * d2 / samples), 1e-9));
    }
  }
}

TEST_CASE("label_ridge: without penalty random labels are (1 - N/M)+ whatever the covariance",
          "[theory][ridge]") {
  for (const ArrayXd& s : {spread_spectrum(), ArrayXd(ArrayXd::Ones(30))}) {
    const LinearTask task{.spectrum = s, .weights2 = ArrayXd::Zero(s.size()), .noise = 1};
    for (const double samples : {40.0, 60.0, 300.0}) {
      const LabelRidge ridge = label_ridge(task, samples, 0);
      CHECK_THAT(ridge.train_error, WithinRel(1 - 30 / samples, 1e-12));
      CHECK_THAT(ridge.objective, WithinRel(1 - 30 / samples, 1e-12));
    }
    CHECK_THAT(label_ridge(task, 12, 0).train_error, WithinAbs(0, 1e-12));
    CHECK(std::isinf(label_ridge(task, 30, 0).test_error));
    CHECK_THAT(label_ridge(task, 60, 1e-9).train_error, WithinRel(0.5, 1e-6));
  }
}

TEST_CASE("label_ridge: errors are linear in signal and noise", "[theory][ridge]") {
  const ArrayXd s = spread_spectrum();
  const auto of = [&](double signal, double noise) {
    return label_ridge(random_teacher(s, signal, noise), 25, 0.05);
  };
  const LabelRidge both = of(0.7, 0.3);
  CHECK_THAT(both.test_error,
             WithinRel(0.7 * of(1, 0).test_error + 0.3 * of(0, 1).test_error, 1e-12));
  CHECK_THAT(both.objective, WithinRel(0.7 * of(1, 0).objective + 0.3 * of(0, 1).objective, 1e-12));
}

TEST_CASE("masked_errors: the mean over the sites' own tasks", "[theory][ridge]") {
  // There one eigendecomposition of the sequence, here one of the inputs of every site.
  const GaussianMlm problem(ar1_covariance(9, 0.7));
  const std::vector<double> samples = {5, 8, 30};
  const std::vector<double> lambdas = {0.05, 1};
  for (const RidgeOrder order : {RidgeOrder::leading, RidgeOrder::first}) {
    const auto errors = masked_errors(problem, samples, lambdas, order);
    REQUIRE(errors.size() == 2);
    for (std::size_t l = 0; l < lambdas.size(); ++l) {
      REQUIRE(errors[l].size() == 3);
      for (std::size_t k = 0; k < samples.size(); ++k) {
        double test = 0;
        double allowance = 0;
        for (Eigen::Index i = 0; i < 9; ++i) {
          const RidgeSite site = ridge_site(problem, i, samples[k], lambdas[l], order);
          test += site.test_error / 9;
          allowance += site.finite_size_test / 9;
        }
        CHECK_THAT(errors[l][k].test_error, WithinRel(test, 1e-9));
        CHECK_THAT(errors[l][k].finite_size_test, WithinRel(allowance, 1e-6));
      }
    }
  }
}

TEST_CASE("label_ridge: bad input is named", "[theory][ridge]") {
  const ArrayXd s = ArrayXd::Ones(4);
  CHECK(refused([&] { random_teacher(s, -1, 0); }) == "signal");
  CHECK(refused([&] { random_teacher(s, 1, -1); }) == "noise");
  CHECK(refused([&] { random_teacher(ArrayXd::Zero(4), 1, 0); }) == "spectrum");
  const LinearTask task = random_teacher(s, 1, 0);
  CHECK(refused([&] { static_cast<void>(label_ridge(task, 0.5, 1)); }) == "samples");
  CHECK(refused([&] { static_cast<void>(label_ridge(task, 5, -1)); }) == "lambda");
  CHECK(refused([&] {
          static_cast<void>(
              label_ridge({.spectrum = s, .weights2 = ArrayXd::Ones(3), .noise = 0}, 5, 1));
        }) == "weights2");
}

}  // namespace gauss_labels_theory_test
