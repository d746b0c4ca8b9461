#pragma once
/// @file
/// @brief Which parts of the network are trained under uniform attention, and what loss the others
/// end at.
///
/// F = W_EᵀW_V W_E p̂ + b, with W_E = 1 as long as it is not trained (one-hot tokens, whose tied
/// decoder is the identity too). The bias is trained always, so that a part that is trained is not
/// credited with the frequencies of words. The theory is ours, for documents of any length and
/// either prior.
/// @source Y. Li, Y. Li, A. Risteski, ICML 2023, arXiv:2303.04245: topics are learnt by whichever
/// of embedding, values and attention is trained; what that costs is ours

#include <Eigen/Core>

#include "attica/theory/topics/value.hpp"

namespace attica {

/// @brief The matrices and the bias in invariant form; b has an entry for the mask and one for all
/// words.
struct TopicParts {
  Commutant embedding = scalar_commutant(1);  ///< W_E, D x D
  Commutant value = Commutant::Zero();        ///< W_V
  Eigen::Vector2d bias = Eigen::Vector2d::Zero();
};

/// @brief Which of them are trained; the bias is.
struct TrainedParts {
  bool embedding = false;
  bool value = false;
};

/// @brief Squared loss of the parts.
double parts_loss(const CommutantAlgebra& algebra,
                  const ValueMoments& moments,
                  const TopicParts& parts);

/// @brief One step of gradient descent on the population, exact for invariant parts:
/// G = 2 (X Σ - C) for the whole map X = W_EᵀW_V W_E + b 1ᵀ (shares sum to 1), then W_E G W_Eᵀ for
/// W_V, W_V W_E Gᵀ + W_VᵀW_E G for W_E, G 1 for b.
TopicParts parts_step(const CommutantAlgebra& algebra,
                      const ValueMoments& moments,
                      const TopicParts& parts,
                      const TrainedParts& trained,
                      double eta);

/// @brief The least loss of invariant parts, W_V staying at `value` unless it is trained.
///
/// On every contrast the map is one number x, which costs σx² - 2cx (σ, c: eigenvalues of Σ and C)
/// and is free for a trained W_V, free in the sign of W_V's for a trained W_E, and W_V's own
/// otherwise; 1 - 1/(Tv) is what the frequencies of words leave. So W_E alone reaches the optimum
/// of W_V alone wherever W_V is positive on the contrasts.
double parts_optimum(const CommutantAlgebra& algebra,
                     const ValueMoments& moments,
                     const Commutant& value,
                     const TrainedParts& trained);

/// @brief What attention gains by copying alone, W_E = 1 and W_V = 1/κ staying. Mask queries attend
/// uniformly; a word query y gives that word the share h beside: F = θ/v + h (e_y - p̂)/κ, θ/v being
/// what uniform attention and the bias come to in infinite documents. A shown word is the true one
/// with probability p_c/(p_c + p_r), or drawn at random; with the best h and S = E Σ_t θ_t²,
///
///     p_c²/(p_c + p_r) (1 - S/v)² / E|e_y - p̂|²,
///
/// nearly p_c²/(p_c + p_r) once there are many words. 0 if no selected token is kept.
double copying_gain(const TopicModel& model);

}  // namespace attica
