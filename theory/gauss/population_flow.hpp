#pragma once
/// @file
/// @brief Learning with infinitely many samples: gradient flow of the linear attention matrix A on
/// the population loss of Gaussian masked modelling.
///
/// The loss ½ Σ_i E_i, E_i = [(1-A) Σ (1-A)ᵀ]_ii, gives with diag A = 0
///   dA/dt = -offdiag(A Σ - Σ),
/// from A = 0 one independent linear flow per row a_i: with C_i, w* of the site,
///   a_i(t) = (1 - e^{-C_i t}) w*,   E_i(t) = σ_i² + Σ_k s_k (e^{-s_k t} u_k·w*)².
/// Any residual filter may stand for e^{-zt}; for gradient descent it is (1-ηz)^n.

#include <span>

#include "attica/core/gauss/mlm.hpp"
#include "attica/solvers/ode.hpp"
#include "attica/theory/gauss/residual_filter.hpp"

namespace attica {

/// @brief E_i after each filter.
/// @return @shape{L x number of filters}
Eigen::MatrixXd population_errors(const GaussianMlm& problem,
                                  std::span<const ResidualFilter> filters);

/// @brief The same flow by integrating dA/dt from A = 0 at time 0, an independent route.
struct PopulationFlow {
  OdeStatus status;
  Eigen::MatrixXd errors;  ///< E_i at the times reached; @shape{L x times reached}
};
/// @param times rising, > 0
[[nodiscard]] PopulationFlow population_flow(const GaussianMlm& problem,
                                             std::span<const double> times,
                                             const OdeOptions& options = {});

}  // namespace attica
