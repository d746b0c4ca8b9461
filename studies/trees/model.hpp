#pragma once
/// @file
/// @brief What the studies of filtered trees share: the tree that a configuration describes.

#include "attica/core/trees/filtered_tree.hpp"
#include "attica/sim/language/masked.hpp"
#include "attica/studies/kit.hpp"

namespace attica {

/// @brief The configured tree.
/// @throws Error (input) naming the parameter
FilteredTree filtered_tree(const Configuration& c);

/// @brief The configured network, and when it is looked at: steps 0, 2, 4, 6, half octaves from 8
/// on, and the last one.
/// @throws Error (input) naming `sim.heads`
MaskedTraining tree_training(const Configuration& c);

}  // namespace attica
