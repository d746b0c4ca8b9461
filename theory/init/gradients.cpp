#include "attica/theory/init/gradients.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace attica {

namespace {

/// What the gradients of W_Q and W_K are beyond those of the mean Gram matrix.
struct GramMoments {
  double row = 1;   ///< E tr J_A G̃ J_A G̃ over (1-c)² tr J_A²
  double pair = 1;  ///< E tr J_A G̃ J_B G̃ over (1-c)² tr J_A J_B
};

/// Relative variance of |y|² between networks, y = a x + z of mean square q with z of variance
/// `random` an entry, from the matrix that makes z of its inputs.
double norm_variance(double skip, double random, double q, double dimension) {
  return (4 * skip * skip * random + 2 * random * random) / (dimension * q * q);
}

}  // namespace

std::vector<BlockGradients> back_propagate(const InitialTransformer& n, int blocks, int order) {
  const bool next = order > 0;
  const std::vector<BlockMoments> forward = propagate(n, blocks, order);
  std::vector<BlockCosines> cosines = mean_field(n, blocks);
  if (next) {
    for (std::size_t l = 0; l < cosines.size(); ++l) {
      if (l > 0) cosines[l].input = cosines[l - 1].output;
      cosines[l].middle = 1 - forward[l].middle_distance;
      cosines[l].output = 1 - forward[l].distance;
    }
  }
  const std::vector<double> scatter =
      next ? pair_scatter(n, blocks) : std::vector<double>(forward.size());
  std::vector<BlockGradients> all(static_cast<std::size_t>(blocks));
  const double variance = n.beta * n.beta * std::log(n.context);
  const double others = n.context - 1;
  const double w4 = n.mlp_variance * n.mlp_variance;
  double g0 = 1;
  double g1 = 0;
  double along = 1;  // of d components of the gradient: that along the token
  for (std::size_t l = all.size(); l-- > 0;) {
    if (n.mlp) {
      const double c = cosines[l].middle;
      const double inputs = n.mlp_variance + n.bias_variance;
      const double rho =
          inputs > 0 ? std::min(1.0, (n.mlp_variance * c + n.bias_variance) / inputs) : 1;
      const double m2 = n.mlp_skip * n.mlp_skip;
      const HalfBlock half = mlp_half(n, c);
      const double q = half.common + half.rest;
      g0 *= (m2 + w4 / 2) / q;
      // Units that are on for both tokens.
      g1 *= (m2 + w4 * (std::numbers::pi - std::acos(rho)) / (2 * std::numbers::pi)) / q;
      if (next) {
        // Of relu² a unit: variance 5/4, covariance with being on 1/4.
        const double units = n.mlp_variance * inputs;
        const double beyond =
            norm_variance(n.mlp_skip, units / 2 + n.bias_variance, q, n.dimension) +
            (1.25 * units * units / (q * q) - 0.25 * units * w4 / (q * (m2 + w4 / 2)) - along) /
                n.dimension;
        g0 *= 1 + beyond;
        g1 *= 1 + beyond;
        along = 0;  // a ReLU's output scales with its input
      }
    }
    const double c = cosines[l].input;
    const AttentionAt at = attention_at(n, c, true);
    const HalfBlock half = attention_half(n, c, attention_at(n, c));
    const double q = half.common + half.rest;
    g0 /= q;
    g1 /= q;
    const double outputs = n.value_variance * (c + (1 - c) * at.participation);
    if (next) {
      const double beyond = norm_variance(n.skip, outputs + n.bias_variance, q, n.dimension) +
                            forward[l].clones - along / n.dimension;
      g0 *= 1 + beyond;
      g1 *= 1 + beyond;
    }
    const double values = n.value_variance * (1 - c);
    GramMoments gram;
    if (next) {
      const double spread = l > 0 ? forward[l - 1].spread / (1 - c) : 0;
      const double networks = 1 + spread * spread;
      gram = {.row = networks * (1 + scatter[l] * (at.trace / at.jacobian + 1)),
              .pair = networks * (1 + scatter[l] * (at.shared_trace / at.shared_jacobian + 1))};
    }
    const double d0 = values * g0 * at.jacobian * gram.row;
    const double d1 = values * g1 * at.shared_jacobian * gram.pair;
    const double v0 = n.value_variance * (g0 * at.participation + others * g1 * at.shared);
    const double queries = d0 + others * c * d1;
    double keys = queries;
    if (next) {
      keys = values *
             (g0 * at.key_jacobian * gram.row + others * g1 * at.shared_key_jacobian * gram.pair);
    }
    BlockGradients& block = all[l];
    block.clones = forward[l].clones;
    block.value_weight =
        g0 * (c + (1 - c) * at.participation) + others * g1 * (c + (1 - c) * at.shared);
    const double logits = n.beta * std::sqrt(std::log(n.context)) * (1 - c);
    block.query_weight = logits * queries;
    block.key_weight = logits * keys;
    const double a2 = n.skip * n.skip;
    const double own = a2 * g0 + v0 + variance * (1 - c) * d0 + variance * keys;
    const double overlap = a2 * g1 + (n.value_variance * (g0 + others * g1) - v0) / others +
                           variance * (1 - c) * d1 - variance * keys / others;
    // Scaled together tokens would not change what follows: alone they do, by others' values.
    along = outputs * (g0 - g1) / own;
    block.own = g0 = own;
    block.overlap = g1 = overlap;
  }
  return all;
}

double gram_growth(const InitialTransformer& n) {
  const double m2 = n.mlp_skip * n.mlp_skip;
  const double w2 = n.mlp ? n.mlp_variance * n.mlp_variance / 2 : 0;
  const double total = m2 + w2;
  return total > 0 ? (m2 * m2 + 4 * m2 * w2 + 4 * w2 * w2) / (total * total) - 1 : 0;
}

}  // namespace attica
