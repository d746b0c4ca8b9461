#include "attica/theory/init/gradients.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace attica {

std::vector<BlockGradients> back_propagate(const InitialTransformer& n, int blocks) {
  const std::vector<BlockMoments> forward = propagate(n, blocks, 0);
  const std::vector<BlockCosines> cosines = mean_field(n, blocks);
  std::vector<BlockGradients> all(static_cast<std::size_t>(blocks));
  const double variance = n.beta * n.beta * std::log(n.context);
  const double others = n.context - 1;
  const double w4 = n.mlp_variance * n.mlp_variance;
  double g0 = 1;
  double g1 = 0;
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
    }
    const double c = cosines[l].input;
    const AttentionAt at = attention_at(n, c, true);
    const HalfBlock half = attention_half(n, c, attention_at(n, c));
    const double q = half.common + half.rest;
    g0 /= q;
    g1 /= q;
    const double values = n.value_variance * (1 - c);
    const double d0 = values * g0 * at.jacobian;
    const double d1 = values * g1 * at.shared_jacobian;
    const double v0 = n.value_variance * (g0 * at.participation + others * g1 * at.shared);
    const double keys = d0 + others * c * d1;
    BlockGradients& block = all[l];
    block.clones = forward[l].clones;
    block.value_weight =
        g0 * (c + (1 - c) * at.participation) + others * g1 * (c + (1 - c) * at.shared);
    block.query_weight = n.beta * std::sqrt(std::log(n.context)) * (1 - c) * keys;
    const double a2 = n.skip * n.skip;
    const double own = a2 * g0 + v0 + variance * (1 - c) * d0 + variance * keys;
    const double overlap = a2 * g1 + (n.value_variance * (g0 + others * g1) - v0) / others +
                           variance * (1 - c) * d1 - variance * keys / others;
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
