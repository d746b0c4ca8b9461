#include "attica/theory/joma/tree_learning.hpp"

#include <algorithm>

#include "attica/theory/joma/latent_tree.hpp"

namespace attica {

using Eigen::ArrayXd;
using Eigen::Index;

TokenSignal token_signal(const LatentTree& tree,
                         std::span<const double> rewards,
                         Index l,
                         Index m,
                         bool centred,
                         double batch) {
  const Index classes = tree.classes();
  ArrayXd law(classes);   // P(k | m)
  ArrayXd both(classes);  // P(k, l | m)
  for (Index k = 0; k < classes; ++k) {
    const double query = leaf_probability(tree, m, k);
    law[k] = tree.prior[k] * query;
    both[k] = query > 0 ? law[k] * conditional_probability(tree, l, m, k) : 0;
  }
  both /= law.sum();
  law /= law.sum();
  ArrayXd g = Eigen::Map<const ArrayXd>(rewards.data(), classes);
  if (!centred) {
    const double delta = (g * both).sum();
    return {delta, std::max((g.square() * both).sum() - delta * delta, 0.0)};  // rounding
  }
  g -= (g * law).sum();
  const double p = both.sum();
  const double delta = (g * both).sum();
  const double reward_variance = (g.square() * law).sum();
  // E[(g x')^2], x' = x - p.
  const double fourth = (g.square() * (both * (1 - p) * (1 - p) + (law - both) * p * p)).sum();
  const double variance = fourth - (batch - 2) / (batch - 1) * delta * delta +
                          reward_variance * p * (1 - p) / (batch - 1);
  return {delta, std::max(variance, 0.0)};
}

}  // namespace attica
