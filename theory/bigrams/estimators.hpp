#pragma once
/// @file
/// @brief What estimators of P and Q are off by when they see M sequences: maximum likelihood
/// (Cramér-Rao) and counting.
///
/// Estimators know μ and keep to V = μ1ᵀ + V_c with V_c μ = 0, 1ᵀV_c = 0, and to columns of A that
/// sum to 1: (N-1)² free parameters of V and one less than positions of each column of A. Signs are
/// free, so that the model is regular wherever all transitions have P > 0. To leading order in 1/M
/// an estimator's error (dV, dA) is normal, and its loss exceeds the Bayes risk by
///
///     ½ Σ_k μ_k { |q_k|² ‖dV‖²_μ + K_P |da_k|² + 2 (q_k·da_k) ⟨dV, P⟩_μ }.
///
/// The covariance of maximum likelihood is the inverse Fisher information over M (Cramér 1946, Rao
/// 1945), its log likelihood exceeds that of the truth by half the number of free parameters over M
/// (Wilks 1938). That of counting follows by the delta method from the moments of one sequence.
/// Given the last token, the tokens at the positions of q and the next token, all others are
/// independent of it: the enumeration is over N^(Q+1) cases for every last token, at any T.

#include <cstdint>

#include "attica/core/bigrams/model.hpp"

namespace attica {

/// @brief Leading terms of an estimator's mean errors: coefficients of 1/M.
struct EstimatorError {
  double excess_loss = 0;  ///< L - L*
  double distance_v2 = 0;  ///< ‖V - P‖²_μ
  double distance_a2 = 0;  ///< ‖A - Q‖²_μ
  double parameters = 0;   ///< of maximum likelihood: free ones, d
};

/// Which positions a column of A may attend to.
enum class KnownPositions {
  none,     ///< all T
  support,  ///< those of q alone: an oracle
};

/// @brief Of maximum likelihood: the inverse Fisher information.
/// @pre all transitions are possible, P > 0; K_P > 0
EstimatorError likelihood_error(const BigramModel& model, KnownPositions known);

/// @brief Of counting, at all positions: with h(x) = Σ_t D⁻¹(e_{x_t} - μ),
///
///     V = μ1ᵀ + mean (y - μ) h(x)ᵀ,   a^(k)_t ∝ Σ (V - μ1ᵀ)[y, x_t] over sequences that end in k.
///
/// E (y - μ)(e_{x_t} - μ)ᵀ given k is q_t P Σ, so that both are consistent.
/// @pre K_P > 0
EstimatorError counting_error(const BigramModel& model);

/// @brief Entropy of the next token given the whole sequence, in nats: the least cross-entropy that
/// any network can have. P need not be positive.
double bayes_log_loss(const BigramModel& model);
/// @brief Entropy of the next token's frequencies μ: the cross-entropy of a network that looks at
/// nothing.
double unigram_log_loss(const BigramModel& model);

/// @brief Cases that a prediction enumerates: Σ_k N^(|q_k| + 1).
double enumerated_cases(const BigramModel& model);

}  // namespace attica
