#pragma once
/// @file
/// @brief Families of covariances for Gaussian masked modelling. Every builder returns an L x L
/// symmetric positive-definite matrix, or throws an Error of kind input naming the parameter at
/// fault.

#include <Eigen/Core>

#include "attica/core/random.hpp"

namespace attica {

/// @brief Stationary autoregression of order one: Σ_ij = rho^|i-j|.
/// @param sites L >= 2
/// @param rho   correlation of neighbours, -1 < rho < 1
Eigen::MatrixXd ar1_covariance(Eigen::Index sites, double rho);

/// @brief Equal correlations: 1 on the diagonal, rho off it.
/// @param rho  -1/(L-1) < rho < 1
Eigen::MatrixXd equi_covariance(Eigen::Index sites, double rho);

/// @brief Site 0 tied to all others, which are independent of each other: Σ = 1 + Σ_{0j} = Σ_{j0} =
/// b_j.
///
/// All b_j are equal with ‖b‖ = |rho|, so site 0 has isotropic inputs, w* = b and σ² = 1 - rho².
/// @param rho  -1 < rho < 1; the sign is that of every b_j
Eigen::MatrixXd arrow_covariance(Eigen::Index sites, double rho);

/// Parameters of the random-precision ensemble.
struct PrecisionEnsemble {
  Eigen::Index sites = 2;
  double nu =
      3;  ///< shift, nu > 2 tau: the spectrum of Ω/√L tends to the semicircle on [-2 tau, 2 tau]
  double tau = 1;  ///< standard deviation of Ω's off-diagonal entries, tau >= 0
};

/// @brief Random precision matrix: Σ = (Ω/√L + nu 1)⁻¹ with Ω from the Gaussian orthogonal
/// ensemble, variance tau² off the diagonal and 2 tau² on it.
/// @throws Error naming 'nu' also if the draw is indefinite (finite L only)
Eigen::MatrixXd precision_covariance(const PrecisionEnsemble& ensemble, RandomStream& stream);

/// @brief (Ω/√L + nu 1)⁻¹ for a given symmetric Ω.
Eigen::MatrixXd precision_covariance_from(const Eigen::MatrixXd& omega, double nu);

}  // namespace attica
