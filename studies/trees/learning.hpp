#pragma once
/// @file
/// @brief Networks that learn masked leaves of a filtered tree, measured on all contexts.

#include <Eigen/Core>
#include <vector>

#include "attica/sim/trees/masked_leaves.hpp"
#include "attica/studies/trees/model.hpp"
#include "attica/theory/trees/tree_contexts.hpp"

namespace attica {

/// Rounding of a network in single precision, nats.
inline constexpr double kNetworkRounding = 1e-5;

/// @brief Refuses trees of more than 2^16 sequences. @throws Error (input) naming `model.depth`
void require_measurable(const FilteredTree& tree);

/// What was seen of one training.
struct TreeHistory {
  std::vector<double> steps;
  std::vector<TreeMeasures> measures;
  Eigen::MatrixXd end;  ///< the table of the network in the end
  Outcome outcome;      ///< how it ended; no curves
};

/// @brief Trains a network on fresh sequences of P_level.
TreeHistory learn_tree(const FilteredTree& tree,
                       int level,
                       const MaskedTraining& training,
                       const TreeContexts& contexts,
                       const Replicate& replicate);

}  // namespace attica
