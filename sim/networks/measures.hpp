#pragma once
/// @file
/// @brief Numbers that describe trained networks; those of single matrices are in
/// matrix_measures.hpp.
///
/// Source: attention entropy as in Tian et al. 2023 (arXiv:2310.00535).

#include "attica/sim/networks/matrix_measures.hpp"
#include "attica/sim/networks/transformer.hpp"

namespace attica::networks {

/// @brief Attention entropy of a layer and head in the last pass: mean over sequences and queries.
///
/// Give the pass a batch with set_all_sites for the mean over all positions; otherwise the last
/// layer's mean is over the sites. A query that sees no key counts as 0.
template <class T>
double attention_entropy(const Transformer<T>& network, int layer, int head);

}  // namespace attica::networks
