#pragma once
/// @file
/// @brief Ancestral sampling of a latent tree.

#include <cstdint>
#include <vector>

#include "attica/core/latent_tree.hpp"
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

}  // namespace attica
