#include "attica/sim/gaussian_ridge.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <limits>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd gaussian_samples(const MatrixXd& factor, bool lower, Index samples, RandomStream& stream) {
  MatrixXd white(samples, factor.cols());
  stream.fill_normal(std::span(white.data(), static_cast<std::size_t>(white.size())));
  if (lower) return white * factor.transpose().triangularView<Eigen::Upper>();
  return white * factor.transpose();
}

MatrixXd resampled_rows(const MatrixXd& rows, Index samples, RandomStream& stream) {
  MatrixXd drawn(samples, rows.cols());
  for (Index mu = 0; mu < samples; ++mu) {
    drawn.row(mu) =
        rows.row(static_cast<Index>(stream.below(static_cast<std::uint64_t>(rows.rows()))));
  }
  return drawn;
}

RidgeFits::RidgeFits(const MatrixXd& data) : data_(data) {
  const Index samples = data_.rows();
  const Index sites = data_.cols();
  const double scale = 1.0 / static_cast<double>(samples);
  gram_ = MatrixXd::Zero(std::min(samples, sites), std::min(samples, sites));
  if (samples >= sites) {
    gram_.selfadjointView<Eigen::Lower>().rankUpdate(data_.transpose(), scale);
  } else {
    gram_.selfadjointView<Eigen::Lower>().rankUpdate(data_, scale);
  }
}

RidgeFits::Inverse RidgeFits::ridge_inverse(double lambda) const {
  const Index samples = data_.rows();
  const Index sites = data_.cols();
  MatrixXd shifted = gram_;
  shifted.diagonal().array() += lambda;
  const Eigen::LLT<MatrixXd, Eigen::Lower> cholesky(shifted);
  if (cholesky.info() != Eigen::Success) {
    throw Error(
        ErrorKind::numerical,
        fmt::format(
            "ridge: Cholesky factorisation failed at lambda = {}, M = {}", lambda, samples));
  }
  Inverse result;
  result.g = MatrixXd::Zero(sites, sites);
  if (samples >= sites) {
    // S + lambda = C C^T: G = C^{-T} C^{-1}. From S = G^{-1} - lambda: [G S G]_ii = G_ii - lambda
    // |G_i|^2, whose rounding is far below the train error except where that is zero anyway.
    const MatrixXd root = cholesky.matrixL().solve(MatrixXd::Identity(sites, sites));
    result.g.selfadjointView<Eigen::Lower>().rankUpdate(root.transpose());
    result.g.triangularView<Eigen::StrictlyUpper>() = result.g.transpose();
    result.train_top =
        (result.g.diagonal() - lambda * result.g.colwise().squaredNorm().transpose()).cwiseMax(0.0);
  } else {
    // K + lambda = C C^T with K = Z Z^T / M: lambda G = 1 - B^T B, B = C^{-1} Z / sqrt(M), and Z G
    // = (K + lambda)^{-1} Z. Everything is multiplied by lambda, which the ratios do not see.
    MatrixXd b = data_ / std::sqrt(static_cast<double>(samples));
    cholesky.matrixL().solveInPlace(b);
    result.g.selfadjointView<Eigen::Lower>().rankUpdate(b.transpose(), -1.0);
    result.g.triangularView<Eigen::StrictlyUpper>() = result.g.transpose();
    result.g.diagonal().array() += 1.0;
    cholesky.matrixU().solveInPlace(b);
    result.train_top = lambda * lambda * b.colwise().squaredNorm().transpose();
  }
  return result;
}

RidgeFits::Inverse RidgeFits::ridgeless_inverse() const {
  const Index samples = data_.rows();
  const Index sites = data_.cols();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> spectrum(gram_);
  if (spectrum.info() != Eigen::Success) {
    throw Error(ErrorKind::numerical,
                fmt::format("ridge: eigendecomposition failed at M = {}", samples));
  }
  const VectorXd& s = spectrum.eigenvalues();
  const double tolerance = static_cast<double>(std::max(samples, sites)) *
                           std::numeric_limits<double>::epsilon() * s(s.size() - 1);
  const Index rank = (s.array() > tolerance).count();
  const VectorXd positive = s.tail(rank);
  // Right singular vectors of Z / sqrt(M) with positive singular value, L x rank.
  MatrixXd v = spectrum.eigenvectors().rightCols(rank);
  if (samples < sites) {
    v = data_.transpose() * v *
        (positive * static_cast<double>(samples)).cwiseSqrt().cwiseInverse().asDiagonal();
  }
  Inverse result;
  result.g = -(v * v.transpose());
  result.g.diagonal().array() += 1.0;
  result.train_top = VectorXd::Zero(sites);
  // A site that the kernel of S does not reach is determined by the others' samples: use the
  // pseudo-inverse S^+, for which S^+ S S^+ = S^+.
  constexpr double kNoComponent = 1e-10;
  for (Index i = 0; i < sites; ++i) {
    if (result.g(i, i) > kNoComponent) continue;
    result.g.row(i) = v * positive.cwiseInverse().asDiagonal() * v.row(i).transpose();
    result.train_top(i) = result.g(i, i);
  }
  return result;
}

RidgeFits::Inverse RidgeFits::inverse(double lambda) const {
  require(lambda >= 0, "lambda", lambda, "lambda >= 0");
  return lambda > 0 ? ridge_inverse(lambda) : ridgeless_inverse();
}

RidgeErrors RidgeFits::errors(double lambda, const MatrixXd& factor) const {
  const Inverse inv = inverse(lambda);
  const auto diagonal_squared = inv.g.diagonal().array().square();
  const MatrixXd gf = inv.g * factor;
  return {.test = gf.rowwise().squaredNorm().array() / diagonal_squared,
          .train = inv.train_top.array() / diagonal_squared};
}

MatrixXd RidgeFits::attention(double lambda) const {
  const Inverse inv = inverse(lambda);
  MatrixXd a = -(inv.g.diagonal().cwiseInverse().asDiagonal() * inv.g);
  a.diagonal().setZero();
  return a;
}

}  // namespace attica
