#pragma once
/// @file
/// @brief Exact population gradients and gradient covariances of the one-layer linear transformer
/// on sparse contextual bigrams, for any V and A.
///
/// Loss and signals are in core/bigrams/model.hpp. With v = Vμ, m_k = s_k v - μ, S_V = VΣVᵀ,
/// C = VΣPᵀ, and s, n, o the column sums, squared norms and overlaps of A, the residual
/// r = V X a - y given k has E[r rᵀ] = R_k = m_k m_kᵀ + Σ + n_k S_V - o_k (C + Cᵀ).
/// The hat gradients are projected and preconditioned:
///
///     ĝ_V = (I - 11ᵀ/N) ∇_V L (D⁻¹ - 11ᵀ),   ĝ_{a^(k)} = (I - 11ᵀ/T) ∇_{a^(k)} L / μ_k,   D = diag
///     μ.
///
/// Steps along them keep Vμ, 1ᵀV and 1ᵀA. Model and projections follow Ren, Wang, Lee 2024
/// (arXiv:2410.23438); the closed forms are derived from the moments of independent one-hot tokens
/// (docs/bigrams.md) and tested against the enumeration of all sequences.

#include <Eigen/Core>

#include "attica/core/bigrams/model.hpp"

namespace attica {

/// A gradient in V and A. @shape{V: N x N, A: T x N}
struct BigramGradient {
  Eigen::MatrixXd value;
  Eigen::MatrixXd attention;
};

/// @brief ∇L of the population.
BigramGradient population_gradient(const BigramModel& model,
                                   const Eigen::MatrixXd& value,
                                   const Eigen::MatrixXd& attention);

/// @brief The hat gradient of the population.
BigramGradient population_hat_gradient(const BigramModel& model,
                                       const Eigen::MatrixXd& value,
                                       const Eigen::MatrixXd& attention);

/// @brief Matrices of a value matrix that the gradient noise depends on. All N x N.
struct NoiseMoments {
  Eigen::MatrixXd s_v;    ///< V Σ Vᵀ
  Eigen::MatrixXd cross;  ///< C + Cᵀ, C = V Σ Pᵀ
  Eigen::VectorXd v;      ///< V μ
};
NoiseMoments value_moments(const BigramModel& model, const Eigen::MatrixXd& value);

/// @brief R_k = E[r rᵀ | k] from the column's sum, squared norm and overlap.
Eigen::MatrixXd residual_covariance(
    const BigramModel& model, const NoiseMoments& moments, double s, double n, double o);

/// @brief E[g gᵀ | k] of the unprojected per-sample gradient g_t = (V δ_{x_t})·r, δ_n = e_n - μ.
/// @shape{T x T}
Eigen::MatrixXd attention_noise(const BigramModel& model,
                                const Eigen::MatrixXd& value,
                                const Eigen::MatrixXd& attention,
                                Eigen::Index token);

/// @brief Diagonal of the per-sample second moment of r (u/μ - s 1)ᵀ, entry (i, n), before the
/// column means are removed. @shape{N x N}
Eigen::MatrixXd value_noise_diagonal(const BigramModel& model,
                                     const Eigen::MatrixXd& value,
                                     const Eigen::MatrixXd& attention);

/// @brief Its leading order in the number of attended positions: (R_v)_ii (1/μ_n - 1),
/// R_v = Σ_k μ_k n_k R_k. Exact where A is uniform and V = μ1ᵀ. @shape{N x N}
Eigen::MatrixXd value_noise_diagonal_kronecker(const BigramModel& model,
                                               const Eigen::MatrixXd& value,
                                               const AttentionSums& sums);

/// @brief One step of descent of the population loss with softmax attention a^(k) = softmax(w^(k)):
/// V by its hat gradient, w^(k) by (η_w/μ_k) J(a) ∇_a, J(a) = diag a - a aᵀ. At uniform attention
/// and η_w = T² η_A the attention moves as with linear attention and rate η_A.
/// @param value, logits V and W, replaced
void softmax_descent_step(const BigramModel& model,
                          double eta_v,
                          double eta_w,
                          Eigen::MatrixXd& value,
                          Eigen::MatrixXd& logits);
/// @brief softmax of every column.
Eigen::MatrixXd column_softmax(const Eigen::MatrixXd& logits);

/// @brief Largest learning rate of A for which SGD with batch B is stable in mean square at a fixed
/// V, without l1: 2 K_V / (K_V² + [(T-1) tr S_V² + K_V² (1-μ_min)]/(μ_min B)).
double attention_rate_limit(const BigramModel& model, const Eigen::MatrixXd& value, double batch);

}  // namespace attica
