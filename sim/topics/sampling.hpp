#pragma once
/// @file
/// @brief Simulations on topic documents that are not training runs of the one-layer network.

#include "attica/sim/topics/network.hpp"

namespace attica {

/// @brief Sample means over documents of p̂p̂ᵀ and of e_x p̂ᵀ (p̂ shares of shown tokens, x the true
/// token at a selected position), averaged over each class of entries.
struct SampledMoments {
  Commutant shown = Commutant::Zero();
  Commutant target = Commutant::Zero();
  /// Share of every word among the shown words of its topic; word j is entry j - 1. The classes of
  /// the moments average over words: here a word drawn too rarely shows.
  Eigen::VectorXd word_shares = {};
  double kept = 0;  ///< share of the selected positions that show their own token
};
/// @param masks how often each finite document is corrupted. More than once costs less than another
/// document, and all of its tokens are then asked for.
SampledMoments sample_moments(const TopicSampler& sampler,
                              Eigen::Index documents,
                              Eigen::Index masks,
                              RandomStream& stream);

/// @brief W minimising the squared loss with these moments, + λ|W|²; λ = 0 needs full rank or takes
/// the pseudo-inverse.
Commutant fit_value(const CommutantAlgebra& algebra, const SampledMoments& moments, double lambda);

/// @brief Gradient descent on the embedding W_E and the bias b of F = W_EᵀW_E p + b, all D² + D
/// numbers, on the squared loss of a batch plus λ|W_E|².
struct EmbeddingDescent {
  Eigen::MatrixXd gram;  ///< E = W_EᵀW_E
  Eigen::VectorXd bias;
  double largest_change = 0;  ///< of an entry of E in the last step
};
EmbeddingDescent descend_embedding(const TopicBatch& batch,
                                   const Eigen::MatrixXd& start,
                                   double eta,
                                   double lambda,
                                   std::int64_t steps);

/// @brief L-BFGS on the log weights of attention between equal words and between words of a topic
/// (others 1) at fixed W_V, from uniform attention, by enumeration of all tokens.
struct AttentionDescent {
  double same_word = 1;
  double same_topic = 1;
  double loss = 0;
};
AttentionDescent descend_attention(const TopicModel& model,
                                   networks::Loss loss,
                                   const Eigen::MatrixXd& value);

/// @brief Mean loss of finite documents above that of infinite ones, at fixed W_V and scores.
///
/// Each document's loss is compared with that of the same selected tokens in the infinite document
/// of the same topics, which removes most of the noise and has the population loss as its mean. So
/// does what its unselected words do to first order around their mean given topics and selection.
double sample_length_gap(const TopicSampler& sampler,
                         networks::Loss loss,
                         const Eigen::MatrixXd& value,
                         const Eigen::MatrixXd& scores,
                         Eigen::Index documents,
                         RandomStream& stream);

/// @brief The loss of documents of N tokens as a sum over all of them, for one topic of two with
/// two words each (documents weigh the same, whatever number of their tokens is selected).
/// @throws Error (input) naming `topics` for another vocabulary
double enumerated_small_loss(const TopicModel& model,
                             networks::Loss loss,
                             const Eigen::MatrixXd& value,
                             const Eigen::MatrixXd& scores,
                             int length);

}  // namespace attica
