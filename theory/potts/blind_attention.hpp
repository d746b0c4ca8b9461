#pragma once
/// @file
/// @brief The smallest population loss of one layer of softmax attention that does not see
/// positions, and what a layer that sees them can represent.
///
/// Without a position code the input at site j is E[s_j], E[mask] at the masked one, and scores and
/// values are functions of the colour: with H heads, residual stream, decoder and no MLP or
/// LayerNorm
///     logits_a = c_a + sum_h sum_b n_b e^{u^h_b} V^h_ab / (1 + sum_b n_b e^{u^h_b}),
/// n_b being how many other sites have colour b, and the mask's own score and value 0: a constant
/// moved between c and V, and one added to all scores, change nothing. If E has C + 1 independent
/// vectors (width D > C) and a head C dimensions (D/H >= C), every c, u and V can be had, so that
/// the minimum over them is the infimum of the layer's loss, whatever it is trained by. Few numbers
/// and few counts: contexts that share their counts are one.
///
/// With positions, scores u_i[s_j] + w_ij and values V[., s_j] + R_j are free if D > L + C and
/// D/H >= max(L, C). If no two of the couplings J_ij have opposite signs, one head is then the
/// model itself: with r >= |beta J_ij| summed over j for every i, scores ln(|beta J_ij|/r) for j !=
/// i and the rest for the mask, and values +-r U. The best loss is the Bayes loss (approached where
/// J_ij = 0). Weights of a softmax have no signs; with couplings of both signs a head can only use
/// that colours attract weight, and the best loss is not known in closed form.
///
/// Setting: R. Rende, F. Gerace, A. Laio, S. Goldt 2024 (arXiv:2304.07235).

#include <Eigen/Core>
#include <vector>

#include "attica/core/potts/model.hpp"

namespace attica {

/// @brief Loss and gradient of a layer that does not see positions, by c (C), then for every head u
/// (C) and V (C x C, by columns).
class BlindAttention {
 public:
  /// @param population states with their probabilities
  /// @throws Error (input) naming `heads` (at least 1) or `sequences` (colours below `colours`)
  BlindAttention(const WeightedSequences& population, Eigen::Index colours, int heads);

  Eigen::Index parameters() const;
  /// @brief Mean over sites of the cross-entropy, nats.
  /// @param x parameters() numbers
  /// @param gradient null, or as many numbers, written
  double operator()(const double* x, double* gradient) const;

 private:
  Eigen::Index colours_;
  int heads_;
  Eigen::MatrixXd counts_;   ///< n_b of every context, @shape{C x n}
  Eigen::MatrixXd targets_;  ///< P(counts, s_i = a), mean over i, @shape{C x n}
};

/// The best that was found, and how sure it is.
struct BlindOptimum {
  double loss = 0;              ///< smallest of all starts, nats
  double largest_gradient = 0;  ///< component there
  int agreeing = 0;             ///< starts that came within 1e-6 nats of it
  int starts = 0;
  /// How much larger the loss is at the minimum of loss + 1e-5 |x|^2 / 2, nats: near 0 if
  /// parameters of order 1 come to the smallest loss, else it is approached far away.
  double reach = 0;
};

/// @brief Minimises the loss by L-BFGS from fixed starts of scales 0.3 to 3, first with the penalty
/// of `reach`, then without.
BlindOptimum best_blind_attention(const BlindAttention& layer);

/// @brief Whether no two couplings have opposite signs: a softmax head can then be the model.
bool one_sign(const PottsModel& model);

}  // namespace attica
