#pragma once
/// @file
/// @brief A deterministic hierarchy of subsets as data: each class activates latents, each latent
/// lower ones, the lowest ones tokens (the generator behind Table 1 of Tian et al. 2023,
/// arXiv:2310.00535).

#include <cstdint>
#include <vector>

#include "attica/core/random.hpp"

namespace attica {

/// Sizes of the hierarchy.
struct HierarchySizes {
  int tokens = 100;                   ///< M, ids; the last one is padding
  int length = 30;                    ///< L, sequence length
  std::vector<int> units = {10, 20};  ///< N_0, N_1: latents per level, from the lowest
  int classes = 20;                   ///< C
  int children = 2;                   ///< N_ch, lower units per latent and per class
};

/// What a class shows.
struct HierarchySequence {
  std::vector<std::vector<int>> active;  ///< latents by level, ascending
  std::vector<std::int32_t> tokens;      ///< ascending, padded on the left to `length`
};

/// @brief Distinct subsets at every level.
class LatentHierarchy {
 public:
  /// @param subsets by level, then unit: the tokens of each lowest latent, ..., the topmost latents
  /// of each class
  /// @throws Error (input) naming `model.length` if a class activates more tokens than fit
  LatentHierarchy(HierarchySizes sizes, std::vector<std::vector<std::vector<int>>> subsets);
  /// @brief Draws the subsets. @throws Error (input) naming `model.children` or `model.units` if
  /// there are not as many distinct subsets
  LatentHierarchy(const HierarchySizes& sizes, RandomStream& stream);

  const HierarchySizes& sizes() const { return sizes_; }
  /// One per class; the sequence is a function of the class.
  const std::vector<HierarchySequence>& sequences() const { return sequences_; }

 private:
  HierarchySizes sizes_;
  std::vector<HierarchySequence> sequences_;
};

}  // namespace attica
