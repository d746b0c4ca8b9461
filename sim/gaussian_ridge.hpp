#pragma once
/// @file
/// @brief Finite-sample ridge regression of every site of a Gaussian sequence on all the others.
///
/// Data Z (M x L, one sample a row, mean zero). For each site i the estimator on the other sites is
///     w_i = argmin (1/2M) sum_mu (Z_mu,i - w . Z_mu,\i)^2 + (lambda/2) |w|^2,
/// row i of the linear attention matrix A (zero diagonal). With G = (Z^T Z / M + lambda)^{-1},
/// block inversion gives all rows from one inverse,
///     A_ij = -G_ij / G_ii,   test_i = [G Sigma G]_ii / G_ii^2,   train_i = [G S G]_ii / G_ii^2, S
///     = Z^T Z / M,
/// so the test error is the exact population value of the estimator: no test sample is drawn. At
/// lambda = 0 the limit lambda -> 0+ is taken, which is each site's minimum-norm solution (G
/// becomes the projector on the kernel of S; sites without a component there use the pseudo-inverse
/// instead).
///
/// Setting: Rende, Gerace, Laio, Goldt 2024 (arXiv:2304.07235), masked language modelling with
/// Gaussian data.

#include <Eigen/Core>

#include "attica/core/random.hpp"

namespace attica {

/// @brief M samples of N(0, F F^T), one a row.
/// @param factor F, L x L lower triangular or general; `lower` says that only its lower triangle is
/// non-zero
/// @param samples M >= 1
Eigen::MatrixXd gaussian_samples(const Eigen::MatrixXd& factor,
                                 bool lower,
                                 Eigen::Index samples,
                                 RandomStream& stream);

/// @brief M rows of `rows` (n x L), drawn with replacement: the rows are the population.
Eigen::MatrixXd resampled_rows(const Eigen::MatrixXd& rows,
                               Eigen::Index samples,
                               RandomStream& stream);

/// Mean squared errors of every site's estimator; no factor 1/2.
struct RidgeErrors {
  Eigen::VectorXd test;   ///< population error, length L
  Eigen::VectorXd train;  ///< error on the data, length L
};

/// @brief Ridge estimators of one data set at any number of penalties; the Gram matrix is formed
/// once, of the smaller side.
class RidgeFits {
 public:
  /// @param data Z, M x L, M >= 1, L >= 2, finite
  explicit RidgeFits(const Eigen::MatrixXd& data);

  /// @brief Errors of all sites.
  /// @param lambda penalty >= 0
  /// @param factor any F with F F^T = Sigma, the population covariance
  /// @throws Error of kind numerical if the factorisation fails
  RidgeErrors errors(double lambda, const Eigen::MatrixXd& factor) const;

  /// @brief The linear attention matrix, L x L with zero diagonal; row i is site i's estimator.
  Eigen::MatrixXd attention(double lambda) const;

 private:
  /// What both results are made of. For lambda > 0 `g` is G up to the common positive factor
  /// `1/scale`.
  struct Inverse {
    Eigen::MatrixXd g;          ///< L x L, symmetric
    Eigen::VectorXd train_top;  ///< [g S g]_ii
  };
  Inverse inverse(double lambda) const;
  Inverse ridge_inverse(double lambda) const;
  Inverse ridgeless_inverse() const;

  const Eigen::MatrixXd data_;
  Eigen::MatrixXd gram_;  ///< Z^T Z / M if M >= L, else Z Z^T / M
};

}  // namespace attica
