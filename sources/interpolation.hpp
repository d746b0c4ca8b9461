#pragma once
/// @file
/// @brief Values of a theory's table between its x, where a simulation has others.

#include <cstddef>
#include <optional>
#include <vector>

#include "attica/core/series.hpp"

namespace attica::sources {

/// What was put in.
struct Interpolation {
  std::size_t values = 0;
  double largest_error = 0;  ///< of the estimates, relative to the value; of values that are not 0
};

/// @brief Adds to every curve the x of simulated curves of its name and point that lie between two
/// of its own and meet none (core/matching.hpp), on the straight line between these two.
///
/// The error of that line, |f''| (x - a)(b - x)/2 between a and b, is added to `numerical_error`:
/// f''/2 is the larger of the divided differences over a, b and the next x on either side. It is an
/// estimate, good where the table's x resolve the curve. Nothing is added outside a curve's x.
/// @param reach relative distance up to which x are the same; empty: their printed digits
/// @throws Error of kind input for a curve of fewer than three x, whose bend nobody knows
Interpolation interpolate_linearly(std::vector<Prediction>& theory,
                                   const std::vector<Series>& simulated,
                                   std::optional<double> reach = std::nullopt);

}  // namespace attica::sources
