#pragma once
/// @file
/// @brief Masked ridge regression and PCA of finite samples with a spike in their covariance.
///
/// Row k of A is ridge regression of coordinate k on all others, penalty λ on (1/2n) sums of
/// squares. With S = XᵀX/n, G = (S+λ)⁻¹ and D = diag G all rows at once are A = I - D⁻¹G, similar
/// to I - H with the symmetric H = D^-½ G D^-½. Eigenvalues and vectors are taken from H⁻¹ = D^½
/// (S+λ) D^½: its eigenvalue z is A's w = 1 - 1/z, its eigenvector v gives the right one D^-½ v and
/// the left one D^½ v.

#include <Eigen/Core>

#include "attica/core/random.hpp"

namespace attica {

/// Σ = diag(variances) + θ u uᵀ
struct SpikedNoise {
  Eigen::VectorXd variances;
  Eigen::VectorXd direction;  ///< u, |u| = 1; of no meaning at θ = 0
  double theta = 0;
};

/// @brief S = XᵀX/n of n samples of N(0, Σ).
Eigen::MatrixXd sample_covariance(const SpikedNoise& noise,
                                  Eigen::Index samples,
                                  RandomStream& stream);

/// @brief The same for a stationary sequence with correlations ρ^|i-j|.
Eigen::MatrixXd ar1_sample_covariance(Eigen::Index dimension,
                                      double rho,
                                      Eigen::Index samples,
                                      RandomStream& stream);

/// @brief What masked ridge regression makes of a sample covariance.
struct MaskedRidge {
  Eigen::MatrixXd inverse_form;  ///< H⁻¹ = D^½ (S+λ) D^½
  Eigen::VectorXd diagonal;      ///< G_kk

  /// @throws Error (numerical) if S + λ has no Cholesky factor: λ is lost in rounding
  MaskedRidge(const Eigen::MatrixXd& covariance, double lambda);

  /// @brief All eigenvalues w of A, rising.
  Eigen::VectorXd eigenvalues() const;
};

/// @brief (vᵀu)²/(|v|²|u|²)
double squared_cosine(const Eigen::VectorXd& v, const Eigen::VectorXd& u);

}  // namespace attica
