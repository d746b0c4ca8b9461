#pragma once
/// @file
/// @brief Networks that are trained to predict a masked leaf of a filtered tree, and their laws on
/// all contexts.

#include <Eigen/Core>

#include "attica/sim/language/masked.hpp"
#include "attica/sim/trees/filtered_sampler.hpp"

namespace attica {

/// @brief Fresh sequences of P_k.
WindowSource filtered_source(const FilteredTree& tree, int level);

/// @brief log f(x_m | the other leaves) of the network, for every sequence and leaf.
/// @shape{q^n x n}; the number of a sequence is x_1 q^(n-1) + ... + x_n
Eigen::MatrixXd network_table(MaskedNetwork& network, const FilteredTree& tree);

}  // namespace attica
