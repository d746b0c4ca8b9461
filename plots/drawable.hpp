#pragma once
/// @file
/// @brief What of a figure can be drawn from given data.

#include <string>
#include <vector>

#include "attica/core/figure.hpp"

namespace attica {

/// A figure, and what of it has nothing to be drawn from.
struct DrawableFigure {
  Figure figure;                     ///< the panels of which something is recorded
  std::vector<std::string> missing;  ///< letters of the others, as in the whole figure
};

/// @brief The panels of which `data` holds something: of the theory alone, say.
DrawableFigure drawable(const Figure& figure, const FigureData& data);

}  // namespace attica
