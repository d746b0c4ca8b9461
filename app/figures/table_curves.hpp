#pragma once
/// @file
/// @brief The curves of a table from outside, for figures and for the page of `attica explore`.

#include <string>
#include <vector>

#include "attica/core/figure.hpp"
#include "attica/sources/table.hpp"

namespace attica::app {

/// The curves of a table, and what a user should know of how it was read.
struct TableData {
  FigureData data;
  std::vector<std::string> remarks;
  std::string x_unit = {};  ///< as the header states it: `time [ms]`; empty: none
  std::string value_unit = {};
};

/// @brief The curves of a table as sources/table.hpp reads it: of a simulation, with mean and
/// standard error, or else values.
/// @param bytes of the file
/// @param shown what messages call it
/// @param x the column of x
/// @param columns of a simulation, where they have other names
/// @param points whether values are points rather than a theory's lines
/// @throws Error of kind input with the place
TableData table_data(const std::string& bytes,
                     const std::string& shown,
                     const std::string& x,
                     const sources::TableColumns& columns,
                     bool points);

}  // namespace attica::app
