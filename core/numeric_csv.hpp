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
  optional,  ///< the first line is a header if any of its fields is not a number
};

/// @brief Reads comma-separated numbers: all lines of equal length, every field a finite number. A
/// UTF-8 byte-order mark, CRLF line ends, blank lines at the end and spaces around fields are
/// accepted; columns without a name or with another's are not.
/// @throws Error of kind input with file, line and column of the first mistake
NumericTable read_numeric_csv(const std::filesystem::path& path, CsvHeader header);

/// @brief A field of a CSV line, quoted where needed (RFC 4180).
std::string csv_field(std::string_view text);

}  // namespace attica
