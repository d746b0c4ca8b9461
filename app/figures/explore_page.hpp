#pragma once
/// @file
/// @brief The page of `attica explore`: app/figures/explore/page.html with style, script and charts
/// (uPlot) in one.

#include <string>

#include "attica/app/run/json.hpp"

namespace attica::app {

/// @brief The page as it is served; it asks its own address only.
/// @param nonce lets the page's own scripts run and no other
std::string explore_page(const std::string& nonce);

/// @brief The page as a file of its own that asks nobody for anything.
/// @param data {"study": Subject::description(), "grid": [{"key", "values"}], "x": every x axis,
/// "theories": by grid point, the last parameter running fastest}
std::string exported_page(const Json& data);

}  // namespace attica::app
