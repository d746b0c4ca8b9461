#include "attica/sim/masked/ridge.hpp"

#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/error.hpp"

using namespace attica;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace masked_ridge_test {

/// A, row by row: ridge regression of every coordinate on the others.
MatrixXd by_rows(const MatrixXd& s, double lambda) {
  const Index d = s.rows();
  MatrixXd a = MatrixXd::Zero(d, d);
  for (Index k = 0; k < d; ++k) {
    std::vector<Index> others;
    for (Index j = 0; j < d; ++j) {
      if (j != k) others.push_back(j);
    }
    MatrixXd c = s(others, others);
    c.diagonal().array() += lambda;
    const VectorXd weights = c.llt().solve(VectorXd(s(others, std::vector<Index>{k})));
    for (Index j = 0; j < d - 1; ++j) a(k, others[static_cast<std::size_t>(j)]) = weights(j);
  }
  return a;
}

SpikedNoise noise(Index d, double theta) {
  return {.variances = VectorXd::LinSpaced(d, 1, 3),
          .direction = VectorXd::LinSpaced(d, -1, 2).normalized(),
          .theta = theta};
}

TEST_CASE("MaskedRidge: the predictor of row-wise ridge regressions", "[sim][masked]") {
  for (const Index n : {7, 30}) {
    for (const double lambda : {0.01, 1.0}) {
      constexpr Index kSites = 12;
      RandomStream stream({.seed = 3});
      const MatrixXd s = sample_covariance(noise(kSites, 2), n, stream);
      const MatrixXd a = by_rows(s, lambda);
      const MaskedRidge ridge(s, lambda);
      // As many traces of powers as there are sites are those of one spectrum alone.
      const VectorXd w = ridge.eigenvalues();
      MatrixXd power = a;
      for (Index k = 1; k <= kSites; ++k) {
        const VectorXd expected = w.array().pow(static_cast<double>(k));
        CHECK(std::abs(power.trace() - expected.sum()) < 1e-10 * expected.cwiseAbs().sum());
        power *= a;
      }
      CHECK(w.maxCoeff() < 1);
      CHECK_THAT(w.sum(), WithinAbs(0, 1e-10));
      // Right and left eigenvectors.
      const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(ridge.inverse_form);
      const VectorXd v = solver.eigenvectors().col(kSites - 1);
      const VectorXd right = v.array() / ridge.diagonal.array().sqrt();
      const VectorXd left = v.array() * ridge.diagonal.array().sqrt();
      CHECK((a * right - w(kSites - 1) * right).norm() < 1e-9 * right.norm());
      CHECK((a.transpose() * left - w(kSites - 1) * left).norm() < 1e-9 * left.norm());
    }
  }
}

TEST_CASE("sample_covariance: its mean and variance", "[sim][masked]") {
  constexpr Index kSites = 4;
  const SpikedNoise model = noise(kSites, 2);
  const MatrixXd sigma =
      MatrixXd(model.variances.asDiagonal()) + 2 * model.direction * model.direction.transpose();
  RandomStream stream({.seed = 5});
  constexpr Index kSamples = 200000;
  const MatrixXd s = sample_covariance(model, kSamples, stream);
  // Var S_ij = (Σ_ii Σ_jj + Σ_ij²)/n: five standard deviations.
  for (Index i = 0; i < kSites; ++i) {
    for (Index j = 0; j < kSites; ++j) {
      const double sd =
          std::sqrt((sigma(i, i) * sigma(j, j) + sigma(i, j) * sigma(i, j)) / kSamples);
      CHECK_THAT(s(i, j), WithinAbs(sigma(i, j), 5 * sd));
    }
  }
  const MatrixXd t = ar1_sample_covariance(kSites, 0.6, kSamples, stream);
  for (Index i = 0; i < kSites; ++i) {
    for (Index j = 0; j < kSites; ++j) {
      CHECK_THAT(t(i, j), WithinAbs(std::pow(0.6, std::abs(i - j)), 5 * std::sqrt(2.0 / kSamples)));
    }
  }
}

TEST_CASE("MaskedRidge: a penalty that is lost in rounding is a numerical failure",
          "[sim][masked]") {
  RandomStream stream({.seed = 1});
  const MatrixXd s = sample_covariance(noise(20, 0), 3, stream);
  CHECK_THROWS_AS(MaskedRidge(s, 1e-300), Error);
}

TEST_CASE("squared_cosine: of multiples, of orthogonal vectors", "[sim][masked]") {
  const VectorXd u = VectorXd::LinSpaced(5, 1, 2);
  CHECK_THAT(squared_cosine(-3 * u, u), WithinRel(1, 1e-14));
  CHECK(squared_cosine(VectorXd::Unit(5, 1), VectorXd::Unit(5, 2)) == 0);
}

}  // namespace masked_ridge_test
