#pragma once
/// @file
/// @brief The regression problem of one site of Gaussian masked modelling, in the eigenbasis of its
/// inputs.

#include <Eigen/Core>
#include <vector>

#include "attica/core/gauss/mlm.hpp"

namespace attica {

/// @brief y = w*·x + ξ with x ~ N(0, C_i): C_i = Σ_k s_k u_k u_kᵀ over its n positive eigenvalues,
/// v_k = u_k·w*.
///
/// If C_i is singular, w* is the predictor without component in its kernel.
struct SiteRegression {
  std::vector<Eigen::Index> inputs;  ///< the sites that x consists of, in order: all but the site
  Eigen::ArrayXd s;                  ///< ascending; @shape{n}
  Eigen::MatrixXd basis;             ///< columns u_k; @shape{N x n}
  Eigen::VectorXd teacher;           ///< v_k; @shape{n}
  double variance = 0;               ///< Σ_ii
  double bayes_error = 0;            ///< σ² = E ξ²
};

/// @brief Splits off one site: one eigendecomposition of size N = L-1.
/// @throws Error of kind input naming 'site' unless 0 <= site < L
SiteRegression site_regression(const GaussianMlm& problem, Eigen::Index site);

}  // namespace attica
