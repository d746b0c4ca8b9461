#pragma once
/// @file
/// @brief Linear classifiers of Gaussian inputs with random signs as labels: what is left of the
/// loss when there is no rule to learn.
///
/// x ~ N(0, C), y = ±1 at random; ŵ minimises (1/M) Σ_μ ℓ(y_μ w·x_μ) + (λ/2)‖w‖². As N, M → ∞ the
/// margin z of a sample and its margin ω ~ N(0, q) had it been left out obey
///
///     z = ω - V ℓ'(z),   V = (1/M) tr C (V̂ C + λ)⁻¹,   V̂ = E ℓ''(z)/(1 + V ℓ''(z)),
///     q = (q̂/M) tr C² (V̂ C + λ)⁻²,   q̂ = E ℓ'(z)²,
///
/// replica-symmetric equations of generalised linear models, exact for convex losses, at vanishing
/// overlap with a teacher: Gerace, Krzakala, Loureiro, Stephan and Zdeborová 2024
/// (arXiv:2205.13303).

#include <Eigen/Core>

namespace attica {

enum class ClassifierLoss {
  square,    ///< ½(1 - z)²: ridge regression of the signs
  logistic,  ///< ln(1 + e^{-z})
};

/// @brief Mean values over data sets, to leading order.
struct RandomSigns {
  double train_loss = 0;       ///< (1/M) Σ ℓ(y w·x)
  double objective = 0;        ///< train_loss + (λ/2) E‖ŵ‖²
  double weight_norm2 = 0;     ///< E‖ŵ‖²
  double test_variance = 0;    ///< q = E ŵᵀCŵ: of the margins of new samples
  double one_minus_gamma = 1;  ///< 1 - γ, γ = (1/M) tr [V̂ C (V̂ C + λ)⁻¹]²
};

/// @param spectrum positive eigenvalues of C
/// @param samples  M >= 1, not necessarily an integer
/// @param lambda   λ > 0
/// @throws Error of kind input naming the argument, of kind numerical if the equations are not
/// solved
[[nodiscard]] RandomSigns random_signs(const Eigen::ArrayXd& spectrum,
                                       double samples,
                                       double lambda,
                                       ClassifierLoss loss);

}  // namespace attica
