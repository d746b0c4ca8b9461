#pragma once
/// @file
/// @brief What the studies of tokens on the sphere share: parameters, margins, time grids, sources.

#include <cstdint>
#include <string>
#include <vector>

#include "attica/core/icl/tokens.hpp"
#include "attica/studies/kit.hpp"

namespace attica {

const Choices<AttentionNormalisation>& normalisations();
/// `model.tokens`, `model.dimension`, `sim.step`
std::vector<Parameter> token_parameters(std::int64_t tokens, std::int64_t dimension);
Parameter token_betas_parameter(const std::vector<double>& fallback);

/// @brief Deviation of the mean overlap from the limit of large d, times d: 3 up to β = 3, 5 up to
/// 4, as measured at n = 16 and 32. Above, early clusters form from the largest initial overlaps
/// and the law c/d breaks down: infinity.
double token_bias(double beta);

/// @brief Times as whole numbers of steps.
/// @throws Error (input) naming sim.times unless they are, rising, >= 0; naming sim.step
std::vector<std::int64_t> steps_of_times(const Configuration& configuration);

std::vector<Source> token_sources();

}  // namespace attica
