#pragma once
/// @file
/// @brief Which numbers of two tables stand for the same place, although they were printed with
/// different numbers of digits.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attica/core/series.hpp"

namespace attica {

/// @brief Whether two numbers agree to the digits that the shorter one prints, at least to single
/// precision.
///
/// So 1/6 is 0.166667 (`%.6f`, `%g`), 0.16666667 (a float32) and 0.1667. The shorter one has four
/// significant digits or more, or equals the longer one in six; with five or more it may have been
/// cut off rather than rounded. Whole numbers are printed whole: they are the same only if they are
/// equal, or if one was rounded to six digits, as `%g` does from 10^6 on. From 2^24 on, where
/// single precision cannot tell whole numbers apart (times in seconds since 1970), it is not
/// assumed.
bool same_number(double a, double b);

/// @brief Whether they differ by rounding errors of a calculation at most: two values of one table
/// that are meant to be equal.
bool same_within_rounding(double a, double b);

/// @brief The same of coordinates: numbers by same_number, words letter by letter.
bool same_value(const CoordinateValue& a, const CoordinateValue& b);

/// @brief Whether two points have the same coordinates, in any order, by same_value.
bool same_point(const Point& a, const Point& b);

/// @brief For every given number its place among the known ones; empty if it has none.
///
/// Equal numbers match. Of the others, those that are the same by same_number, or closer than
/// `reach` times the larger of the two, and nearest to each other: if another number of either list
/// is about as near (less than twice as far; with `reach`: as near), nothing is decided. Next to a
/// 0, rounding errors are those of the largest number (10^-13 of it).
std::vector<std::optional<std::size_t>> match_numbers(std::span<const double> given,
                                                      std::span<const double> known,
                                                      std::optional<double> reach = std::nullopt);

/// @brief The known number that is nearest to x; empty without any.
std::optional<double> nearest_number(double x, std::span<const double> known);

/// @brief |a - b| relative to the larger of the two: what `reach` must not be below.
double relative_distance(double a, double b);

}  // namespace attica
