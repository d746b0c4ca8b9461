#pragma once
/// @file
/// @brief First stage of learning topics: the value matrix under uniform attention.
///
/// The network's output is F = W p̂, with p̂ the shares of tokens in the corrupted document. The
/// squared loss averaged over selected positions, L(W) = tr(W Σ Wᵀ) - 2 tr(W Cᵀ) + 1, needs two
/// moments, Σ = E p̂p̂ᵀ and C = E e_x p̂ᵀ (x the true token of a selected position), which are
/// invariant matrices for every exchangeable prior and every length. With + λ|W|² the optimum is
/// C (Σ + λ)⁻¹. The moments for finite documents are ours.
/// @source Y. Li, Y. Li, A. Risteski, ICML 2023, arXiv:2303.04245, Theorem 2

#include "attica/core/topics/model.hpp"

namespace attica {

/// @brief The two moments; for documents of random length their average.
struct ValueMoments {
  Commutant sigma;   ///< Σ
  Commutant target;  ///< C; rows are true tokens
};

ValueMoments value_moments(const TopicModel& model);

/// @brief Loss L(W), penalty not included.
double value_loss(const CommutantAlgebra& algebra, const ValueMoments& moments, const Commutant& w);

/// @brief The minimiser of L(W) + λ|W|²; λ = 0 means λ → 0+ (isotypic eigenvalues of Σ below 1e-12
/// of the largest count as 0).
Commutant value_optimum(const CommutantAlgebra& algebra,
                        const ValueMoments& moments,
                        double lambda);

/// @brief One step of the mean of SGD with fresh documents, exact at any batch size:
/// E W' = E W - 2η (E W Σ - C + λ E W).
Commutant mean_value_step(const CommutantAlgebra& algebra,
                          const ValueMoments& moments,
                          const Commutant& w,
                          double eta,
                          double lambda);

/// @brief What the mean of SGD (or descent) from W = 0 is off the optimum after so many steps, up
/// to the sign: -W* (1 - 2η (Σ + λ))^n, with |.| of the factor's eigenvalues; not finite where it
/// diverges.
Commutant value_left(const CommutantAlgebra& algebra,
                     const ValueMoments& moments,
                     double eta,
                     double lambda,
                     double steps);

/// @brief Theorem 2 in closed form: the minimiser of least norm for infinite documents of the
/// subset prior.
/// @throws Error (input) for finite documents, the Dirichlet prior or τ = T
Commutant value_closed_form(const TopicModel& model);

}  // namespace attica
