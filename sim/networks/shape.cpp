#include "attica/sim/networks/shape.hpp"

#include <cmath>

#include "attica/core/error.hpp"

namespace attica::networks {

double TransformerShape::score_scale() const {
  return attention_scale.value_or(1 / std::sqrt(static_cast<double>(keys()) / heads));
}

namespace {

/// Weights of a network, or more: a number that no product of whole numbers overflows.
double most_weights(const TransformerShape& s) {
  const double width = s.width;
  const double length = s.length;
  const double keys = s.keys();
  const double layer =
      width * (2 * width + 2 * keys + 2.0 * s.mlp_width) + s.heads * length * length;
  return s.layers * layer + (length + s.vocabulary + s.outputs) * width;
}

}  // namespace

void validate(const TransformerShape& s) {
  require(s.vocabulary >= 1, "vocabulary", s.vocabulary, "at least 1");
  require(s.outputs >= 1, "outputs", s.outputs, "at least 1");
  require(s.length >= 1, "length", s.length, "at least 1");
  require(s.width >= 1, "width", s.width, "at least 1");
  require(s.layers >= 1, "layers", s.layers, "at least 1");
  require(s.heads >= 1, "heads", s.heads, "at least 1");
  require(s.width % s.heads == 0, "heads", s.heads, "a divisor of width");
  require(s.key_width >= 0, "key_width", s.key_width, "at least 0");
  require(s.keys() % s.heads == 0, "heads", s.heads, "a divisor of key_width");
  require(s.mlp_width >= 0, "mlp_width", s.mlp_width, "at least 0");
  require(most_weights(s) <= kMostWeights, "width", s.width, "a network of at most 2^40 weights");
  require(
      std::isfinite(s.embedding_scale), "embedding_scale", s.embedding_scale, "a finite number");

  if (s.embedding == TokenEmbedding::one_hot) {
    require(s.width >= s.vocabulary, "width", s.width, "at least vocabulary for one-hot tokens");
  }

  if (s.attention_scale) {
    require(std::isfinite(*s.attention_scale),
            "attention_scale",
            *s.attention_scale,
            "a finite number");
  }
  require(s.norm_epsilon > 0 && std::isfinite(s.norm_epsilon),
          "norm_epsilon",
          s.norm_epsilon,
          "positive");
  require(s.dropout >= 0 && s.dropout < 1, "dropout", s.dropout, "0 <= dropout < 1");
  if (s.decoder == Decoder::tied) {
    require(
        s.outputs == s.vocabulary, "outputs", s.outputs, "equal to vocabulary with a tied decoder");
  }
}

}  // namespace attica::networks
