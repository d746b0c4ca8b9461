#pragma once
/// @file
/// @brief Topics in the word embeddings: uniform attention, W_V = I, decoder tied to the embedding,
/// so that F = E p̂ + b with E = W_EᵀW_E.
/// @source Y. Li, Y. Li, A. Risteski, ICML 2023, arXiv:2303.04245, Theorem 1; the penalised optimum
/// and the flow are ours

#include <Eigen/Core>

#include "attica/theory/topics/value.hpp"

namespace attica {

/// @brief E and b of invariant form; b has one entry for the mask and one for all words.
struct TopicEmbedding {
  Commutant gram = Commutant::Zero();  ///< E
  Eigen::Vector2d bias = Eigen::Vector2d::Zero();
};

/// @brief The contrast δ of the optimum: with the penalty λ|W_E|² = λ tr E the unique minimiser for
/// infinite documents of the subset prior is E = δ (blocks of ones - ones/T) on words, b = 1/(Tv)
/// on words and 0 on the mask;
/// δ = max(0, 1/(κv) - λ (T-1) τ / (2κ²(1-τ/T))).
/// @throws Error (input) for finite documents, the Dirichlet prior or τ = T
double embedding_contrast(const TopicModel& model, double lambda);
TopicEmbedding embedding_optimum(const TopicModel& model, double lambda);

/// @brief A step of gradient descent on W_E and b from an invariant start, exact for population
/// gradients: E' = (1 - η(X + 2λ)) E (1 - η(X + 2λ)), X = G + Gᵀ, G = 2(E Σ + b p̄ᵀ - C).
TopicEmbedding embedding_step(const TopicModel& model,
                              const CommutantAlgebra& algebra,
                              const ValueMoments& moments,
                              const TopicEmbedding& embedding,
                              double eta,
                              double lambda);

}  // namespace attica
