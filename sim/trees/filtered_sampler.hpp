#pragma once
/// @file
/// @brief Sequences of filtered trees, drawn from the root down.

#include <Eigen/Core>
#include <vector>

#include "attica/core/random.hpp"
#include "attica/core/trees/filtered_tree.hpp"

namespace attica {

/// @brief Draws sequences of P_k. Every block walks from the root to its head on its own: at each
/// node all children are drawn, and the one on the way is kept.
class FilteredSampler {
 public:
  /// @param level k, 0..depth
  FilteredSampler(const FilteredTree& tree, int level);

  /// @param leaves set to a sequence; @shape{n}
  /// @return the letter of the root
  int draw(RandomStream& stream, std::vector<int>& leaves) const;

 private:
  int tuple(int level, int letter, RandomStream& stream) const;

  int children_, alphabet_, head_, depth_;
  std::vector<double> root_;  ///< cumulative
  /// Cumulative rows of the rules, level by level.
  std::vector<Eigen::MatrixXd> cumulative_;
};

}  // namespace attica
