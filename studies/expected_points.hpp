#pragma once
/// @file
/// @brief How many points a study compares at the settings of its presets, as its card states.
///
/// Which points are compared follows from the theory that is compared: one that went wrong could
/// leave out the points that show it. The numbers of the card follow from nothing.

#include <cstddef>
#include <map>
#include <string>

namespace attica {

/// Numbers of points by series.
using ExpectedPoints = std::map<std::string, std::size_t>;

/// @brief `expected` of each [[preset]] of the card of that study, by the preset's name; empty of a
/// study without a card.
std::map<std::string, ExpectedPoints> expected_points(const std::string& study);

}  // namespace attica
