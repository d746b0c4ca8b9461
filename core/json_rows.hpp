#pragma once
/// @file
/// @brief Tables in JSON, as rows of fields.

#include <string>
#include <string_view>
#include <vector>

namespace attica {

struct JsonRows {
  std::vector<std::string> names;              ///< of the columns; none: a list of lists of numbers
  std::vector<std::vector<std::string>> rows;  ///< null is an empty field, NaN is "nan"
  bool may_be_transposed = false;              ///< rows and columns are both named by numbers
};

/// @brief Reads a list of objects, an object a line, columns (each an object of rows or a list),
/// pandas' orient="split", or a list of lists. Python's NaN and Infinity are read as they are.
/// @param source name of the file or program, for messages
/// @throws Error of kind input as `SOURCE:LINE:COLUMN: error: what is wrong`, for a row LINE being
/// its number; also for a key twice in an object
JsonRows read_json_rows(std::string_view text, const std::string& source);

}  // namespace attica
