#pragma once
/// @file
/// @brief The curves of a table from outside, for figures and for the page of `attica explore`.

#include <string>
#include <string_view>

#include "attica/core/figure.hpp"

namespace attica::app {

/// @brief Whether the header of a table names the column, a unit in brackets aside.
bool has_column(std::string_view text, std::string_view name);

/// @brief The curves of a table as studies/own/table.hpp reads it: with a column `replicate` or
/// `mean` simulated ones, with mean and standard error, else values.
/// @param shown what messages call it
/// @param x the column of x
/// @param points whether values are points rather than a theory's lines
/// @throws Error of kind input with the place
FigureData table_data(const std::string& text,
                      const std::string& shown,
                      const std::string& x,
                      bool points);

}  // namespace attica::app
