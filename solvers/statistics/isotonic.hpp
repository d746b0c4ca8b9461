#pragma once
/// @file
/// @brief Learning curves that can only fall: isotonic regression, and where such a curve reaches a
/// target.

#include <span>
#include <vector>

namespace attica {

/// @brief The non-increasing sequence nearest to y in least squares, by pooling adjacent violators
/// (Ayer and others 1955). @param y  finite
std::vector<double> falling(std::span<const double> y);

/// Where a curve reaches a target.
struct Reached {
  double at = 0;  ///< x; +infinity: never; the first x if it is below the target there
  bool before =
      false;  ///< it is below the target at the first x already: reached at `at` or before
};

/// @brief The x from which on the falling regression of a curve is at most `target`. Between two x
/// it is interpolated on logarithmic scales where both values and the target are > 0, else in y
/// linearly.
/// @param x  > 0, rising  @param y  one value an x
Reached reach(std::span<const double> x, std::span<const double> y, double target);

}  // namespace attica
