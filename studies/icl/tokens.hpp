#pragma once
/// @file
/// @brief What the studies of tokens on the sphere share: parameters, margins, time grids, sources.

#include <cstdint>
#include <vector>

#include "attica/core/icl/tokens.hpp"
#include "attica/studies/kit.hpp"

namespace attica {

const Choices<AttentionNormalisation>& normalisations();

/// @brief What the orders beyond 1/d may add to a shift of order 1/d, in units of it: 4 (1 + β²)/d,
/// twice that of fewer than 12 tokens. Measured at d = 256: 1.5 % at β = 1 and n = 16; at β = 4 in
/// units of (1 + β²)/d 2.4 of n = 16, 2.9 of 12, 3.9 of 8, 3.6 to 6.3 of 2 to 6. Above, early
/// clusters form from the largest initial overlaps and the expansion breaks down: infinity.
double token_orders(Eigen::Index tokens, double beta, double dimension);
/// @brief From 1 - overlap <= this on tokens are one point in every replicate: nothing to compare.
inline constexpr double kMergedTokens = 1e-6;

/// @brief Overlaps of equiangular starts between which a response to the start is measured: ±.
inline constexpr double kResponseStep = 0.01;

/// @brief Times as whole numbers of steps.
/// @throws Error (input) naming sim.times unless they are, rising, >= 0; naming sim.step
std::vector<std::int64_t> steps_of_times(const Configuration& configuration);

}  // namespace attica
