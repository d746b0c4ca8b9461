#pragma once
/// @file
/// @brief One layer of softmax attention with Gaussian weights, drawn, and what is measured of it.

#include <Eigen/Core>

#include "attica/core/random.hpp"

namespace attica {

/// @brief Tokens, W_Q, W_K and W_V of a layer.
struct AttentionLayer {
  Eigen::Index tokens = 0;         ///< T
  Eigen::Index queries = 0;        ///< rows of attention: of the first tokens, at most T; 0: of all
  Eigen::Index key_dimension = 0;  ///< d_k
  /// Dimension d of the tokens; 0: exact tokens, whose attention needs none.
  Eigen::Index dimension = 0;
  double cosine = 0;  ///< p
  /// Tokens √p u + √(1-p) z_t, normalised to |x|² = d, u and z_t uniform directions; else exact
  /// ones: all overlaps are p, and what a Gaussian matrix makes of them is Gaussian with covariance
  /// p.
  bool random_tokens = false;

  /// @brief T rows with entries of variance 1 and overlaps p, normalised if tokens are random.
  /// @shape{T x d}
  Eigen::MatrixXd draw_tokens(RandomStream& stream) const;
};

/// @brief q_t · k_s / √d_k at β √(ln T) = 1, and the values W_V x_t with entries of variance 1.
struct LayerDraw {
  Eigen::MatrixXd logits;  ///< column t: of query t; @shape{T x queries}
  Eigen::MatrixXd values;  ///< @shape{d x T}; empty if d = 0
};
LayerDraw draw_layer(const AttentionLayer& layer, RandomStream& stream);

/// Means over rows, and over pairs of rows.
struct AttentionMeasures {
  double participation = 0;   ///< Σ_j A_tj²
  double shared = 0;          ///< Σ_j A_tj A_sj, t ≠ s
  double largest = 0;         ///< max_j A_tj
  double jacobian = 0;        ///< ‖diag A - A Aᵀ‖²
  double output_norm = 0;     ///< |y_t|²/d; 0 without values
  double output_overlap = 0;  ///< y_t·y_s/d, t ≠ s
};

/// @brief Softmax of every column of β √(ln T) logits, over keys s <= t if causal.
/// @param attention work space and result
/// @return mean entropy of a column, nats
double softmax_columns(const Eigen::MatrixXd& logits,
                       double scale,
                       bool causal,
                       Eigen::MatrixXd& attention);

/// @brief Measures of attention whose columns sum to 1.
AttentionMeasures measure_attention(const Eigen::MatrixXd& attention,
                                    const Eigen::MatrixXd& values);

}  // namespace attica
