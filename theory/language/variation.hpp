#pragma once
/// @file
/// @brief How far windows of independent symbols are from a text, by the pairs of neighbours that
/// come in them.

#include <Eigen/Core>
#include <vector>

#include "attica/core/language/chain.hpp"

namespace attica {

/// @brief Mean over draws of the total variation between the text's pairs of neighbours and those
/// of N drawn pairs of independent symbols: how often a pair comes is nearly a Poisson number.
/// @param frequencies p of every symbol, @shape{symbols}
/// @param drawn N
double independent_pair_variation(const std::vector<Symbol>& text,
                                  const double* frequencies,
                                  Eigen::Index symbols,
                                  double drawn);

}  // namespace attica
