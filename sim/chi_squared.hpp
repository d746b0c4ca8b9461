#pragma once
/// @file
/// @brief Draws from χ², which stand for sums of squares of many normals.

#include "attica/core/random.hpp"

namespace attica {

/// @brief χ² with that many degrees of freedom. @param degrees > 0, not necessarily whole
double chi_squared(double degrees, RandomStream& stream);

}  // namespace attica
