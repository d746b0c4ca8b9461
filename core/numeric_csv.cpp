#include "attica/core/numeric_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "attica/core/error.hpp"
#include "attica/core/read_bytes.hpp"

namespace attica {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

/// Fields of a line; a field in double quotes may hold commas, "" is a quote.
std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t k = 0; k < line.size(); ++k) {
    const char c = line[k];
    if (c == '"' && quoted && k + 1 < line.size() && line[k + 1] == '"') {
      fields.back() += line[++k];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  for (std::string& field : fields) field = trimmed(field);
  return fields;
}

std::optional<double> number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

NumericTable read_numeric_csv(const std::filesystem::path& path, CsvHeader header) {
  const auto refuse = [&](std::size_t line, const std::string& what) {
    return Error(ErrorKind::input, fmt::format("{}:{}: {}", path.string(), line, what));
  };
  const std::optional<std::string> text = read_bytes(path);
  if (!text) throw Error(ErrorKind::input, fmt::format("cannot read '{}'", path.string()));
  std::string_view rest = *text;
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  if (rest.find('\0') != std::string_view::npos)
    throw refuse(1, "binary data, expected comma-separated numbers");

  NumericTable table;
  std::vector<double> values;
  std::size_t width = 0;
  std::size_t rows = 0;
  std::size_t blank_line = 0;
  for (std::size_t line = 1; !rest.empty(); ++line) {
    const auto stop = std::min(rest.find('\n'), rest.size());
    const std::string_view current = trimmed(rest.substr(0, stop));
    rest.remove_prefix(std::min(stop + 1, rest.size()));
    if (current.empty()) {
      if (blank_line == 0) blank_line = line;
      continue;
    }
    if (blank_line != 0) throw refuse(blank_line, "a blank line inside the table");
    const std::vector<std::string> fields = split(current);
    if (width == 0) {
      width = fields.size();
      bool names = header == CsvHeader::required;
      for (const std::string& field : fields) names = names || !number(field);
      if (names) {
        if (header == CsvHeader::required && number(fields.front())) {
          throw refuse(line,
                       fmt::format("'{}' is a number, expected a header with the columns' names",
                                   fields.front()));
        }
        for (std::size_t k = 0; k < fields.size(); ++k) {
          if (fields[k].empty()) throw refuse(line, fmt::format("column {} has no name", k + 1));
          if (std::find(fields.begin(),
                        fields.begin() + static_cast<std::ptrdiff_t>(k),
                        fields[k]) != fields.begin() + static_cast<std::ptrdiff_t>(k)) {
            throw refuse(line, fmt::format("two columns are named '{}'", fields[k]));
          }
        }
        table.columns = fields;
        continue;
      }
    }
    if (fields.size() != width) {
      throw refuse(line, fmt::format("{} fields, expected {}", fields.size(), width));
    }
    for (std::size_t k = 0; k < width; ++k) {
      const std::optional<double> value = number(fields[k]);
      if (!value || !std::isfinite(*value)) {
        const std::string name =
            table.columns.empty() ? fmt::format("column {}", k + 1) : table.columns[k];
        throw refuse(line, fmt::format("'{}' in {}, expected a finite number", fields[k], name));
      }
      values.push_back(*value);
    }
    ++rows;
  }
  if (rows == 0) throw refuse(1, "no data, expected lines of comma-separated numbers");
  table.values =
      Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
          values.data(), static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(width));
  return table;
}

}  // namespace attica
