#pragma once
/// @file
/// @brief Ridge regression of random labels on inputs of several Gaussian clusters.
///
/// x ~ Σ_k p_k N(μ_k, Ω_k), y = ±1 at random, ŵ = argmin (1/M) Σ (y - w·x)² + λ‖w‖². As N, M → ∞
/// the least objective is Σ_k p_k/(1 + δ_k) with δ_k = (1/M) tr Ω_k Q and
/// Q = (Σ_k p_k Ω_k/(1 + δ_k) + λ)⁻¹; few means do not enter. The train error is what is left
/// without λ‖ŵ‖² = λ d(objective)/dλ.
/// @source resolvent of Benaych-Georges and Couillet 2016, arXiv:1510.03463

#include <Eigen/Core>
#include <span>

namespace attica {

/// A cluster of inputs, in a basis in which the covariances of all clusters are diagonal.
struct InputCluster {
  double share = 1;          ///< p_k; shares sum to 1
  Eigen::ArrayXd variances;  ///< diagonal of Ω_k, >= 0; @shape{N}
};

/// Both in units of the labels' variance 1.
struct MixtureLabels {
  double objective = 0;    ///< min over w of (1/M) Σ (y - w·x)² + λ‖w‖²
  double train_error = 0;  ///< (1/M) Σ (y - ŵ·x)²
};

/// @param samples M >= 1, not necessarily an integer
/// @param lambda  λ > 0
/// @throws Error of kind input naming the argument, of kind numerical if the δ_k do not converge
[[nodiscard]] MixtureLabels mixture_labels(std::span<const InputCluster> clusters,
                                           double samples,
                                           double lambda);

}  // namespace attica
