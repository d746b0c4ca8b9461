#pragma once
/// @file
/// @brief Numbers that describe trained networks; those of single matrices are in
/// matrix_measures.hpp.
///
/// Sources: attention entropy as in Tian et al. 2023 (arXiv:2310.00535); mean square displacement
/// of the weights as in Rende et al. 2024 (arXiv:2410.19637).

#include <span>
#include <string_view>
#include <vector>

#include "attica/sim/networks/matrix_measures.hpp"
#include "attica/sim/networks/transformer.hpp"

namespace attica::networks {

/// @brief Attention entropy of a layer and head in the last pass: mean over sequences and queries.
///
/// Give the pass a batch with set_all_sites for the mean over all positions; otherwise the last
/// layer's mean is over the sites. A query that sees no key counts as 0.
template <class T>
double attention_entropy(const Transformer<T>& network, int layer, int head);

/// @brief Euclidean norm of every block, in storage order.
template <class T>
std::vector<double> block_norms(const Parameters<T>& parameters);

/// @brief sum over the blocks that match of |W - W(start)|^2 / rows: how far they have moved.
/// @param start   parameters().values() as they were at the start
/// @param pattern as in Parameters::configure
template <class T>
double mean_square_displacement(const Parameters<T>& parameters,
                                std::span<const T> start,
                                std::string_view pattern);

}  // namespace attica::networks
