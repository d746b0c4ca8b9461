#pragma once
/// @file
/// @brief Learning with infinitely many samples: gradient flow of the linear attention matrix A on
/// the population loss of Gaussian masked modelling.
///
/// The loss ½ Σ_i E_i + (λ/2) ‖A‖², E_i = [(1-A) Σ (1-A)ᵀ]_ii, gives with diag A = 0
///   dA/dt = -offdiag(A Σ - Σ) - λ A,
/// one independent linear flow per row a_i: with C_i, w* of the site,
///   a_i(t) = a_∞ + e^{-(C_i+λ)t} (a_i(0) - a_∞),   a_∞ = (C_i+λ)⁻¹ C_i w*,
///   E_i(t) = σ_i² + Σ_k s_k (u_k·(a_i(t) - w*))².
/// Any residual filter may stand for e^{-zt}; for gradient descent it is (1-ηz)^n.

#include <span>

#include "attica/core/gauss/mlm.hpp"
#include "attica/solvers/ode.hpp"
#include "attica/theory/gauss/residual_filter.hpp"

namespace attica {

/// Where the flow starts and what holds it back.
struct PopulationStart {
  Eigen::MatrixXd attention;  ///< A(0), zero diagonal; @shape{L x L}
  double lambda = 0;          ///< λ >= 0
};

/// @brief E_i after each filter, in closed form.
/// @return @shape{L x number of filters}
/// @throws Error of kind input naming 'attention' (size, diagonal, finite) or 'lambda'
Eigen::MatrixXd population_errors(const GaussianMlm& problem,
                                  const PopulationStart& start,
                                  std::span<const ResidualFilter> filters);

/// @brief The same flow by integrating dA/dt, an independent route.
struct PopulationFlow {
  OdeResult solution;      ///< states are A(t), column-major
  Eigen::MatrixXd errors;  ///< E_i at the times reached; @shape{L x times reached}
};
/// @param times as for solve_ode; the first is the time of the start
[[nodiscard]] PopulationFlow population_flow(const GaussianMlm& problem,
                                             const PopulationStart& start,
                                             std::span<const double> times,
                                             const OdeOptions& options = {});

/// @brief E_i = [(1-A) Σ (1-A)ᵀ]_ii of every site.
Eigen::VectorXd attention_errors(const GaussianMlm& problem, const Eigen::MatrixXd& attention);

}  // namespace attica
