#pragma once
/// @file
/// @brief Ridge regression of labels on Gaussian inputs, one task at a time: a teacher's, a masked
/// site's, or labels without a rule.
///
/// y = w·x + ξ with x ~ N(0, C), E ξ² = σ², objective (1/2M) Σ (y - ŵ·x)² + (λ/2)‖ŵ‖², errors mean
/// squares: the conventions and formulas of ridge.hpp, whose sites are such tasks. All errors are
/// linear in the v_k² = (u_k·w)² and σ², so that means over teachers are those of the mean squares.
///
/// Labels without a rule, w = 0 and E y² = σ², have E_train = (λ/κ)² σ²/(1-γ), and the least
/// objective (1/M) Σ (y - ŵ·x)² + λ‖ŵ‖² has mean σ² λ/κ: at vanishing penalty both are σ² (1 -
/// rank/M)₊ whatever the covariance (square loss of Gerace, Krzakala, Loureiro, Stephan and
/// Zdeborová 2024, arXiv:2205.13303).

#include <Eigen/Core>
#include <span>
#include <vector>

#include "attica/core/gauss/mlm.hpp"
#include "attica/core/gauss/ridge_order.hpp"

namespace attica {

/// A linear task in the eigenbasis of its inputs' covariance C.
struct LinearTask {
  Eigen::ArrayXd spectrum;  ///< positive eigenvalues s_k of C
  Eigen::ArrayXd weights2;  ///< v_k², or their means; @shape{as the spectrum}
  double noise = 0;         ///< σ²
};

/// @brief A teacher of random direction, E w wᵀ ∝ 1.
/// @param spectrum positive eigenvalues of C
/// @param signal   E (w·x)² >= 0
/// @param noise    σ² >= 0
/// @throws Error of kind input naming the argument
LinearTask random_teacher(const Eigen::ArrayXd& spectrum, double signal, double noise);

struct LabelRidge {
  double kappa = 0;
  double test_error = 0;  ///< +inf at λ = 0, M = rank C, if there is noise
  double train_error = 0;
  double objective = 0;  ///< train_error + λ E‖ŵ‖²
  /// Allowances for the orders beyond the first, absolute; 0 at leading order.
  double finite_size_test = 0;
  double finite_size_train = 0;
  double finite_size_objective = 0;
};

/// @param samples M >= 1, not necessarily an integer
/// @param lambda  λ >= 0; 0 is the limit λ → 0⁺, the minimum-norm solution
/// @throws Error of kind input naming the argument, of kind numerical if no κ is found
[[nodiscard]] LabelRidge label_ridge(const LinearTask& task,
                                     double samples,
                                     double lambda,
                                     RidgeOrder order = RidgeOrder::first);

/// Of masked modelling, whose sites are such tasks, the mean over the sites.
struct MaskedError {
  double test_error = 0;
  double finite_size_test = 0;  ///< allowance, as RidgePoint has it
};

/// @brief All sites' tasks together, from the spectrum of the whole sequence: GaussianRidge::curve.
/// @return for every λ an entry a number of samples
/// @throws Error of kind input naming 'samples' or 'lambda'
[[nodiscard]] std::vector<std::vector<MaskedError>> masked_errors(const GaussianMlm& problem,
                                                                  std::span<const double> samples,
                                                                  std::span<const double> lambdas,
                                                                  RidgeOrder order);

}  // namespace attica
