#include "attica/core/numeric_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/core/matrix_file.hpp"
#include "attica/core/npy.hpp"
#include "attica/core/plain_text.hpp"
#include "attica/core/read_bytes.hpp"
#include "attica/core/read_number.hpp"
#include "attica/core/table_reader.hpp"

namespace attica {
namespace {

/// The beginning of what may be long.
std::string shortened(std::string_view text) {
  constexpr std::size_t kShown = 40;
  return std::string(text.substr(0, kShown)) + (text.size() > kShown ? "..." : "");
}

/// Whether a field that is no number begins like one, or is a word for a missing value: more likely
/// mistyped than a name.
bool is_mistyped_number(std::string_view field) {
  if (read_number(field) || field.empty()) return false;
  if (is_missing(field) || field == "-" || field == "." || field == "?") return true;
  if (field.find_first_not_of('*') == std::string_view::npos) return true;  // Fortran's overflow
  static constexpr auto kBefore = std::to_array<std::string_view>({"+",
                                                                   "-",
                                                                   ".",
                                                                   "'",
                                                                   "<",
                                                                   ">",
                                                                   "=",
                                                                   "~",
                                                                   "$",
                                                                   "\xC2\xA0",  // no-break space
                                                                   "\xC2\xA3",  // pound
                                                                   "\xC2\xB1",  // plus or minus
                                                                   "\xE2\x80\x90",    // hyphen
                                                                   "\xE2\x80\x91",    // hyphen
                                                                   "\xE2\x80\x92",    // dash
                                                                   "\xE2\x80\x93",    // dash
                                                                   "\xE2\x80\x94",    // dash
                                                                   "\xE2\x82\xAC",    // euro
                                                                   "\xE2\x88\x92",    // minus
                                                                   "\xEF\xBC\x8B",    // full width
                                                                   "\xEF\xBC\x8D"});  // full width
  while (true) {
    const auto found = std::ranges::find_if(kBefore, [&](auto b) { return field.starts_with(b); });
    if (found == kBefore.end()) break;
    field.remove_prefix(found->size());
  }
  return !field.empty() && field.front() >= '0' && field.front() <= '9';
}

/// Whether the first of several columns counts the rows, from 0 or 1, as an index does that a
/// program wrote with its table.
bool counts_rows(const Eigen::MatrixXd& values) {
  constexpr Eigen::Index kFewest = 4;
  if (values.rows() < kFewest || values.cols() < 2 || (values(0, 0) != 0 && values(0, 0) != 1))
    return false;
  for (Eigen::Index k = 1; k < values.rows(); ++k) {
    if (values(k, 0) != values(0, 0) + static_cast<double>(k)) return false;
  }
  return true;
}

/// Whether three columns are the entries of a matrix, a row each: two whole numbers, no pair of
/// them twice, which count rows and columns from 0 or 1 without a gap, and values that are not all
/// whole.
bool are_entries(const Eigen::MatrixXd& values) {
  constexpr Eigen::Index kFewest = 4;
  constexpr Eigen::Index kColumns = 3;
  if (values.rows() < kFewest || values.cols() != kColumns) return false;
  std::set<std::pair<double, double>> places;
  bool whole = true;
  for (Eigen::Index k = 0; k < values.rows(); ++k) {
    for (const Eigen::Index c : {0, 1}) {
      const double place = values(k, c);
      if (place < 0 || place > static_cast<double>(values.rows()) || std::floor(place) != place)
        return false;
    }
    whole = whole && std::floor(values(k, 2)) == values(k, 2);
    if (!places.emplace(values(k, 0), values(k, 1)).second) return false;
  }
  for (const Eigen::Index c : {0, 1}) {
    std::set<double> numbers;
    for (Eigen::Index k = 0; k < values.rows(); ++k) numbers.insert(values(k, c));
    const double first = *numbers.begin();
    if (first > 2 || *numbers.rbegin() - first + 1 != static_cast<double>(numbers.size()) ||
        static_cast<Eigen::Index>(numbers.size()) == values.rows())
      return false;
  }
  return !whole;
}

/// Whether the first of several columns rises in equal steps, as times do that a program wrote with
/// its table.
bool is_even_clock(const Eigen::MatrixXd& values) {
  constexpr Eigen::Index kFewest = 5;
  constexpr double kEqual = 1e-9;
  constexpr double kRounding = 1e-15;
  if (values.rows() < kFewest || values.cols() < 2) return false;
  const double step = values(1, 0) - values(0, 0);
  if (!(step > 0)) return false;
  for (Eigen::Index k = 2; k < values.rows(); ++k) {
    const double rounding = kRounding * std::abs(values(k, 0));
    if (std::abs(values(k, 0) - values(k - 1, 0) - step) > kEqual * step + rounding) return false;
  }
  return true;
}

}  // namespace

MatrixFile read_matrix_file(const std::filesystem::path& path, CsvHeader header) {
  const std::optional<std::string> bytes = read_bytes(path);
  if (!bytes) throw Error(ErrorKind::input, fmt::format("cannot read '{}'", path.string()));
  return parse_matrix(*bytes, path.string(), header);
}

MatrixFile parse_matrix(std::string_view bytes, const std::string& source, CsvHeader header) {
  MatrixFile file;
  NumericTable& table = file.table;
  const std::string plain = decompressed(bytes, source);
  if (header == CsvHeader::optional && is_npy(plain)) {
    NpyMatrix matrix = read_npy(plain, source);
    table.values = std::move(matrix.values);
    file.rounding = matrix.rounding;
    return file;
  }
  const bool named = header == CsvHeader::required;
  if (named && is_npy(plain)) {
    throw Error(ErrorKind::input,
                fmt::format("{}: a NumPy .npy file, whose columns have no names; expected "
                            "pandas.DataFrame(array).add_prefix('x').to_csv(FILE, index=False)",
                            source));
  }
  TableReader reader(plain, source, named ? TableNames::required : TableNames::optional);
  std::vector<double> values;
  std::size_t width = 0;
  std::size_t rows = 0;
  for (const TableField& field : reader.header()) {
    table.columns.push_back(field.text);
    if (!named && is_mistyped_number(field.text)) {
      throw reader.refusal(
          reader.header_line(),
          field.column,
          fmt::format("'{}' is neither a number nor the name of a column, which does not begin "
                      "like one{}",
                      shortened(field.text),
                      number_hint(field.text)));
    }
  }
  while (reader.next()) {
    if ((table.columns.empty() || reader.header_is_comment()) && reader.blank_before() != 0) {
      throw reader.refusal(reader.blank_before(),
                           1,
                           "a blank line inside the table; several matrices? Expected one a file");
    }
    const std::vector<TableField>& row = reader.row();
    width = row.size();
    for (std::size_t k = 0; k < width; ++k) {
      const std::optional<double> value = read_number(row[k].text);
      if (!value || !std::isfinite(*value)) {
        const std::string name =
            table.columns.empty() ? fmt::format("column {}", k + 1) : shortened(table.columns[k]);
        throw reader.refusal(
            reader.line(),
            row[k].column,
            fmt::format("'{}' in {}, expected a finite number{}",
                        shortened(row[k].text),
                        name,
                        rows == 0 && !reader.layout_hint().empty() ? reader.layout_hint()
                                                                   : number_hint(row[k].text)));
      }
      values.push_back(*value);
    }
    ++rows;
  }
  if (rows == 0) throw reader.refusal(1, 1, "no data, expected rows of numbers");
  table.values =
      Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
          values.data(), static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(width));
  file.remarks = reader.remarks();
  if (are_entries(table.values)) {
    file.remarks.push_back(fmt::format(
        "{}: every row is two whole numbers and a value, read as a matrix of {} x 3; if they are "
        "the place and value of an entry, write the matrix",
        source,
        table.values.rows()));
  }
  if (counts_rows(table.values)) {
    file.remarks.push_back(fmt::format(
        "{}: the first column{} counts the rows, {} to {}: if it is their index, take it out "
        "(pandas: index=False)",
        source,
        table.columns.empty() ? "" : fmt::format(", '{}',", shortened(table.columns.front())),
        table.values(0, 0),
        table.values(table.values.rows() - 1, 0)));
  } else if (is_even_clock(table.values)) {
    file.remarks.push_back(fmt::format(
        "{}: the first column{} rises in equal steps, from {} to {}: if it is a time, take it out",
        source,
        table.columns.empty() ? "" : fmt::format(", '{}',", shortened(table.columns.front())),
        table.values(0, 0),
        table.values(table.values.rows() - 1, 0)));
  }
  return file;
}

NumericTable read_numeric_csv(const std::filesystem::path& path, CsvHeader header) {
  return read_matrix_file(path, header).table;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

}  // namespace attica
