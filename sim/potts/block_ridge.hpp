#pragma once
/// @file
/// @brief Ridge regression of every block of variables on the others from samples, with exact
/// population error.
///
/// With G = (Z^T Z/M + lambda)^-1 the estimators of block i are W_i = -(G_ii)^-1 G_i,rest, and with
/// D_i = (G_ii)^-1 the errors tr[D_i (G S G)_ii D_i], S the population covariance (test) or Z^T Z/M
/// (train). At lambda = 0 with no more samples than variables each block's regression of smallest
/// norm is found on its own.

#include <Eigen/Core>
#include <span>
#include <vector>

namespace attica {

struct BlockRidgeErrors {
  double test = 0;  ///< mean over blocks, summed over channels
  double train = 0;
};

/// @param data       Z, M x (blocks x channels), centred with the population's mean
/// @param covariance S of the population
/// @param block      channels per block
/// @param lambda     >= 0
/// @throws Error (input) for bad arguments, (numerical) if the factorisation fails
BlockRidgeErrors block_ridge_errors(const Eigen::MatrixXd& data,
                                    const Eigen::MatrixXd& covariance,
                                    Eigen::Index block,
                                    double lambda);
/// @brief The same at several penalties.
std::vector<BlockRidgeErrors> block_ridge_errors(const Eigen::MatrixXd& data,
                                                 const Eigen::MatrixXd& covariance,
                                                 Eigen::Index block,
                                                 std::span<const double> lambdas);

}  // namespace attica
