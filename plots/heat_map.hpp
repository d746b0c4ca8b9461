#pragma once
/// @file
/// @brief Heat maps and level lines from series on a grid.

#include "attica/plots/content.hpp"

namespace attica::plots {

/// @brief The map that the panel's first layer shows: its series against x and the panel's y
/// coordinate, with level lines if the panel is of kind contours. Simulation is preferred to theory
/// if the layer asks for both.
///
/// `remarks` tells of values that a logarithmic colour scale cannot show.
/// @throws Error if there is nothing to show, the grid cannot be placed on the axes, or one place
/// has two values
HeatMap make_heat_map(const Panel& panel,
                      const FigureData& data,
                      std::vector<std::string>& remarks);

/// @brief Colours from the lowest value to the highest; symmetric about zero for values of both
/// signs.
ColourScale colour_scale(const Axis& axis, const std::vector<double>& values);

}  // namespace attica::plots
