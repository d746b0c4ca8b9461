#include "attica/solvers/statistics/simultaneous.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/core/random.hpp"
#include "attica/solvers/statistics/distributions.hpp"
#include "attica/solvers/statistics/order_statistics.hpp"

namespace attica {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kRounding = 1e-9;
constexpr double kMostDraws = 2e5;
constexpr double kFewestDraws = 2e4;
constexpr double kOperations = 2e10;  // that draws may take

void validate(const MatrixXd& c) {
  require(c.rows() > 0 && c.rows() == c.cols(),
          "covariance",
          static_cast<double>(c.cols()),
          fmt::format("as many columns as its {} rows", c.rows()));
  for (Index i = 0; i < c.rows(); ++i) {
    for (Index j = 0; j < c.cols(); ++j)
      require(std::isfinite(c(i, j)), "covariance", c(i, j), "finite numbers");
    require(c(i, i) >= 0,
            "covariance",
            c(i, i),
            fmt::format("variances >= 0 on the diagonal, row {}", i + 1));
  }
  for (Index i = 0; i < c.rows(); ++i) {
    for (Index j = 0; j < i; ++j) {
      const double size = std::sqrt(c(i, i) * c(j, j));
      require(std::abs(c(i, j) - c(j, i)) <= kRounding * size,
              "covariance",
              c(i, j),
              fmt::format("a symmetric matrix: row {}, column {} has {}", j + 1, i + 1, c(j, i)));
      require(std::abs(c(i, j)) <= (1 + kRounding) * size,
              "covariance",
              c(i, j),
              fmt::format("at most sqrt(C_ii C_jj) = {} in row {}, column {}", size, i + 1, j + 1));
    }
  }
}

}  // namespace

VectorXd simultaneous_band(const MatrixXd& covariance, double level, std::uint64_t seed) {
  validate(covariance);
  require(level > 0 && level < 1, "level", level, "0 < level < 1");
  const VectorXd sd = covariance.diagonal().cwiseSqrt();
  std::vector<Index> random;
  for (Index i = 0; i < sd.size(); ++i) {
    if (sd(i) > 0) random.push_back(i);
  }
  if (random.empty()) return VectorXd::Zero(sd.size());
  MatrixXd correlation = covariance(random, random);
  const VectorXd inverse = sd(random).cwiseInverse();
  correlation = inverse.asDiagonal() * correlation * inverse.asDiagonal();
  const auto n = static_cast<double>(random.size());
  if (correlation.isDiagonal(kRounding))
    return normal_quantile((1 - std::pow(1 - level, 1 / n)) / 2) * sd;

  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(correlation);
  const double least = eigen.eigenvalues().minCoeff();
  require(least >= -kRounding * n,
          "covariance",
          least,
          "a matrix without negative eigenvalues (that of its correlations is shown)");
  const MatrixXd root =
      eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0).cwiseSqrt().asDiagonal();
  RandomStream stream({.seed = seed, .id = StreamId::bootstrap});
  std::vector<double> largest(
      static_cast<std::size_t>(std::clamp(kOperations / (n * n), kFewestDraws, kMostDraws)));
  VectorXd z(root.cols());
  for (double& m : largest) {
    for (double& value : z) value = stream.normal();
    m = (root * z).cwiseAbs().maxCoeff();
  }
  std::ranges::sort(largest);
  return quantile(largest, 1 - level) * sd;
}

}  // namespace attica
