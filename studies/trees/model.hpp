#pragma once
/// @file
/// @brief What the studies of filtered trees share: the tree that a configuration describes.

#include "attica/core/trees/filtered_tree.hpp"
#include "attica/studies/kit.hpp"

namespace attica {

/// @brief The configured tree.
/// @throws Error (input) naming the parameter
FilteredTree filtered_tree(const Configuration& c);

}  // namespace attica
