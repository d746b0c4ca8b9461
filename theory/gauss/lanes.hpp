#pragma once
/// @file
/// @brief What several nodes of a contour, or several sites, hold side by side in one register.

#include <Eigen/Core>
#include <cstddef>

namespace attica {

inline constexpr Eigen::Index kLanes = 4;
using Lanes = double __attribute__((vector_size(kLanes * sizeof(double))));

/// How many registers hold so many numbers, the last one perhaps not full.
inline std::size_t registers_of(Eigen::Index numbers) {
  return static_cast<std::size_t>((numbers + kLanes - 1) / kLanes);
}

}  // namespace attica
