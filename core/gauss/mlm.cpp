#include "attica/core/gauss/mlm.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>

#include "attica/core/error.hpp"

namespace attica {
namespace {

constexpr double kSymmetryTolerance = 1e-10;
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

Eigen::MatrixXd checked_symmetric(const Eigen::MatrixXd& covariance) {
  if (covariance.rows() != covariance.cols() || covariance.rows() < 2) {
    throw invalid_parameter("covariance",
                            fmt::format("{} x {} matrix", covariance.rows(), covariance.cols()),
                            "a square matrix of at least 2 x 2");
  }
  if (!covariance.allFinite()) {
    throw invalid_parameter("covariance", "matrix with NaN or infinity", "finite entries");
  }
  Eigen::Index row = 0;
  Eigen::Index column = 0;
  const double asymmetry = (covariance - covariance.transpose()).cwiseAbs().maxCoeff(&row, &column);
  if (asymmetry > kSymmetryTolerance * covariance.cwiseAbs().maxCoeff()) {
    throw invalid_parameter("covariance",
                            fmt::format("matrix with entry ({}, {}) = {} but ({}, {}) = {}",
                                        row,
                                        column,
                                        covariance(row, column),
                                        column,
                                        row,
                                        covariance(column, row)),
                            "a symmetric matrix");
  }
  return 0.5 * (covariance + covariance.transpose());
}

}  // namespace

GaussianMlm::GaussianMlm(const Eigen::MatrixXd& covariance, Definiteness definiteness)
    : covariance_(checked_symmetric(covariance)) {
  const Eigen::Index size = covariance_.rows();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(covariance_);
  if (solver.info() != Eigen::Success) {
    throw Error(ErrorKind::numerical, "the eigenvalues of the covariance did not converge");
  }
  eigenvalues_ = solver.eigenvalues();
  eigenvectors_ = solver.eigenvectors();
  const double smallest = eigenvalues_[0];
  const double largest = eigenvalues_[size - 1];
  const auto rounding = static_cast<double>(size) * kEpsilon * std::abs(largest);
  const Eigen::LLT<Eigen::MatrixXd> cholesky(covariance_);
  const bool positive = smallest > rounding && cholesky.info() == Eigen::Success;
  const bool semi_positive = largest > 0 && smallest >= -rounding;
  const bool accepted = definiteness == Definiteness::positive ? positive : semi_positive;
  if (!accepted) {
    throw invalid_parameter(
        "covariance",
        fmt::format("matrix with smallest eigenvalue {} and largest {}", smallest, largest),
        definiteness == Definiteness::positive
            ? "a positive-definite matrix"
            : "a positive-semidefinite matrix with a positive eigenvalue");
  }

  const Eigen::Index kernel_size = (eigenvalues_.array() <= rounding).count();
  rank_ = size - kernel_size;
  eigenvalues_.head(kernel_size).setZero();
  kernel_weights_ = eigenvectors_.leftCols(kernel_size).rowwise().squaredNorm();
  if (positive) {
    // Σ = G Gᵀ, so (Σ⁻¹)_ii is the squared norm of column i of G⁻¹: no cancellation.
    const Eigen::MatrixXd inverse_factor =
        cholesky.matrixL().solve(Eigen::MatrixXd::Identity(size, size));
    noise_variances_ = inverse_factor.colwise().squaredNorm().cwiseInverse().transpose();
    return;
  }
  // The kernel's angle is uncertain by rounding over the gap to the rest of the spectrum (Davis and
  // Kahan).
  const double angle = rounding / eigenvalues_[kernel_size];
  kernel_weights_ = (kernel_weights_.array() > angle * angle).select(kernel_weights_, 0.0);
  const Eigen::VectorXd precisions = eigenvectors_.rightCols(rank_).array().square().matrix() *
                                     eigenvalues_.tail(rank_).cwiseInverse();
  noise_variances_ = (kernel_weights_.array() > 0).select(0.0, precisions.cwiseInverse());
}

double GaussianMlm::condition_number() const noexcept {
  return rank_ < sites() ? std::numeric_limits<double>::infinity()
                         : eigenvalues_[sites() - 1] / eigenvalues_[0];
}

Eigen::MatrixXd GaussianMlm::factor() const {
  if (rank_ == sites()) {
    const Eigen::LLT<Eigen::MatrixXd> cholesky(covariance_);
    if (cholesky.info() == Eigen::Success) return cholesky.matrixL();
  }
  return eigenvectors_ * eigenvalues_.cwiseSqrt().asDiagonal();
}

}  // namespace attica
