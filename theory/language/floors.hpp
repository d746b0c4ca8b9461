#pragma once
/// @file
/// @brief What masked prediction can reach on clones of a text: exact numbers of Markov chains.
///
/// One random site of a window of L symbols is hidden; losses are in nats per hidden site, averaged
/// over sites.

#include <Eigen/Core>

#include "attica/core/language/chain.hpp"

namespace attica {

/// @brief Whether the floor of chains of that order is a sum of at most 2^25 terms, C^(2n-1).
bool floor_is_exact(Eigen::Index symbols, int order);

/// @brief H_n, the entropy of a hidden symbol given the rest of the window: no network's loss on
/// the clone is below it. A sum over the n-1 symbols on either side, with the chain's own law at
/// the window's ends.
/// @throws Error (input, `order`) if the sum has too many terms
double masked_floor(const MarkovClone& chain, Eigen::Index sites);

/// @brief epsilon_n, the loss of the clone's conditionals on windows of a text, every site hidden
/// in turn: the plateau of a network that knows interactions of n neighbours and no others.
double masked_plateau(const MarkovClone& chain, const Windows& windows);

}  // namespace attica
