#pragma once
/// @file
/// @brief Finite-sample ridge regression of every site of a Gaussian sequence on all the others.
///
/// Data Z (M x L, one sample a row, mean zero). For each site i the estimator on the other sites is
///     w_i = argmin (1/2M) sum_mu (Z_mu,i - w . Z_mu,\i)^2 + (lambda/2) |w|^2,
/// row i of the linear attention matrix A (zero diagonal). With S = Z^T Z / M and
/// G = (S + lambda)^{-1}, block inversion gives all rows from one inverse,
///     A_ij = -G_ij / G_ii,   test_i = [G Sigma G]_ii / G_ii^2,   train_i = [G S G]_ii / G_ii^2,
/// so the test error is the exact population value of the estimator: no test sample is drawn. At
/// lambda = 0 the limit lambda -> 0+ is taken, which is each site's minimum-norm solution (G
/// becomes the projector on the kernel of S; sites without a component there use the pseudo-inverse
/// instead).
///
/// Setting: Rende, Gerace, Laio, Goldt 2024 (arXiv:2304.07235), masked language modelling with
/// Gaussian data.

#include <Eigen/Core>

#include "attica/core/gauss/mlm.hpp"
#include "attica/core/random.hpp"

namespace attica {

/// @brief c with F_ij = c_i F_{i-1,j} within rounding for all j < i; empty if there is none.
///
/// F F^T is then the covariance of a Markov chain, as ar1(rho) is, and the product z = F w is the
/// recursion z_i = c_i z_{i-1} + F_ii w_i.
/// @param factor F, L x L lower triangular
Eigen::VectorXd chain_slopes(const Eigen::MatrixXd& factor);

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

/// @brief The estimators of all sites at one penalty; vectors of length L. Errors are mean squares
/// without factor 1/2. C is the covariance of a site's inputs, b theirs with the site, C w* = b.
struct RidgeFit {
  Eigen::VectorXd test;          ///< population error
  Eigen::VectorXd train;         ///< error on the data
  Eigen::VectorXd overlap_m;     ///< w^T C w*
  Eigen::VectorXd overlap_q;     ///< w^T C w, so that test = Sigma_ii - 2 m + q
  Eigen::VectorXd weight_norm2;  ///< |w|^2
};

/// @brief The best predictors of all sites, as `RidgeFits::split` needs them.
struct BestPredictors {
  /// @param problem with a covariance of full rank
  explicit BestPredictors(const GaussianMlm& problem);

  Eigen::MatrixXd precision;        ///< Sigma^{-1}
  Eigen::MatrixXd inverse_factor;   ///< F^{-1}, F = problem.factor()
  Eigen::VectorXd noise_variances;  ///< sigma_i^2; w*_i = e_i - sigma_i^2 Sigma^{-1} e_i
};

/// @brief The same estimators taken apart. The labels of site i are y = w*.x + xi; fitting is
/// linear in them, so that w = a + b with a from the labels without noise and b from the noise
/// alone: -xi in place of xi, on the same inputs, would give a - b.
struct RidgeSplit {
  RidgeFit fit;
  Eigen::MatrixXd signal;  ///< row i: (a_i - w*_i) F, whose square is the error without noise
  Eigen::MatrixXd noise;   ///< row i: b_i F, whose square is what the noise adds to it on average
};

/// @brief Ridge estimators of one data set at any number of penalties.
///
/// The Gram matrix of the smaller side is brought to tridiagonal form T once, by an orthogonal
/// transformation. Every penalty then needs one tridiagonal solution and one matrix product: a
/// third of the preparation that eigenvectors would take, at the same cost a penalty.
class RidgeFits {
 public:
  /// @param data Z, M x L, M >= 1, L >= 2, finite
  /// @param factor any F (L rows) with F F^T = Sigma, the population covariance
  RidgeFits(const Eigen::MatrixXd& data, Eigen::MatrixXd factor);

  /// @brief Errors, overlaps and norms of all sites.
  /// @param lambda penalty >= 0
  /// @throws Error of kind numerical if the factorisation fails
  RidgeFit fit(double lambda) const;

  /// @brief The same with their parts.
  /// @param best those of the covariance F F^T of the constructor
  RidgeSplit split(double lambda, const BestPredictors& best) const;

  /// @brief The linear attention matrix, L x L with zero diagonal; row i is site i's estimator.
  Eigen::MatrixXd attention(double lambda) const;

 private:
  /// Rows of U (T + lambda)^{-1}, one a site, and what they sum to.
  template <int Sites>
  struct Solution {
    Eigen::Matrix<double, Sites, Eigen::Dynamic> y;  ///< sites x min(M, L)
    Eigen::Vector<double, Sites> overlap;            ///< sum over k of U_ik Y_ik
    Eigen::Vector<double, Sites> norm2;              ///< |row i of Y|^2
  };
  /// T + lambda = (1 + l) diag(p) (1 + l)^T with l below the diagonal only.
  struct Pivots {
    double lambda;
    Eigen::VectorXd inverse;  ///< 1 / p
    Eigen::VectorXd lower;    ///< l
  };
  Pivots pivots(double lambda) const;
  template <int Sites>
  Solution<Sites> solve(const Pivots& pivots, Eigen::Index first, Eigen::Index sites) const;
  /// At lambda = 0: G up to a positive factor of each row, and [G S G]_ii.
  struct Projector {
    Eigen::MatrixXd g;
    Eigen::VectorXd train_top;
    Eigen::MatrixXd kernel;  ///< the projector on the kernel of S
  };
  Projector projector() const;
  /// What the estimators of some sites follow from: rows of G, each of any scale.
  template <int Sites>
  struct Inverse {
    Eigen::Vector<double, Sites> g;                   ///< G_ii
    Eigen::Matrix<double, Sites, Eigen::Dynamic> gf;  ///< G F
    Eigen::Vector<double, Sites> train_top;           ///< [G S G]_ii
    Eigen::Vector<double, Sites> norm2;               ///< [G G]_ii
  };
  Inverse<Eigen::Dynamic> inverse(double lambda) const;
  template <int Sites>
  Inverse<Sites> inverse(const Pivots& pivots, Eigen::Index first, Eigen::Index sites) const;
  template <int Sites>
  void fit_from(const Inverse<Sites>& inverse, Eigen::Index first, RidgeFit& fit) const;

  Eigen::Index samples_;
  bool wide_;  ///< M < L: the Gram matrix is Z Z^T / M
  Eigen::MatrixXd factor_;
  Eigen::VectorXd diagonal_;     ///< of T
  Eigen::VectorXd subdiagonal_;  ///< of T
  Eigen::MatrixXd u_;            ///< S = Q T Q^T: U = Q; Z Z^T / M = Q T Q^T: U = Z^T Q / sqrt(M)
  Eigen::MatrixXd uf_;           ///< U^T F, -U^T F where M < L
};

}  // namespace attica
