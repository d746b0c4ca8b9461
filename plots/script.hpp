#pragma once
/// @file
/// @brief The gnuplot script of a figure.

#include <string>

#include "attica/plots/draw.hpp"
#include "attica/plots/layout.hpp"

namespace attica::plots {

/// @brief A complete script: run beside NAME.csv it writes NAME.FORMAT for each format.
std::string script(const Content& content,
                   const Layout& layout,
                   const DataFile& table,
                   const Theme& theme,
                   const DrawOptions& options);

}  // namespace attica::plots
