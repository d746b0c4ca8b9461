#pragma once
/// @file
/// @brief The terms of relative order 1/M of ridge regression on real Gaussian samples.
///
/// With p_k = s_k/(s_k+κ), q_k = 1 - p_k, L = 1/(1-γ), and over the inputs' eigenvalues
///   D₂ = (L/M) Σ q p²,  D₃ = (L/M) Σ q p³,  V_j = κ Σ v² q p^j  (V_1 = B),  P = B + σ²,
/// the mean resolvent of the sample covariance is, in the eigenbasis of C_i,
///   λ E[(Ŝ+λ)⁻¹]_k = q_k [1 + (L/M) p_k (p_k - D₂)] + O(1/M²),
/// and its derivatives by λ and by a multiple of C_i that is added to Ŝ give
///   E_test  = L {P + (L/M) [(γ-D₂+4D₂²-3D₃) P + 3V_3 - 4D₂ V_2]},
///   E_train = (λ/κ)² L {P + (L/M) [(3D₂+4D₂²-3D₃) P + 3V_3 - (4D₂+2) V_2]}.
/// Complex Gaussian samples have no term of this order; samples that are not Gaussian have another.
/// At λ = 0 and M > N these are the first two terms of the exact inverse Wishart means, e.g.
/// E_test = σ² (M-1)/(M-N-1).
///
/// Derivation: docs/gauss-double-descent.md.

namespace attica {

struct RidgeSite;

/// @brief What the terms of order 1/M need of a site's spectrum, besides the leading order.
struct RidgeMoments {
  double samples = 0;       ///< M
  double lambda_share = 0;  ///< λ/κ, or its limit 1 - n/M at κ = 0
  double slope1 = 0;        ///< (1/M) Σ s/(s+κ)²
  double slope2 = 0;        ///< (1/M) Σ s p/(s+κ)²
  double slope3 = 0;        ///< (1/M) Σ s p²/(s+κ)²
  double bias2 = 0;         ///< V_2
  double bias3 = 0;         ///< V_3
  double weight2 = 0;       ///< Σ v² p²
};

/// @brief Adds the terms of order 1/M to all errors, overlaps and the norm of `site`, which holds
/// its leading order, and puts the allowances of the order beyond in place of its own.
void add_first_order(const RidgeMoments& moments, RidgeSite& site);

/// @brief What the expansion is in, and where it stands.
struct ExpansionPoint {
  double omega = 0;  ///< 1/(M(1-γ)), its parameter
  double gamma = 0;
  double d2 = 0;  ///< D₂
  /// t = 1 - (λ/κ)/(1-γ): without penalty 0 for M > n and 1 for M < n.
  double interpolating_share = 0;
  double signal = 0;  ///< |(γ-D₂+4D₂²-3D₃) V_1 - 4D₂ V_2 + 3 V_3|/P, the signal's part of order 1/M
};

/// @brief Allowances for the orders beyond 1/M, relative to the leading order.
struct SecondOrder {
  double test = 0;
  double train = 0;
  double overlaps = 0;  ///< of m, q and the norm
};

/// @brief The size of the term of order 1/M², from cases in which it is known.
///
/// Near the interpolation threshold it is universal: the loop equation of real Wishart matrices at
/// the hard edge gives, with x = 1-2t and P_4 the Legendre polynomial,
///   E_test  = leading {1 + x² ω + P_4(x) ω² + ...},
///   E_train = leading {1 + 4t² ω + ½ t² (35x²-9) ω² + ...},
/// and without penalty the inverse moments of Wishart matrices are rational, with poles at ω = 1
/// and 3D₂ω = 1. The allowances are these coefficients, but no less than what the polynomials reach
/// between their zeros (P_4: 3/7, taken as 1/2; the other: 1.38, taken as 3/2), with γ in place of
/// 1 away from the threshold. Squared biases at small λ and M > n are inverse moments of second
/// degree, leading {1 + (3+γ) ω + 13 ω² + ...}: 13/4 of the signal's part of the first order are
/// added to the test error, with the pole at 3ω = 1 if M > n. The poles' denominators end at 1/2
/// and 1/4: where so few degrees of freedom are left (two, four) the allowance is of the order of
/// the error itself and not derived.
SecondOrder second_order(const ExpansionPoint& at);

}  // namespace attica
