#pragma once
/// @file
/// @brief Optimal penalties and closed forms for ridge regression in Gaussian masked modelling.
/// Conventions of ridge.hpp; here N, M → ∞ and alpha = M/N.

#include <Eigen/Core>

#include "attica/core/gauss/ensembles.hpp"
#include "attica/theory/gauss/ridge.hpp"

namespace attica {

/// @brief The penalty with the smallest test error.
struct OptimalPenalty {
  double lambda = 0;
  double test_error = 0;
  bool at_edge =
      false;  ///< the error still falls at the upper end of the range searched: no finite optimum
};

/// @brief The common λ that minimises the site average of E_test, over 0 and 1e-8..1e8 times the
/// mean eigenvalue. The error may have several minima in λ: a grid of 81 points picks the lowest,
/// Brent's method refines it; λ is good to about 1e-7 relative.
/// @throws Error of kind input naming 'samples', of kind numerical if the theory fails on the way
OptimalPenalty optimal_penalty(const GaussianRidge& ridge, double samples);

/// @brief Errors of a closed form.
struct RidgeLimit {
  double kappa = 0;
  double one_minus_gamma = 0;
  double bayes_error = 0;
  double test_error = 0;  ///< +inf at λ = 0, alpha = 1 if there is noise
  double train_error = 0;
  RidgeStatus status = RidgeStatus::converged;
};

/// @brief The limit L → ∞ of precision_covariance(): Σ = (Ω/√L + nu)⁻¹. Every site has the same
/// errors.
///
/// With h the semicircle's resolvent, τ²h² - (1/κ+nu)h + 1 = 0: (1/N) Σ s/(s+κ) → f1 = h/κ and
/// (1/N) Σ s²/(s+κ)² → f2 = f1²/(1-τ²h²); (1/N) tr (Σ+κ)⁻¹ = (1-f1)/κ =: g gives
/// E_test = (f1-f2)/(κ g² (1-γ)), Bayes error 1/nu.
/// @param ensemble nu > 2 tau >= 0; its number of sites plays no role
RidgeLimit precision_ridge_limit(const PrecisionEnsemble& ensemble, double alpha, double lambda);

}  // namespace attica
