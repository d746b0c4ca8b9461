#pragma once
/// @file
/// @brief Ancestral sampling of a latent tree, and what samples show of it.

#include <Eigen/Core>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attica/core/joma/latent_tree.hpp"
#include "attica/core/random.hpp"

namespace attica {

/// 64 sequences of a latent tree, a bit of every word each.
struct TreeBlock {
  static constexpr std::size_t kSequences = 64;
  std::array<int, kSequences> classes{};
  std::vector<std::uint64_t> leaves;  ///< bit s: whether the leaf is 1 in sequence s

  /// @brief The sequences of class k, as bits.
  std::uint64_t of_class(int k) const;
};

/// @brief Draws the class and the leaves of 64 sequences at a time.
///
/// An edge of a sequence takes the rarer of keeping and changing the parent's value where a number
/// of 64 random binary digits lies below that probability. The digits are compared one after the
/// other, a word holding one digit of 64 sequences, until the first eight are; what they leave
/// undecided, one sequence in 256, is decided by a word of its own.
class LatentTreeSampler {
 public:
  /// @param tree validated
  explicit LatentTreeSampler(LatentTree tree);

  const LatentTree& tree() const { return tree_; }
  void draw(RandomStream& stream, TreeBlock& block) const;

 private:
  LatentTree tree_;
  std::vector<double> cumulative_;
};

/// @brief The sequences of one block after the other, one at a time.
class TreeSequences {
 public:
  /// @param sampler, stream outlive this
  TreeSequences(const LatentTreeSampler& sampler, RandomStream& stream)
      : sampler_(sampler), stream_(stream) {}
  /// @brief The class; `leaves` is filled with 0 and 1.
  int draw(std::vector<int>& leaves);

 private:
  const LatentTreeSampler& sampler_;
  RandomStream& stream_;
  TreeBlock block_;
  std::size_t next_ = TreeBlock::kSequences;
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
