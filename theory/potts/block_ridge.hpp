#pragma once
/// @file
/// @brief Ridge regression of blocks of variables on all other blocks, as the number of samples
/// grows: masked modelling with square loss of sites that are vectors, such as coded
/// colours.
///
/// For block i with covariance S_ii, inputs' covariance C (size N), cross-covariance b and kappa,
/// gamma of (C, M, lambda) as in ridge_kappa:
///     E_test,i = tr(S_ii - b^T (C+kappa)^-1 b - kappa b^T (C+kappa)^-2 b) / (1 - gamma),
///     E_train,i = (lambda/kappa)^2 E_test,i,
/// summed over the block's channels at leading order. The terms of order 1/M of real Gaussian
/// samples are those of single variables (ridge_first_order.hpp), as channels share their inputs.
/// For Gaussian data the theory of gaussian_ridge.hpp; on other data a statement of universality:
/// only the covariance matters.

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "attica/core/gauss/ridge_order.hpp"

namespace attica {

struct BlockRidgeBlock {
  double kappa = 0;
  double one_minus_gamma = 0;
  double test_error = 0;
  double train_error = 0;
  double finite_size_test = 0;
  double finite_size_train = 0;
};

struct BlockRidgePoint {
  double test_error = 0;  ///< mean over blocks, summed over channels; +inf at lambda = 0, M = N
  double train_error = 0;
  double one_minus_gamma = 0;  ///< smallest of the blocks
  /// Allowances for the orders beyond the first, absolute; 0 at leading order.
  double finite_size_test = 0;
  double finite_size_train = 0;

  /// @brief Takes one of `blocks` into the mean.
  void add(const BlockRidgeBlock& block, std::size_t blocks);
};

struct BlockRidgeOrders {
  BlockRidgePoint leading;
  BlockRidgePoint first;
};

/// @brief The theory for a covariance cut into equal blocks: one eigendecomposition per block, any
/// number of (M, lambda).
class BlockRidge {
 public:
  /// @param covariance symmetric positive definite, size a multiple of `block`
  /// @param block      channels per block, 1 <= block < size
  BlockRidge(const Eigen::MatrixXd& covariance, Eigen::Index block);

  /// @brief One block. @param samples M >= 1; @param lambda >= 0
  BlockRidgeBlock block(Eigen::Index i,
                        double samples,
                        double lambda,
                        RidgeOrder order = RidgeOrder::leading) const;
  /// @brief The mean over blocks.
  BlockRidgePoint average(double samples,
                          double lambda,
                          RidgeOrder order = RidgeOrder::leading) const;
  /// @brief The same at both orders, for little more than one of them takes.
  BlockRidgeOrders averages(double samples, double lambda) const;

 private:
  struct Regression {
    Eigen::ArrayXd spectrum;  ///< of C
    Eigen::ArrayXd signal;    ///< |u_k^T b|^2
    double variance = 0;      ///< tr S_ii
  };
  static BlockRidgeBlock leading(const Regression& r, double samples, double lambda);
  /// At the first order, of what `leading` gives.
  static BlockRidgeBlock first(const Regression& r,
                               double samples,
                               double lambda,
                               BlockRidgeBlock block);

  std::vector<Regression> blocks_;
};

}  // namespace attica
