#pragma once
/// @file
/// @brief Size of the systems in the agreement tests of SGD.

#include <Eigen/Core>

namespace attica::testing {

inline constexpr Eigen::Index kSites = 10;

}  // namespace attica::testing
