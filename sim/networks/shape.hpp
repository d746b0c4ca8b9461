#pragma once
/// @file
/// @brief The architecture of a transformer as one plain value, shared by every study that trains
/// one.

#include <optional>

namespace attica::networks {

/// How a token becomes a vector.
enum class TokenEmbedding {
  learnt,   ///< a trained table
  one_hot,  ///< the table starts at one-hot rows, zero-padded to the width, and is frozen
};

/// What is known about a position: a code that is added to the token's vector.
enum class PositionCode {
  none,
  learnt,      ///< a trained table
  sinusoidal,  ///< sin and cos of geometrically spaced frequencies (Vaswani et al. 2017,
               ///< arXiv:1706.03762), frozen
};

enum class AttentionKind {
  softmax,   ///< weights softmax(scale q.k) of trained queries and keys
  factored,  ///< weights A[query position, key position], trained directly and not normalised
};

/// Which keys a query sees.
enum class AttentionMask {
  bidirectional,  ///< all
  causal,         ///< its own position and those before it
};

enum class Normalisation {
  none,
  pre,   ///< LayerNorm of the input of attention and of the MLP, outside the residual stream
  post,  ///< LayerNorm after each residual sum
};

/// phi of the MLP.
enum class Activation {
  relu,       ///< max(s, 0), derivative 0 at 0
  quadratic,  ///< s^2 / 2
  tanh,
  silu,  ///< s / (1 + e^-s)
};

enum class Decoder {
  free,  ///< its own matrix
  tied,  ///< the token table W_E
};

enum class Loss {
  cross_entropy,  ///< -log softmax(F)[target], nats
  squared,        ///< |F - e_target|^2, summed over outputs, without factor 1/2
};

/// @brief The architecture.
///
/// For tokens x_1..x_n, X = embedding_scale W_E[x] (+ position). Each layer computes, with
/// heads h on their column slices and n(.) the LayerNorm where `normalisation` puts it,
///     Q = X W_Q^T, K = X W_K^T, V = X W_V^T,  a_h = softmax_rows(scale Q_h K_h^T),
///     U = [X +] concat_h(a_h V_h) [W_O^T],    X <- [U +] W_2 phi(W_1 U + b_1) + b_2
/// (brackets: options; without MLP X <- U), and the logits are F = X W_dec^T + b_dec.
struct TransformerShape {
  int vocabulary = 0;  ///< number of token ids, special tokens included
  int outputs = 0;     ///< number of logits; with a tied decoder equal to `vocabulary`
  int length = 0;      ///< longest sequence; shorter ones are allowed
  int width = 0;       ///< D, columns of X
  int layers = 1;
  int heads = 1;      ///< divides width and key_width
  int key_width = 0;  ///< columns of Q and K over all heads; 0: width
  int mlp_width = 0;  ///< hidden units of the MLP; 0: no MLP

  TokenEmbedding embedding = TokenEmbedding::learnt;
  double embedding_scale = 1;
  PositionCode position = PositionCode::learnt;

  AttentionKind attention = AttentionKind::softmax;
  AttentionMask mask = AttentionMask::bidirectional;
  std::optional<double> attention_scale = {};  ///< default 1 / sqrt(key_width / heads)
  bool output_projection = true;               ///< W_O
  bool attention_bias = false;                 ///< b_Q, b_K, b_V and, with W_O, b_O
  bool residual = true;

  Normalisation normalisation = Normalisation::none;
  double norm_epsilon = 1e-5;  ///< added to the (biased) variance

  Activation activation = Activation::relu;

  Decoder decoder = Decoder::free;
  bool decoder_bias = true;
  /// Probability of dropping an entry in training: after the embedding, of attention weights, of
  /// each branch before its residual sum, and of hidden units; kept entries are divided by 1 -
  /// dropout.
  double dropout = 0;

  Loss loss = Loss::cross_entropy;

  int keys() const { return key_width == 0 ? width : key_width; }
  /// The factor of q.k.
  double score_scale() const;
  /// Whether the key at `key` is seen from `query`.
  bool sees(int query, int key) const { return mask != AttentionMask::causal || key <= query; }
};

/// More than any memory holds, and few enough to be counted.
inline constexpr double kMostWeights = 1099511627776.0;  // 2^40

/// @brief Throws Error (input) naming the first field that is out of its domain.
void validate(const TransformerShape& shape);

}  // namespace attica::networks
