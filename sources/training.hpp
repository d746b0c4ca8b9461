#pragma once
/// @file
/// @brief [theory.training]: the training theory of a model that a command answers for.

#include <vector>

#include "attica/core/value.hpp"
#include "attica/studies/configuration.hpp"

namespace attica::sources {

/// @brief The parameters of [theory.training]. Some may be numbers or formulas, lists or files: as
/// they are written.
/// @param entries what the configuration says, by flat dotted key
std::vector<Parameter> training_parameters(const Table& entries);

}  // namespace attica::sources
