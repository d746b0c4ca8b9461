#pragma once
/// @file
/// @brief Measuring, breaking and quoting gnuplot's enhanced text, so that the layout can be
/// computed beforehand.

#include <string>
#include <string_view>

#include "attica/core/label.hpp"

namespace attica::plots {

/// @brief Width in points of one line of enhanced text in DejaVu Sans of `size` points.
double text_width(std::string_view text, double size);

/// @brief Width in points of the widest line.
double block_width(std::string_view text, double size);

/// @brief Number of lines: one more than there are line breaks.
int line_count(std::string_view text);

/// @brief Breaks enhanced text at spaces outside braces so that lines stay within `width` where
/// that is possible.
std::string wrap(std::string_view text, double size, double width);

/// @brief A double-quoted gnuplot string; nothing in it is expanded or executed.
std::string quote(std::string_view text);

}  // namespace attica::plots
