#include "attica/sim/masked/ridge.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/core/normal_matrix.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// @param samples one a column
MatrixXd second_moment(const MatrixXd& samples) {
  MatrixXd s = MatrixXd::Zero(samples.rows(), samples.rows());
  s.selfadjointView<Eigen::Lower>().rankUpdate(samples, 1 / static_cast<double>(samples.cols()));
  s.triangularView<Eigen::StrictlyUpper>() = s.transpose();
  return s;
}

}  // namespace

MatrixXd sample_covariance(const SpikedNoise& noise, Index samples, RandomStream& stream) {
  MatrixXd x = noise.variances.cwiseSqrt().asDiagonal() *
               normal_matrix(noise.variances.size(), samples, stream);
  if (noise.theta > 0) {
    const VectorXd signal = normal_matrix(samples, 1, stream);
    x.noalias() += std::sqrt(noise.theta) * noise.direction * signal.transpose();
  }
  return second_moment(x);
}

MatrixXd ar1_sample_covariance(Index dimension, double rho, Index samples, RandomStream& stream) {
  MatrixXd x = normal_matrix(dimension, samples, stream);
  const double fresh = std::sqrt((1 - rho) * (1 + rho));
  for (Index k = 1; k < dimension; ++k) x.row(k) = rho * x.row(k - 1) + fresh * x.row(k);
  return second_moment(x);
}

MaskedRidge::MaskedRidge(const MatrixXd& covariance, double lambda) : inverse_form(covariance) {
  inverse_form.diagonal().array() += lambda;
  const Index d = covariance.rows();
  const Eigen::LLT<MatrixXd> factor(inverse_form);
  if (factor.info() != Eigen::Success) {
    throw Error(ErrorKind::numerical,
                fmt::format("masked ridge: factorisation failed at lambda = {}: the penalty is "
                            "lost in the rounding of a singular sample covariance",
                            lambda));
  }
  MatrixXd inverse = MatrixXd::Identity(d, d);
  factor.matrixL().solveInPlace(inverse);
  diagonal = inverse.colwise().squaredNorm().transpose();
  const VectorXd root = diagonal.cwiseSqrt();
  inverse_form = root.asDiagonal() * inverse_form * root.asDiagonal();
}

VectorXd MaskedRidge::eigenvalues() const {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(inverse_form, Eigen::EigenvaluesOnly);
  if (solver.info() != Eigen::Success) {
    throw Error(ErrorKind::numerical, "masked ridge: eigenvalues did not converge");
  }
  return 1 - solver.eigenvalues().array().inverse();
}

double squared_cosine(const VectorXd& v, const VectorXd& u) {
  const double product = v.dot(u);
  return product * product / (v.squaredNorm() * u.squaredNorm());
}

}  // namespace attica
