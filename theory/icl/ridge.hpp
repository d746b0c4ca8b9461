#pragma once
/// @file
/// @brief Generalization of linear attention in context, trained by ridge regression on d(d+1)
/// features: the limit of large dimension, and finite size given the pool of tasks.
///
/// Γ = argmin Σ_μ (y_μ - <Γ, H_μ>)² + (n/d) λ ‖Γ‖² over n sequences, sequence μ with task μ mod k
/// of a pool of k tasks. Limit: d → ∞ at α = l/d, κ = k/d, τ = n/d². The features have covariance
/// 1/d ⊗ (R + x) with R the second moment of the pool and x = (1+ρ)/α, so that ξ is the effective
/// penalty of ridge regression (theory/ridge_kappa.hpp).
/// @source Lu, Letey, Zavatone-Veth, Maiti, Pehlevan 2024, arXiv:2405.11751; general covariance:
/// Letey, Zavatone-Veth, Lu, Pehlevan 2025, arXiv:2509.26551

#include <Eigen/Core>
#include <vector>

#include "attica/core/icl/regression.hpp"

namespace attica {

/// Ratios of the limit, noise and penalty.
struct ContextRatios {
  double alpha = 1;   ///< l/d > 0
  double kappa = 1;   ///< k/d > 0; infinity: every sequence has a task of its own
  double tau = 1;     ///< n/d² > 0
  double rho = 0;     ///< >= 0
  double lambda = 0;  ///< >= 0; 0 is the ridgeless limit
};

/// @brief Mean square errors, noise included. At λ = 0 and τ = 1 both are infinite.
struct ContextErrors {
  double icl = 0;              ///< on fresh tasks
  double idg = 0;              ///< on tasks of the pool
  double xi = 0;               ///< effective penalty ξ
  double one_minus_gamma = 0;  ///< 1 - γ, γ the fraction of the error that is variance
};

/// @brief The limit with tasks uniform on the sphere ‖w‖² = d.
/// @throws Error (input) naming alpha, kappa, tau, rho or lambda; (numerical) without a root
ContextErrors context_limit(const ContextRatios& ratios);

/// Spectra of tasks in a common basis.
struct TaskSpectra {
  Eigen::ArrayXd train;   ///< eigenvalues c_j >= 0 of the pretraining tasks' covariance
  Eigen::ArrayXd test;    ///< diagonal t_j >= 0 of the second moment of the test tasks
  double alpha_test = 1;  ///< l/d of the test sequences
};

/// @brief The limit with pretraining tasks N(0, diag c) and test tasks of second moment diag t.
/// The pool's inverse (R + ν)⁻¹ is replaced by its deterministic equivalent 1/(c g + ν).
/// @throws as context_limit; naming 'spectrum' for spectra that are negative, zero or of unequal
/// length
ContextErrors context_limit(const ContextRatios& ratios, const TaskSpectra& spectra);

/// Sizes that are not ratios.
struct PoolSizes {
  double context = 1;  ///< l
  double samples = 1;  ///< n
  double rho = 0;
  double lambda = 0;
};

/// @brief Finite d, l, k and n, given the pool, of Gaussian features with the covariance of these.
/// @param pool    a task a row; @shape{k x d}
/// @param test    moments of the test sequences; fresh tasks on the sphere ‖w‖² = d by default
/// @throws Error (input) naming samples unless n >= d, or lambda unless >= 0
ContextErrors context_gaussian(const Eigen::MatrixXd& pool, const PoolSizes& sizes);
ContextErrors context_gaussian(const Eigen::MatrixXd& pool,
                               const PoolSizes& sizes,
                               const ContextMoments& test);

/// @brief The same with the law of these features (theory/icl/feature_law.hpp); ξ and 1 - γ remain
/// those of Gaussian ones. Below λ = 1e-4 ξ the value there.
/// @throws as context_gaussian; Error (numerical) where the equations' solution is not reached
ContextErrors context_pool(const Eigen::MatrixXd& pool, const PoolSizes& sizes);
ContextErrors context_pool(const Eigen::MatrixXd& pool,
                           const PoolSizes& sizes,
                           const ContextMoments& test);
/// @brief The same for tests of several kinds, which do not change what is learnt.
std::vector<ContextErrors> context_pool(const Eigen::MatrixXd& pool,
                                        const PoolSizes& sizes,
                                        const std::vector<ContextMoments>& tests);

/// @brief Error of the best predictor of a fresh task N(0, 1), ridge regression in context; the
/// limit for tasks on the sphere is the same.
double context_bayes(double alpha, double rho);

/// @brief Error, noise included, of the posterior mean over two tasks on sequences of one of them,
/// exact: what the wrong one says of a label is off by u ~ N(0, square), its log odds after the
/// context are N(-s/(2ρ), s/ρ) given s = Σ u_i².
/// @param length tokens of the context
/// @param square |w_1 - w_2|²/d
double two_task_error(double length, double rho, double square);

/// @name Relative deviation of a simulation from theory times (1 - γ) d, as measured
/// @{
/// From context_pool: 0.2.
inline constexpr double kPoolAllowance = 0.2;
/// From context_gaussian: 0.8 + 1.8/α.
double gaussian_allowance(double alpha);
/// From context_limit: 2.5 (1 + 0.4/κ).
double limit_allowance(double kappa);
/// @}

}  // namespace attica
