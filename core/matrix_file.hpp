#pragma once
/// @file
/// @brief Matrices from files: NumPy's .npy, and tables of numbers as `TableReader` reads them.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "attica/core/numeric_csv.hpp"

namespace attica {

struct MatrixFile {
  NumericTable table;
  /// Relative spacing of the file's numbers, if it is .npy: 2^-10 for float16. 0: not known.
  double rounding = 0;
  std::vector<std::string> remarks;  ///< what a user should know of how it was read
};

/// @brief Reads .npy, or a table of numbers: rows of equal length, every field a finite number. A
/// first line is a header if any of its fields is no number, or if it counts the columns (0, 1, 2)
/// above rows that are no such numbers. Without names, and below names in a comment, a blank line
/// between rows is refused: it may separate matrices.
/// @param header `required`: the columns have names; .npy, which has none, is refused
/// @throws Error of kind input with file, line and column of the first mistake
MatrixFile read_matrix_file(const std::filesystem::path& path, CsvHeader header);

/// @brief The matrix of a file's bytes. @param source name of that file, for messages
MatrixFile parse_matrix(std::string_view bytes, const std::string& source, CsvHeader header);

}  // namespace attica
