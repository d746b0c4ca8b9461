#include "attica/sim/potts/block_ridge.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>
#include <cmath>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;

namespace {

BlockRidgeErrors smallest_norm_errors(const MatrixXd& data,
                                      const MatrixXd& covariance,
                                      Index block) {
  BlockRidgeErrors errors;
  const Index size = data.cols();
  const Index count = size / block;
  const auto blocks = static_cast<double>(count);
  for (Index first = 0; first < size; first += block) {
    // Residuals of block i are Z R with R = e_i - W_i on the rows of the other blocks.
    MatrixXd inputs = data;
    inputs.middleCols(first, block).setZero();  // takes no part in a solution of smallest norm
    MatrixXd r = -inputs.completeOrthogonalDecomposition().solve(data.middleCols(first, block));
    r.middleRows(first, block).setIdentity();
    errors.test += (r.transpose() * covariance * r).trace() / blocks;
    errors.train += (data * r).squaredNorm() / static_cast<double>(data.rows()) / blocks;
  }
  return errors;
}

/// @param gram Z^T Z / M
BlockRidgeErrors errors_of(const MatrixXd& gram,
                           const MatrixXd& covariance,
                           Index block,
                           double lambda) {
  const Index size = gram.cols();
  MatrixXd shifted = gram;
  shifted.diagonal().array() += lambda;
  const Eigen::LLT<MatrixXd> cholesky(shifted);
  if (cholesky.info() != Eigen::Success) {
    throw Error(ErrorKind::numerical,
                fmt::format("the Gram matrix with lambda = {} is singular", lambda));
  }
  const MatrixXd g = cholesky.solve(MatrixXd::Identity(size, size));
  const MatrixXd population = covariance * g;
  const MatrixXd sample = gram * g;
  BlockRidgeErrors errors;
  const Index count = size / block;
  const auto blocks = static_cast<double>(count);
  for (Index first = 0; first < size; first += block) {
    const MatrixXd d = g.block(first, first, block, block).inverse();
    const auto error = [&](const MatrixXd& s_times_g) {
      const MatrixXd middle = g.middleRows(first, block) * s_times_g.middleCols(first, block);
      return (d * middle * d).trace() / blocks;
    };
    errors.test += error(population);
    errors.train += error(sample);
  }
  return errors;
}

}  // namespace

BlockRidgeErrors block_ridge_errors(const MatrixXd& data,
                                    const MatrixXd& covariance,
                                    Index block,
                                    double lambda) {
  return block_ridge_errors(data, covariance, block, std::span(&lambda, 1)).front();
}

std::vector<BlockRidgeErrors> block_ridge_errors(const MatrixXd& data,
                                                 const MatrixXd& covariance,
                                                 Index block,
                                                 std::span<const double> lambdas) {
  const Index size = data.cols();
  const auto samples = static_cast<double>(data.rows());
  require(data.rows() >= 1, "samples", samples, "at least 1");
  require(block >= 1 && size % block == 0,
          "block",
          static_cast<double>(block),
          "a divisor of the size");
  const MatrixXd gram = data.transpose() * data / samples;
  std::vector<BlockRidgeErrors> errors;
  for (const double lambda : lambdas) {
    require(lambda >= 0 && std::isfinite(lambda), "lambda", lambda, "lambda >= 0");
    errors.push_back(lambda == 0 && data.rows() <= size
                         ? smallest_norm_errors(data, covariance, block)
                         : errors_of(gram, covariance, block, lambda));
  }
  return errors;
}

}  // namespace attica
