#pragma once
/// @file
/// @brief A transformer with Gaussian weights, block by block: tokens forward, gradients back.
///
/// x → N(a x + attention(x)), then x → N(m x + W_2 relu(W_1 x + b_1) + b_2), N(x) = x √d/|x| or
/// LayerNorm. Tokens are columns; the input's have overlaps p, along a common axis and one of their
/// own. Entries of W_Q and W_K have variance β √(ln T)/d, of W_V s_v²/d, of W_1 and W_2 s_w²/d.

#include <Eigen/Core>
#include <vector>

#include "attica/core/random.hpp"
#include "attica/sim/init/attention.hpp"

namespace attica {

/// What is drawn.
struct BlockNetwork {
  Eigen::Index context = 0;    ///< T < d
  Eigen::Index dimension = 0;  ///< d, a multiple of the heads
  Eigen::Index heads = 1;
  double beta = 0;
  double cosine = 0;  ///< p of the input
  double value_variance = 1, mlp_variance = 1, bias_variance = 0;
  double skip = 1, mlp_skip = 1;
  bool mlp = true;
  bool layer_norm = false;
  int blocks = 1;

  /// @brief The tokens of the input. @shape{d x T}
  Eigen::MatrixXd input() const;
};

/// How weight matrices are drawn (gaussian_matrix.hpp): with all entries, or in their action alone,
/// which has the same law and takes d T² operations in place of d² T.
enum class DrawnWeights { action, entries };

/// Of a block: attention in it, mean over heads, and the tokens after it.
struct BlockMeasures {
  double participation = 0;
  double shared = 0;
  double distance = 0;  ///< 1 - mean cosine of two tokens
  double spread = 0;    ///< standard deviation of the cosine over pairs of tokens
};
/// @brief One network, from stream to the last block.
std::vector<BlockMeasures> draw_forward(const BlockNetwork& network,
                                        RandomStream& stream,
                                        DrawnWeights weights = DrawnWeights::action);

/// Of the loss Σ_t g_t·x_t after the last block, g_t ~ N(0, 1/d).
struct GradientMeasures {
  double own = 0;      ///< mean |∂loss/∂x_t|² at the block's input
  double overlap = 0;  ///< mean of (∂loss/∂x_t)·(∂loss/∂x_s), t ≠ s
  double value_weight = 0, query_weight = 0, key_weight = 0;  ///< |∂loss/∂W|²/(T d)
};
/// @brief One network, forward and back. In the order of the blocks.
std::vector<GradientMeasures> draw_gradients(const BlockNetwork& network,
                                             RandomStream& stream,
                                             DrawnWeights weights = DrawnWeights::action);

/// The loss at an input, and its gradient there.
struct LossAtInput {
  double loss = 0;
  Eigen::MatrixXd gradient;
};
/// @brief Of the network whose entries and g_t come from the stream, at any input: the same stream
/// is the same network. @param input @shape{d x T}
LossAtInput loss_at_input(const BlockNetwork& network, Eigen::MatrixXd input, RandomStream& stream);

}  // namespace attica
