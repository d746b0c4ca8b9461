#pragma once
/// @file
/// @brief What goes beneath a panel: residuals relative to the theory, and the margin.

#include "attica/plots/content.hpp"

namespace attica::plots {

/// @brief Gives the panel its residuals, if there are any for the curves it shows; `remarks` tells
/// of those that cannot be drawn.
void add_residuals(PanelContent& content,
                   const FigureData& data,
                   std::vector<std::string>& remarks);

}  // namespace attica::plots
