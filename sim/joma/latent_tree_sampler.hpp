#pragma once
/// @file
/// @brief Ancestral sampling of a latent tree, and what samples show of it.

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "attica/core/joma/latent_tree.hpp"
#include "attica/core/random.hpp"

namespace attica {

/// @brief Draws the class and the leaves.
class LatentTreeSampler {
 public:
  /// @param tree validated
  explicit LatentTreeSampler(LatentTree tree);

  const LatentTree& tree() const { return tree_; }
  /// @brief The class; `leaves` is filled with 0 and 1.
  int draw(RandomStream& stream, std::vector<int>& leaves) const;

 private:
  LatentTree tree_;
  std::vector<double> cumulative_;
};

/// How often leaves occurred in samples.
struct LeafCounts {
  /// For heights 1..depth: how often each class came with the values of leaf 0 and its partner
  /// there; @shape{classes x 4, column 2 y_0 + y_partner}
  std::vector<Eigen::MatrixXd> partners;
  /// Samples in which both leaves are 1; @shape{leaves x leaves}, or empty
  Eigen::MatrixXd pairs;
};
/// @param all_pairs whether `pairs` is counted
LeafCounts count_leaves(const LatentTreeSampler& sampler,
                        std::int64_t samples,
                        bool all_pairs,
                        RandomStream& stream);

}  // namespace attica
