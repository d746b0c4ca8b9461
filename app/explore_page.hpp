#pragma once
/// @file
/// @brief The page that `attica explore` serves.

#include <string_view>

namespace attica::app {

/// @brief HTML, style and script in one; it asks its own address only: study.json, theory, curves.
std::string_view explore_page();

}  // namespace attica::app
