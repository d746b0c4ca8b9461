#pragma once
/// @file
/// @brief An interval of real numbers, e.g. a confidence interval.

namespace attica {

/// Outside a 95 % or 90 % interval, on each side.
inline constexpr double kLevel95 = 0.025;
inline constexpr double kLevel90 = 0.05;

struct Interval {
  double low = 0;
  double high = 0;

  double width() const { return high - low; }
  bool contains(double x) const { return low <= x && x <= high; }
  /// True if the whole of `inner` lies in this interval.
  bool contains(const Interval& inner) const { return low <= inner.low && inner.high <= high; }
};

}  // namespace attica
