#pragma once
/// @file
/// @brief Ranges and tick marks of axes.

#include <string>
#include <vector>

#include "attica/core/figure.hpp"

namespace attica::plots {

/// @brief The part of an axis that is shown: low < high, both positive if logarithmic.
struct Range {
  double low = 0;
  double high = 1;
  AxisScale scale = AxisScale::linear;
  bool whole = false;     ///< only whole numbers mean something: ticks stand at them alone
  bool reversed = false;  ///< low is at the far end: rows of a matrix, the first one on top

  bool contains(double value) const { return low <= value && value <= high; }
  /// @brief Position along the axis: 0 at low, 1 at high.
  double position(double value) const;
  /// @brief The value at a position: inverse of position().
  double value(double position) const;
};

/// Part of the range that is left free at each end.
inline constexpr double kRoom = 0.05;

/// @brief A range that shows `values` with that room at both ends, or the axis' own fixed ends.
///
/// A linear axis of positive values that reach down near zero starts at zero. A logarithmic axis
/// uses the positive values only. A single value gets room around it.
/// @throws Error of kind input if the fixed ends are not increasing, or not positive on a
/// logarithmic axis, or if the range is wider than the largest number
Range fit_range(const Axis& axis, const std::vector<double>& values, double room = kRoom);

/// @brief A tick mark; minor ones have no label.
struct Tick {
  double position = 0;
  std::string label;  ///< enhanced text
  bool major = true;
};

/// @brief A value of an axis that stands for something with a name.
struct Category {
  double value = 0;
  std::string name;  ///< enhanced text

  bool operator==(const Category&) const = default;
};

/// @brief What the label of an axis names: "start: 0 identity, 1 blocks, 2 trained" is the label
/// "start" of an axis with three categories.
struct NamedAxis {
  std::string label;                 ///< what stands before the colon
  std::vector<Category> categories;  ///< in the order of their values; empty: numbers
};

/// @brief Reads that form; any other label is a label.
NamedAxis named_axis(const std::string& label);

/// @brief Tick marks, at most `wanted` (>= 2) of them with labels: multiples of 1, 2 or 5 on a
/// linear axis; on a logarithmic one powers of ten (plain numbers if the range is narrow and near
/// 1, with 2 and 5 if it spans little).
std::vector<Tick> choose_ticks(const Range& range, int wanted);

}  // namespace attica::plots
