#pragma once
/// @file
/// @brief Moments of softmax attention with Gaussian logits, at a finite number of keys.
///
/// A row of attention is A_j = e^{x_j} / Σ_l e^{x_l}. At initialisation the logits of a row are
/// independent N(0, s²) for the T keys, but for a part that all keys share and softmax does not
/// see; two rows' logits at one key have correlation ρ. With 1/Z^k = ∫ u^{k-1} e^{-uZ} du / Γ(k), u
/// = e^w, all moments are integrals over w of φ(u) = E e^{-u e^x} and N_k(u) = E (u e^x)^k e^{-u
/// e^x}:
///
///     E Σ over distinct j_1..j_m of A_{j_1}^{k_1} ... A_{j_m}^{k_m}
///       = T (T-1) ... (T-m+1) / Γ(k_1+...+k_m) ∫ dw φ^{T-m} N_{k_1} ... N_{k_m},
///
/// exact at every T. In the limit of many keys with s² = β² ln T a row is a random energy model
/// (Giorlandino and Goldt, arXiv:2505.24333), which no practical context reaches: corrections fall
/// as 1/ln T. The integrals are the trapezoid rule, which converges as e^{-π²/step}: integrands are
/// analytic in |Im w| < π/2.

#include <Eigen/Core>

namespace attica {

/// What the rows of attention see.
struct AttentionRows {
  double keys = 2;  ///< T >= 2
  /// Row n has n keys, n = 1 ... T, and moments are means over the rows; else all have T.
  bool causal = false;
  /// Keys on a sphere of this dimension d, whose logits have density (1 - z²/d)^{(d-3)/2} in
  /// z = x/s; 0: normal logits.
  double sphere = 0;
};

/// Trapezoid rule in w: relative errors of e^{-π²/step} and e^{-tail}.
struct SoftmaxGrid {
  double step = 0.3;
  double tail = 22;
};

/// Moments of one row.
struct RowMoments {
  double participation = 0;  ///< Y = E Σ A²
  double cubes = 0;          ///< E Σ A³
  double square = 0;         ///< E (Σ A²)²
  double entropy = 0;        ///< -E Σ A ln A, nats
  double aligned = 0;        ///< E Σ_{j≠l} A_j A_l z_j z_l, logits x = s z
  double largest = 0;        ///< E max A; 0 unless asked for
  /// E |q|² ‖diag A - A Aᵀ‖², E |q|² = 1; 0 unless the length of the query q is averaged over.
  double query_jacobian = 0;

  /// @brief E ‖diag A - A Aᵀ‖², squared Frobenius norm of the softmax's Jacobian.
  double jacobian() const { return participation - 2 * cubes + square; }
  double variance() const { return square - participation * participation; }

  RowMoments& operator+=(const RowMoments& other);
  RowMoments operator*(double factor) const;
};

/// @brief Moments of a row with logits of variance s². @param variance s² >= 0
/// @param with_largest also E max A, whose error is e^{-π²/(2 step)}
RowMoments softmax_row(const AttentionRows& rows,
                       double variance,
                       bool with_largest = true,
                       const SoftmaxGrid& grid = {});

/// Logits of two rows at the same key.
struct LogitPair {
  double variance_a = 0;   ///< s² of row A
  double variance_b = 0;   ///< s² of row B; causal: the longer row
  double correlation = 0;  ///< -1 <= ρ <= 1
};

/// Moments of two rows A, B.
struct PairMoments {
  double shared = 0;           ///< C = E Σ_j A_j B_j
  double shared_jacobian = 0;  ///< E tr J_A J_B, J = diag A - A Aᵀ
  double squares = 0;          ///< E Σ A² Σ B²
  double square_shared = 0;    ///< E Σ A² Σ A B
  /// E q_A·q_B tr J_A J_B, E |q|² = 1; 0 unless the queries are averaged over.
  double query_jacobian = 0;
};

/// Which of them.
enum class PairPart {
  shared,    ///< C alone
  jacobian,  ///< and tr J_A J_B
  all,       ///< and what the spread between networks needs
};

/// @brief Moments of two rows. Causal rows: C alone, mean over pairs of rows.
PairMoments softmax_pair(const AttentionRows& rows,
                         const LogitPair& logits,
                         PairPart part = PairPart::shared,
                         const SoftmaxGrid& grid = {.step = 0.35, .tail = 30});

/// @brief The limit of many keys at s² = β² (1-p) ln T: weights of a Poisson-Dirichlet law of index
/// μ = min(1, b_c/β), b_c = √(2/(1-p)): Y = 1 - μ, C = 0, J = μ (1-μ)/3, entropy ψ(1) - ψ(1-μ), or
/// (1 - (β/b_c)²) ln T at μ = 1.
struct LimitRow {
  double participation = 0;
  double jacobian = 0;
  double entropy = 0;
  double largest = 0;
};
LimitRow limit_row(double keys, double beta, double cosine);
/// @brief μ = min(1, √(2/(1-p))/β)
double limit_index(double beta, double cosine);

}  // namespace attica
