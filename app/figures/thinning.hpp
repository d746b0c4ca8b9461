#pragma once
/// @file
/// @brief Curves of more points than a figure can show.

#include "attica/core/figure.hpp"

namespace attica::app {

/// A curve of more points is thinned before it is drawn.
inline constexpr std::size_t kMostDrawn = 10'000;

/// @brief Leaves of every curve with more than kMostDrawn points, and of its residuals, those that
/// can be told apart in print: of each of 1000 intervals of the x axis the first, the last, the
/// lowest and the highest point, by value and by residual. The caption says so and counts them.
/// Series of scatter plots and maps are left as they are.
void thin(Figure& figure, FigureData& data);

}  // namespace attica::app
