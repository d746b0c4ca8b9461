#pragma once
/// @file
/// @brief Starts of joint training from a file.

#include <cstddef>
#include <vector>

#include "attica/core/joma/model.hpp"
#include "attica/studies/configuration.hpp"

namespace attica {

/// @brief Replaces a start by arrays V (units x tokens), Z (queries x tokens) and, if the file has
/// it, R (units x queries; otherwise 0) of model.init_file. @return whether there is such a file
/// @throws Error (input) naming the array and the shape that `start` has
bool take_file_start(const Configuration& configuration, JomaState& start);

/// @brief Starts of a model's components: array V (components) of model.init_file, or else model.v0
/// for each. @throws Error (input) naming one of the two
std::vector<double> component_starts(const Configuration& configuration, std::size_t components);

}  // namespace attica
