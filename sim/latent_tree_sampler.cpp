#include "attica/sim/latent_tree_sampler.hpp"

#include <algorithm>
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
  const double flip = 0.5 * (1 - tree_.rho);
  for (int level = 1; level < tree_.depth; ++level) {
    // In place from the end: children 2i, 2i+1 never overwrite a parent that is still needed.
    const std::size_t parents = leaves.size();
    leaves.resize(2 * parents);
    for (std::size_t i = parents; i-- > 0;) {
      const int parent = leaves[i];
      for (const std::size_t child : {2 * i + 1, 2 * i}) {
        leaves[child] = stream.uniform() < flip ? 1 - parent : parent;
      }
    }
  }
  return static_cast<int>(k);
}

}  // namespace attica
