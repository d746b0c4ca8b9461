#pragma once
/// @file
/// @brief Legend texts from points of parameter space.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attica/core/series.hpp"

namespace attica::plots {

/// @brief A number as enhanced text for reading, four digits: 0.1, 2.5×10^{-6}.
std::string pretty_number(double value);

/// @brief The Greek letter of a name such as "lambda"; empty if it is none.
std::string_view greek_letter(std::string_view name);
/// @brief The names that have one.
std::vector<std::string_view> greek_names();

/// @brief A name as enhanced text: `lambda` becomes an italic λ, a single letter italic,
/// `test_error` "test error".
std::string pretty_name(std::string_view name);

/// @brief Whether `label` contains "{name}" for a coordinate of the point.
bool mentions_coordinate(std::string_view label, const Point& point);

/// @brief `label` with each "{name}" replaced by that coordinate.
std::string fill_label(std::string label, const Point& point);

/// @brief Whether some of the points lack this coordinate or have another value of it.
bool differs(const std::pair<std::string, CoordinateValue>& coordinate,
             const std::vector<Point>& points);

/// @brief "λ = 0.1": the coordinates in which `points` differ.
std::string point_label(const Point& point, const std::vector<Point>& points);

}  // namespace attica::plots
