#include "attica/core/numeric_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

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

/// Fields of a line; a field in double quotes may hold commas, "" is a quote there. Empty: a quote
/// inside a field, text behind its closing quote, or a quote that is not closed.
std::optional<std::vector<std::string>> split(std::string_view line) {
  std::vector<std::string> fields;
  while (true) {
    line = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
    std::string field;
    if (line.starts_with('"')) {
      std::size_t at = 1;
      for (; at < line.size(); ++at) {
        if (line[at] == '"' && (at + 1 == line.size() || line[at + 1] != '"')) break;
        if (line[at] == '"') ++at;
        field += line[at];
      }
      if (at >= line.size()) return std::nullopt;
      line.remove_prefix(at + 1);
      if (!trimmed(line.substr(0, line.find(','))).empty()) return std::nullopt;
    } else {
      field = line.substr(0, line.find(','));
      if (field.find('"') != std::string::npos) return std::nullopt;
    }
    fields.emplace_back(trimmed(field));
    const std::size_t comma = line.find(',');
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

/// What other separator a line that makes no sense with commas may have; empty: none.
std::string separator_hint(std::string_view line) {
  for (const auto& [separator, name] :
       {std::pair(';', "semicolons"), std::pair('\t', "tabulators")}) {
    if (line.find(separator) != std::string_view::npos)
      return fmt::format(
          "; the line has {}: are the columns separated by them? Expected commas, and "
          "points in numbers",
          name);
  }
  return {};
}

/// The beginning of what may be long.
std::string shortened(std::string_view text) {
  constexpr std::size_t kShown = 40;
  return std::string(text.substr(0, kShown)) + (text.size() > kShown ? "..." : "");
}

std::optional<double> number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Whether a field that is no number begins like one: more likely a slip than a name.
bool is_mistyped_number(std::string_view field) {
  return !number(field) && field.find_first_of("0123456789") == field.find_first_not_of("+-.") &&
         !field.empty();
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
    const std::optional<std::vector<std::string>> parts = split(current);
    if (!parts) throw refuse(line, fmt::format("a stray quote in '{}'", shortened(current)));
    const std::vector<std::string>& fields = *parts;
    if (width == 0) {
      width = fields.size();
      bool names = header == CsvHeader::required;
      for (const std::string& field : fields) {
        names = names || !number(field);
        if (header == CsvHeader::optional && is_mistyped_number(field)) {
          throw refuse(line,
                       fmt::format("'{}' is neither a number nor the name of a column, which does "
                                   "not begin like one",
                                   shortened(field)));
        }
      }
      if (names) {
        if (header == CsvHeader::required && number(fields.front())) {
          throw refuse(line,
                       fmt::format("'{}' is a number, expected a header with the columns' names",
                                   shortened(fields.front())));
        }
        std::unordered_set<std::string> names_so_far;
        for (std::size_t k = 0; k < fields.size(); ++k) {
          if (fields[k].empty()) {
            throw refuse(
                line,
                fmt::format(
                    "column {} has no name{}",
                    k + 1,
                    k == 0 ? "; the index of a data frame? Write it with index=False" : ""));
          }
          if (!names_so_far.insert(fields[k]).second)
            throw refuse(line, fmt::format("two columns are named '{}'", shortened(fields[k])));
        }
        table.columns = fields;
        continue;
      }
    }
    if (fields.size() != width) {
      throw refuse(
          line,
          fmt::format("{} fields, expected {}{}", fields.size(), width, separator_hint(current)));
    }
    for (std::size_t k = 0; k < width; ++k) {
      const std::optional<double> value = number(fields[k]);
      if (!value || !std::isfinite(*value)) {
        const std::string name =
            table.columns.empty() ? fmt::format("column {}", k + 1) : table.columns[k];
        throw refuse(line,
                     fmt::format("'{}' in {}, expected a finite number{}",
                                 shortened(fields[k]),
                                 shortened(name),
                                 separator_hint(current)));
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

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

}  // namespace attica
