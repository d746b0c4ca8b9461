#pragma once
/// @file
/// @brief Reads tables of numbers that users bring along, and quotes the fields of those written.

#include <Eigen/Core>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace attica {

struct NumericTable {
  std::vector<std::string> columns;  ///< header names; empty if the file has no header
  Eigen::MatrixXd values;            ///< one line of the file a row
};

enum class CsvHeader {
  required,  ///< the first line names the columns
  optional,  ///< the first line is a header if any of its fields is not a number; .npy has none
};

/// @brief The table of `read_matrix_file` (core/matrix_file.hpp).
/// @throws Error of kind input with file, line and column of the first mistake
NumericTable read_numeric_csv(const std::filesystem::path& path, CsvHeader header);

/// @brief A field of a CSV line, quoted where needed (RFC 4180).
std::string csv_field(std::string_view text);

}  // namespace attica
