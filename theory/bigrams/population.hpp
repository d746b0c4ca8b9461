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
#include <cstdint>
#include <span>

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

/// @brief What the gradient noise depends on of a value matrix, with V_c = V - Vμ1ᵀ and
/// P_c = P - μ1ᵀ.
struct NoiseMoments {
  Eigen::MatrixXd s_v;     ///< V Σ Vᵀ
  Eigen::MatrixXd cross;   ///< C + Cᵀ, C = V Σ Pᵀ
  Eigen::VectorXd v;       ///< V μ
  double norm2 = 0;        ///< |V_c|²
  double overlap = 0;      ///< V_c·P_c
  Eigen::VectorXd tilt;    ///< V_c (1 - 2μ)
  Eigen::VectorXd tilt_p;  ///< P_c (1 - 2μ)
};
NoiseMoments value_moments(const BigramModel& model, const Eigen::MatrixXd& value);
/// @brief Counts noise of V with E[N Σ Nᵀ] = covariance, columns independent, of variances
/// proportional to 1/μ_n - 1.
void add_value_noise(const BigramModel& model,
                     const Eigen::MatrixXd& covariance,
                     NoiseMoments& moments);

/// @brief R_k = E[r rᵀ | k] from the column's sum, squared norm and overlap.
Eigen::MatrixXd residual_covariance(
    const BigramModel& model, const NoiseMoments& moments, double s, double n, double o);

/// A column of A: its entries at some positions, the support of q^(k) among them, and sums over
/// all positions.
struct AttendedColumn {
  Eigen::VectorXd a;
  Eigen::VectorXd q;   ///< of q^(k), at the same positions
  double sum = 0;      ///< s_k
  double norm2 = 0;    ///< n_k
  double overlap = 0;  ///< o_k
};

/// @brief E[g gᵀ | k] at these positions, of the unprojected per-sample gradient g_t = (V
/// δ_{x_t})·r, δ_n = e_n - μ. Elsewhere its diagonal is tr(S_V R_k).
/// @param moments of V; those of the residual may count noise of V
Eigen::MatrixXd attention_noise(const BigramModel& model,
                                const Eigen::MatrixXd& value,
                                const NoiseMoments& moments,
                                const AttendedColumn& column);

/// @brief E[‖r (u/μ - s 1)ᵀ‖²_μ | k], the trace of a sample's noise of V before column means are
/// removed: (N-1) n_k tr R_k, and what few attended positions add. Third and fourth powers of
/// entries elsewhere are left out.
double value_noise(const BigramModel& model,
                   const NoiseMoments& moments,
                   const AttendedColumn& column);

/// What tokens n add to P u, w_n = P(e_n - μ), and what its noise depends on.
struct TruthMoments {
  Eigen::MatrixXd w;    ///< @shape{N x N}, a column a token
  Eigen::MatrixXd h;    ///< wᵀw; @shape{N x N}
  Eigen::VectorXd w1;   ///< Σ_i μ_i w_in
  Eigen::VectorXd w2;   ///< Σ_i μ_i w_in²
  Eigen::VectorXd w3;   ///< Σ_i w_in³
  Eigen::MatrixXd s_p;  ///< P Σ Pᵀ
};
TruthMoments truth_moments(const BigramModel& model);

/// @brief The part of it along P - μ1ᵀ, which moves α_V and is no remainder: Σ_k μ_k E[(r·P(u - s
/// μ))² | k]/K_P over all columns, without fourth powers of entries elsewhere.
/// @param g wᵀ V(e_n - μ), of the mean of V (α_V h if that is μ1ᵀ + α_V (P - μ1ᵀ)); @shape{N x N}
/// @param moments of V; may count noise beside the mean
double value_noise_along(const BigramModel& model,
                         const TruthMoments& truth,
                         const Eigen::MatrixXd& g,
                         const NoiseMoments& moments,
                         std::span<const AttendedColumn> columns);

/// @brief Mean ‖V - P‖²_μ of the mean of V over the last half of `steps` steps of SGD with batch B
/// at A = Q: whole steps from P with the noise there, in which V - P decays at the rate η_V ‖Q‖²_μ.
double averaged_value_noise(const BigramModel& model,
                            double eta_v,
                            double batch,
                            std::int64_t steps);

/// @brief One step of descent of the population loss with softmax attention a^(k) = softmax(w^(k)):
/// V by its hat gradient, w^(k) by (η_w/μ_k) J(a) ∇_a, J(a) = diag a - a aᵀ. At uniform attention
/// and η_w = T² η_A the attention moves as with linear attention and rate η_A.
/// @param value, logits V and W, replaced
void softmax_descent_step(const BigramModel& model,
                          double eta_v,
                          double eta_w,
                          Eigen::MatrixXd& value,
                          Eigen::MatrixXd& logits);
/// @brief Rate η_w of the logits from which on these steps leave every solution: 2 over the largest
/// eigenvalue of K_P J(q^(k))², which is what descent at V = P multiplies w^(k) by; 2 Q²/K_P for Q
/// equal weights. Infinite where every last token attends to one position: J = 0.
double logit_rate_limit(const BigramModel& model);
/// @brief softmax of every column.
Eigen::MatrixXd column_softmax(const Eigen::MatrixXd& logits);

/// @brief Largest learning rate of A for which SGD with batch B is stable in mean square at a fixed
/// V, without l1: 2 K_V / (K_V² + [(T-1) tr S_V² + K_V² (1-μ_min)]/(μ_min B)).
double attention_rate_limit(const BigramModel& model, const Eigen::MatrixXd& value, double batch);

}  // namespace attica
