#include "attica/sim/joma/latent_tree_sampler.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace attica {

LatentTreeSampler::LatentTreeSampler(LatentTree tree)
    : tree_(std::move(tree)), cumulative_(tree_.prior.begin(), tree_.prior.end()) {
  std::partial_sum(cumulative_.begin(), cumulative_.end(), cumulative_.begin());
}

int LatentTreeSampler::draw(RandomStream& stream, std::vector<int>& leaves) const {
  const auto at = std::upper_bound(cumulative_.begin(), cumulative_.end() - 1, stream.uniform());
  const auto k = at - cumulative_.begin();
  leaves.clear();
  for (Eigen::Index a = 0; a < tree_.root_child.rows(); ++a) {
    leaves.push_back(stream.uniform() < tree_.root_child(a, k) ? 1 : 0);
  }
  // The rarer of keeping and changing the parent's value happens with probability `rare` at an
  // edge; how many edges lie before the next one is geometric: one draw each instead of one an
  // edge.
  const double rare = 0.5 * (1 - std::abs(tree_.rho));
  const int usual = tree_.rho >= 0 ? 0 : 1;
  const double log_usual = std::log1p(-rare);
  const auto edges_before_next = [&] {
    constexpr double kForever = 1e15;
    const double edges = rare > 0 ? std::log1p(-stream.uniform()) / log_usual : kForever;
    return static_cast<std::int64_t>(std::min(edges, kForever));
  };
  std::int64_t left = edges_before_next();
  for (int level = 1; level < tree_.depth; ++level) {
    // In place from the end: children 2i, 2i+1 never overwrite a parent that is still needed.
    const std::size_t parents = leaves.size();
    leaves.resize(2 * parents);
    for (std::size_t i = parents; i-- > 0;) {
      const int parent = leaves[i];
      for (const std::size_t child : {2 * i + 1, 2 * i}) {
        leaves[child] = parent ^ usual;
        if (left-- > 0) continue;
        leaves[child] ^= 1;
        left = edges_before_next();
      }
    }
  }
  return static_cast<int>(k);
}

LeafCounts count_leaves(const LatentTreeSampler& sampler,
                        std::int64_t samples,
                        bool all_pairs,
                        RandomStream& stream) {
  const LatentTree& tree = sampler.tree();
  const Eigen::Index shown = all_pairs ? tree.leaves() : 0;
  LeafCounts counts{std::vector<Eigen::MatrixXd>(static_cast<std::size_t>(tree.depth),
                                                 Eigen::MatrixXd::Zero(tree.classes(), 4)),
                    Eigen::MatrixXd::Zero(shown, shown)};
  std::vector<int> leaves;
  std::vector<Eigen::Index> active;
  for (std::int64_t i = 0; i < samples; ++i) {
    const int k = sampler.draw(stream, leaves);
    for (int height = 1; height <= tree.depth; ++height) {
      const auto partner = static_cast<std::size_t>(LatentTree::partner(height));
      counts.partners[static_cast<std::size_t>(height - 1)](k, 2 * leaves[0] + leaves[partner]) +=
          1;
    }
    active.clear();
    for (Eigen::Index l = 0; l < shown; ++l) {
      if (leaves[static_cast<std::size_t>(l)] == 1) active.push_back(l);
    }
    for (const Eigen::Index m : active) {
      for (const Eigen::Index l : active) counts.pairs(l, m) += 1;
    }
  }
  return counts;
}

}  // namespace attica
