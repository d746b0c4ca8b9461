#include "attica/studies/own/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "attica/core/error.hpp"
#include "attica/core/matching.hpp"

namespace attica::own {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// A field of a row as text, and where it stands.
struct Field {
  std::string text;
  std::size_t column = 1;  ///< of its first character in the line, from 1
};

using Fields = std::vector<Field>;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::optional<double> number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || text.empty()) return std::nullopt;
  // Too small for a double is 0; too large is infinite.
  if (code == std::errc::result_out_of_range)
    return text.find("e-") == std::string_view::npos ? std::numeric_limits<double>::infinity()
                                                     : 0.0;
  if (code != std::errc()) return std::nullopt;
  return value;
}

Error refusal(const std::string& source,
              std::size_t line,
              std::size_t column,
              const std::string& what) {
  return {ErrorKind::input, fmt::format("{}:{}:{}: error: {}", source, line, column, what)};
}

/// The header's columns, sorted by what they are for.
struct Columns {
  std::vector<std::string> names;
  std::map<std::string, std::size_t> index;

  std::optional<std::size_t> find(const std::string& name) const {
    const auto at = index.find(name);
    return at == index.end() ? std::nullopt : std::optional(at->second);
  }
};

/// Turns rows of fields into the table's rows, whatever they were read from.
class RowReader {
 public:
  RowReader(OutsideTable& table, const TableFormat& format, const Fields& header, std::size_t line)
      : table_(table), format_(format) {
    table.header_line = line;
    std::vector<std::string> units;
    for (const Field& field : header) {
      auto [name, unit] = split_unit(field, line);
      if (name.empty()) throw refusal(table.source, line, field.column, "a column without a name");
      if (!columns_.index.emplace(name, columns_.names.size()).second) {
        throw refusal(table.source, line, field.column, fmt::format("column '{}' twice", name));
      }
      columns_.names.push_back(name);
      units.push_back(unit);
    }
    x_ = columns_.find(format.x_name);
    if (!x_) x_ = columns_.find("x");
    table.has_x = x_.has_value();
    if (x_) table.x_unit = units[*x_];
    series_ = columns_.find("series");
    if (format.kind == TableKind::theory) {
      finite_size_ = columns_.find("finite_size");
      numerical_error_ = columns_.find("numerical_error");
      compared_ = columns_.find("compared");
    } else {
      replicate_ = columns_.find("replicate");
      if (!columns_.find("value")) {
        mean_ = columns_.find("mean");
        sem_ = columns_.find("sem");
        n_ = columns_.find("n");
      }
    }
    table.summary = mean_ && sem_ && n_;
    value_ = table.summary ? mean_ : columns_.find("value");
    require_columns(header, line);
    table.value_unit = units[*value_];
    for (std::size_t k = 0; k < header.size(); ++k) {
      const bool known = k == x_ || k == series_ || k == value_ || k == finite_size_ ||
                         k == numerical_error_ || k == compared_ || k == replicate_ || k == sem_ ||
                         k == n_;
      if (!known) coordinates_.push_back(k);
    }
    std::sort(coordinates_.begin(), coordinates_.end(), [&](std::size_t a, std::size_t b) {
      return columns_.names[a] < columns_.names[b];
    });
    for (const std::size_t k : coordinates_) {
      table.coordinates.push_back(columns_.names[k]);
      table.coordinate_at.push_back(header[k].column);
    }
  }

  void add(const Fields& fields, std::size_t line) {
    if (fields.size() != columns_.names.size()) {
      throw refusal(
          table_.source,
          line,
          fields.size() > columns_.names.size() ? fields[columns_.names.size()].column : 1,
          fmt::format(
              "{} fields, expected {} as in the header", fields.size(), columns_.names.size()));
    }
    TableRow row{.line = line};
    if (series_) row.series = name(fields[*series_], line);
    for (const std::size_t k : coordinates_) {
      const std::string& text = fields[k].text;
      if (text.empty()) continue;  // a curve that has no such coordinate
      const std::optional<double> value = number(text);
      if (value && !std::isfinite(*value)) throw not_a_number(fields, k, line, "a finite number");
      row.point.emplace_back(columns_.names[k],
                             value ? CoordinateValue(*value) : CoordinateValue(text));
    }
    if (x_) row.x = finite(fields, *x_, line);
    if (format_.kind == TableKind::theory) {
      row.value = finite(fields, *value_, line);
      if (finite_size_) row.finite_size = allowance(fields, *finite_size_, line);
      if (numerical_error_) row.numerical_error = allowance(fields, *numerical_error_, line);
      if (compared_) row.compared = flag(fields, *compared_, line);
    } else {
      row.value = observed(fields, *value_, line);
      row.value_column = fields[*value_].column;
      if (table_.summary) {
        // An empty one is not an error of 0.
        if (fields[*sem_].text.empty())
          throw not_a_number(fields, *sem_, line, "the standard error of the mean, a number >= 0");
        row.sem = allowance(fields, *sem_, line);
        row.n = static_cast<std::size_t>(count(fields, *n_, line));
        constexpr std::size_t kMost = 1000000;
        if (row.n < 2 || row.n > kMost) {
          throw not_a_number(fields, *n_, line, "a number of replicates from 2 to 1000000");
        }
        if (!std::isfinite(row.value)) throw not_a_number(fields, *value_, line, "a finite number");
      }
      if (replicate_ && !table_.summary) row.replicate = count(fields, *replicate_, line);
    }
    table_.rows.push_back(std::move(row));
  }

 private:
  std::pair<std::string, std::string> split_unit(const Field& field, std::size_t line) const {
    const auto open = field.text.find('[');
    if (open == std::string::npos) return {field.text, ""};
    if (!field.text.ends_with(']')) {
      throw refusal(table_.source,
                    line,
                    field.column,
                    fmt::format("column '{}': expected NAME or NAME [UNIT]", field.text));
    }
    return {std::string(trimmed(std::string_view(field.text).substr(0, open))),
            field.text.substr(open + 1, field.text.size() - open - 2)};
  }

  void require_columns(const Fields& header, std::size_t line) const {
    const std::size_t end = header.back().column;
    const auto missing = [&](const std::string& what) {
      return refusal(
          table_.source,
          line,
          end,
          fmt::format(
              "missing column {}; the columns are {}", what, fmt::join(columns_.names, ", ")));
    };
    const std::string x = format_.x_name == "x" ? "'x'" : fmt::format("'{}'", format_.x_name);
    if (!x_ && format_.x_required) {
      throw missing(
          format_.x_name == "x" ? "'x' (--x NAME, or x = \"NAME\", where it has another name)" : x);
    }
    if (!value_) {
      throw missing(format_.kind == TableKind::theory ? "'value'"
                                                      : "'value' (or 'mean', 'sem' and 'n')");
    }
    if (format_.kind == TableKind::replicates && !table_.summary && !replicate_) {
      throw missing("'replicate' (or 'mean', 'sem' and 'n' in place of 'value')");
    }
  }

  Error not_a_number(const Fields& fields,
                     std::size_t k,
                     std::size_t line,
                     const std::string& expected) const {
    const std::string& text = fields[k].text;
    std::string hint;
    if (std::count(text.begin(), text.end(), ',') == 1 &&
        text.find_first_not_of("+-0123456789,eE") == std::string::npos) {
      hint = "; decimals are written with a point";
    }
    return refusal(
        table_.source,
        line,
        fields[k].column,
        fmt::format("{} = '{}': expected {}{}", columns_.names[k], text, expected, hint));
  }

  double finite(const Fields& fields, std::size_t k, std::size_t line) const {
    const std::optional<double> value = number(fields[k].text);
    if (!value || !std::isfinite(*value)) throw not_a_number(fields, k, line, "a finite number");
    return *value;
  }

  /// An observation: a replicate that failed has none.
  double observed(const Fields& fields, std::size_t k, std::size_t line) const {
    const std::string& text = fields[k].text;
    if (text.empty()) return kMissing;
    const std::optional<double> value = number(text);
    if (!value) throw not_a_number(fields, k, line, "a number");
    return std::isfinite(*value) || format_.infinite ? *value : kMissing;
  }

  double allowance(const Fields& fields, std::size_t k, std::size_t line) const {
    if (fields[k].text.empty()) return 0;
    const double value = finite(fields, k, line);
    if (value < 0) throw not_a_number(fields, k, line, "a number >= 0");
    return value;
  }

  std::uint64_t count(const Fields& fields, std::size_t k, std::size_t line) const {
    const double value = finite(fields, k, line);
    if (value < 0 || value > 0x1p53 || std::floor(value) != value) {
      throw not_a_number(fields, k, line, "a whole number >= 0");
    }
    return static_cast<std::uint64_t>(value);
  }

  bool flag(const Fields& fields, std::size_t k, std::size_t line) const {
    std::string text = fields[k].text;
    std::transform(text.begin(), text.end(), text.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    if (text == "true" || text == "1" || text == "yes" || text.empty()) return true;
    if (text == "false" || text == "0" || text == "no") return false;
    throw not_a_number(fields, k, line, "true or false");
  }

  std::string name(const Field& field, std::size_t line) const {
    constexpr std::string_view kAllowed =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    if (field.text.empty() || field.text.find_first_not_of(kAllowed) != std::string::npos) {
      throw refusal(
          table_.source,
          line,
          field.column,
          fmt::format("series = '{}': expected a name of letters, digits, _ and -", field.text));
    }
    return field.text;
  }

  OutsideTable& table_;
  TableFormat format_;
  Columns columns_;
  std::vector<std::size_t> coordinates_;
  std::optional<std::size_t> x_, series_, value_, finite_size_, numerical_error_, compared_,
      replicate_, mean_, sem_, n_;
};

/// Fields of a line; one in double quotes may hold separators, "" in it is a quote.
Fields split(std::string_view line, char separator, const std::string& source, std::size_t number) {
  Fields fields;
  std::size_t k = 0;
  while (true) {
    while (k < line.size() && line[k] == ' ') ++k;
    Field field{.text = {}, .column = k + 1};
    if (k < line.size() && line[k] == '"') {
      bool closed = false;
      for (++k; k < line.size() && !closed; ++k) {
        if (line[k] != '"') {
          field.text += line[k];
        } else if (k + 1 < line.size() && line[k + 1] == '"') {
          field.text += line[++k];
        } else {
          closed = true;
        }
      }
      while (k < line.size() && line[k] == ' ') ++k;
      if (!closed || (k < line.size() && line[k] != separator)) {
        throw refusal(source,
                      number,
                      field.column,
                      closed ? "text after a quoted field" : "a quote that is not closed");
      }
    } else {
      const auto stop = std::min(line.find(separator, k), line.size());
      field.text = trimmed(line.substr(k, stop - k));
      k = stop;
    }
    fields.push_back(std::move(field));
    if (k >= line.size()) return fields;
    ++k;
  }
}

void require_text(std::string_view text, const std::string& source) {
  std::size_t line = 1;
  std::size_t start = 0;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const auto c = static_cast<unsigned char>(text[k]);
    if (c == '\n') {
      ++line;
      start = k + 1;
    }
    // The lengths that UTF-8 gives; the other bytes of a character are 10xxxxxx.
    const int more = c < 0x80           ? 0
                     : (c >> 5) == 0x6  ? 1
                     : (c >> 4) == 0xe  ? 2
                     : (c >> 3) == 0x1e ? 3
                                        : -1;
    bool good = more >= 0 && c != 0;
    for (int i = 0; good && i < more; ++i) {
      ++k;
      good = k < text.size() && (static_cast<unsigned char>(text[k]) >> 6) == 0x2;
    }
    if (!good) throw refusal(source, line, k - start + 1, "no UTF-8 text, expected a table");
  }
}

void read_csv(std::string_view rest, OutsideTable& table, const TableFormat& format) {
  std::optional<RowReader> reader;
  char separator = ',';
  for (std::size_t line = 1; !rest.empty(); ++line) {
    const auto stop = std::min(rest.find('\n'), rest.size());
    std::string_view current = rest.substr(0, stop);
    rest.remove_prefix(std::min(stop + 1, rest.size()));
    while (current.ends_with('\r')) current.remove_suffix(1);
    if (current.starts_with('#') || trimmed(current).empty()) continue;
    if (!reader) {
      for (const char candidate : {'\t', ';'}) {
        if (current.find(candidate) != std::string_view::npos) {
          separator = candidate;
          break;
        }
      }
      const Fields header = split(current, separator, table.source, line);
      if (std::all_of(header.begin(), header.end(), [](const Field& f) {
            return number(f.text).has_value();
          })) {
        throw refusal(table.source, line, 1, "numbers, expected a header with names of columns");
      }
      reader.emplace(table, format, header, line);
      continue;
    }
    reader->add(split(current, separator, table.source, line), line);
  }
  if (!reader) throw refusal(table.source, 1, 1, "nothing, expected a header and rows");
}

/// A value of a JSON row as a field.
std::string field_text(const nlohmann::ordered_json& value,
                       const std::string& source,
                       std::size_t row,
                       const std::string& key) {
  if (value.is_null()) return "";
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return value.dump();
  if (value.is_number()) return fmt::format("{}", value.get<double>());
  throw refusal(source, row, 1, fmt::format("'{}' is neither a number nor a text", key));
}

void read_json(std::string_view text, OutsideTable& table, const TableFormat& format) {
  nlohmann::ordered_json rows;
  try {
    // Python writes NaN and Infinity, which JSON does not know.
    rows = nlohmann::ordered_json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    const auto upto = text.substr(0, std::min<std::size_t>(error.byte, text.size()));
    const auto line = 1 + static_cast<std::size_t>(std::count(upto.begin(), upto.end(), '\n'));
    const auto last = upto.rfind('\n');
    throw refusal(table.source,
                  line,
                  last == std::string_view::npos ? upto.size() : upto.size() - last - 1,
                  "no valid JSON, expected a list of objects (NaN is written null)");
  }
  if (rows.empty()) throw refusal(table.source, 1, 1, "an empty list, expected rows");
  std::optional<RowReader> reader;
  std::vector<std::string> names;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (!rows[k].is_object())
      throw refusal(table.source, k + 1, 1, "a row that is no object; expected {\"x\": ..., ...}");
    if (k == 0) {
      Fields header;
      for (const auto& [key, value] : rows[k].items()) {
        names.push_back(key);
        header.push_back({key, 1});
      }
      if (header.empty()) throw refusal(table.source, 1, 1, "a row without values");
      reader.emplace(table, format, header, 1);
    }
    Fields fields;
    for (const std::string& name : names) {
      if (!rows[k].contains(name)) {
        throw refusal(table.source, k + 1, 1, fmt::format("row without '{}'", name));
      }
      fields.push_back({field_text(rows[k][name], table.source, k + 1, name), 1});
    }
    if (rows[k].size() != names.size()) {
      throw refusal(table.source, k + 1, 1, "a row with other names than the first");
    }
    reader->add(fields, k + 1);
  }
}

/// Numbers a curve by its series and point, and an x by its place on it; a number that differs from
/// an earlier one by rounding is that one.
class KnownPlaces {
 public:
  std::size_t curve(const TableRow& row) {
    const auto [at, fresh] =
        index_.try_emplace(row.series + '\x1f' + describe(row.point), xs_.size());
    if (fresh) xs_.emplace_back();
    return at->second;
  }
  double x(std::size_t curve, double value) {
    std::map<double, char>& known = xs_[curve];
    constexpr double kReach = 1e-9;
    const auto at = known.lower_bound(value - kReach * std::abs(value));
    if (at != known.end() && same_within_rounding(at->first, value)) return at->first;
    known.emplace(value, 0);
    return value;
  }

 private:
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<std::map<double, char>> xs_;
};

std::string where(const TableRow& row, const std::string& x_name) {
  Point place = row.point;
  place.emplace_back(x_name, row.x);
  return fmt::format("series '{}' at {}", row.series, describe(place));
}

/// n values of that mean and standard error; their spread is symmetric, so that no guard acts on
/// them.
double stand_in(const TableRow& row, std::size_t k) {
  const auto n = static_cast<double>(row.n);
  if (row.n % 2 == 1 && k + 1 == row.n) return row.value;
  const double away = row.sem * std::sqrt(row.n % 2 == 1 ? n : n - 1);
  return row.value + (k % 2 == 0 ? away : -away);
}

}  // namespace

OutsideTable read_table(std::string_view text,
                        const std::string& source,
                        const TableFormat& format) {
  OutsideTable table{.source = source, .coordinates = {}, .coordinate_at = {}, .rows = {}};
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  require_text(text, source);
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '[') {
    read_json(text, table, format);
  } else {
    read_csv(text, table, format);
  }
  if (table.rows.empty()) {
    throw refusal(source, table.header_line, 1, "a header without rows, expected at least one");
  }
  return table;
}

void require_same_columns(const OutsideTable& theory, const OutsideTable& simulation) {
  const auto check = [](const OutsideTable& one, const OutsideTable& other) {
    for (std::size_t k = 0; k < one.coordinates.size(); ++k) {
      if (std::find(other.coordinates.begin(), other.coordinates.end(), one.coordinates[k]) ==
          other.coordinates.end()) {
        throw refusal(one.source,
                      one.header_line,
                      one.coordinate_at[k],
                      fmt::format("column '{}' is not in '{}': a coordinate of the points must "
                                  "occur in both",
                                  one.coordinates[k],
                                  other.source));
      }
    }
  };
  check(theory, simulation);
  check(simulation, theory);
  const auto units = [&](const std::string& what, const std::string& a, const std::string& b) {
    if (a.empty() || b.empty() || a == b) return;
    throw refusal(simulation.source,
                  simulation.header_line,
                  1,
                  fmt::format("{} in [{}], but in [{}] in '{}'", what, b, a, theory.source));
  };
  units("x", theory.x_unit, simulation.x_unit);
  units("values", theory.value_unit, simulation.value_unit);
}

void keep_rows(OutsideTable& table, const std::string& column, const CoordinateValue& value) {
  const auto at = std::find(table.coordinates.begin(), table.coordinates.end(), column);
  if (at == table.coordinates.end()) return;
  table.coordinate_at.erase(table.coordinate_at.begin() + (at - table.coordinates.begin()));
  table.coordinates.erase(at);
  std::vector<TableRow> kept;
  for (TableRow& row : table.rows) {
    const auto c = std::find_if(
        row.point.begin(), row.point.end(), [&](const auto& p) { return p.first == column; });
    if (c != row.point.end()) {
      if (!same_value(c->second, value)) continue;
      row.point.erase(c);
    }
    kept.push_back(std::move(row));
  }
  if (kept.empty()) {
    throw Error(ErrorKind::input,
                fmt::format("{}: no row with {} = {}", table.source, column, describe(value)));
  }
  table.rows = std::move(kept);
}

void take_cluster_means(OutsideTable& table, const std::string& column) {
  const auto at = std::find(table.coordinates.begin(), table.coordinates.end(), column);
  if (at == table.coordinates.end()) {
    throw Error(ErrorKind::input,
                fmt::format("{}: no column '{}' to name clusters; the other columns are {}",
                            table.source,
                            column,
                            table.coordinates.empty()
                                ? "none"
                                : fmt::format("{}", fmt::join(table.coordinates, ", "))));
  }
  if (table.summary) {
    throw Error(
        ErrorKind::input,
        fmt::format("{}: mean, sem and n are no replicates, of which clusters could be made",
                    table.source));
  }
  table.coordinate_at.erase(table.coordinate_at.begin() + (at - table.coordinates.begin()));
  table.coordinates.erase(at);
  std::map<std::string, std::uint64_t> clusters;
  std::vector<TableRow> means;
  std::vector<double> counts;
  std::map<std::string, std::size_t> index;  // of a mean, by its series, point, x and cluster
  std::map<std::string, std::size_t> seen;   // lines, by these and the replicate
  KnownPlaces places;
  for (TableRow& row : table.rows) {
    const auto c = std::find_if(
        row.point.begin(), row.point.end(), [&](const auto& p) { return p.first == column; });
    if (c == row.point.end())
      throw refusal(table.source, row.line, 1, fmt::format("no value of '{}'", column));
    const std::string name = describe(c->second);
    row.point.erase(c);
    const std::uint64_t number = row.replicate;
    row.replicate = clusters.try_emplace(name, clusters.size()).first->second;
    row.x = places.x(places.curve(row), row.x);
    const auto [first, alone] = seen.try_emplace(
        fmt::format(
            "{}\x1f{}\x1f{}\x1f{}\x1f{}", row.series, describe(row.point), row.x, name, number),
        row.line);
    if (!alone) {
      throw refusal(table.source,
                    row.line,
                    1,
                    fmt::format("{}, {} {}, replicate {}, stands in line {} already",
                                where(row, "x"),
                                column,
                                name,
                                number,
                                first->second));
    }
    const auto [mean, fresh] = index.try_emplace(
        fmt::format("{}\x1f{}\x1f{}\x1f{}", row.series, describe(row.point), row.x, row.replicate),
        means.size());
    if (fresh) {
      means.push_back(row);
      counts.push_back(1);
    } else {
      double& value = means[mean->second].value;
      value += (row.value - value) / ++counts[mean->second];
    }
  }
  table.rows = std::move(means);
}

std::vector<Prediction> predictions(const OutsideTable& table, const std::string& x_name) {
  const std::string x_of = table.has_x ? x_name : "none";
  std::vector<Prediction> curves;
  KnownPlaces places;
  std::vector<std::unordered_map<double, std::size_t>> seen;
  for (const TableRow& row : table.rows) {
    const std::size_t k = places.curve(row);
    if (k == curves.size()) {
      curves.push_back(
          {.series = {.name = row.series, .point = row.point, .x_name = x_of, .x = {}, .y = {}}});
      seen.emplace_back();
    }
    const auto [first, fresh] = seen[k].try_emplace(row.x, row.line);
    if (!fresh) {
      throw refusal(table.source,
                    row.line,
                    1,
                    fmt::format("{} stands in line {} already", where(row, x_of), first->second));
    }
    Prediction& curve = curves[k];
    curve.series.x.push_back(row.x);
    curve.series.y.push_back(row.value);
    curve.finite_size.push_back(row.finite_size);
    curve.numerical_error.push_back(row.numerical_error);
    curve.compared.push_back(row.compared);
  }
  return curves;
}

RecordedOutcomes recorded_outcomes(const OutsideTable& table, const std::string& x_name) {
  const std::string x_of = table.has_x ? x_name : "none";
  RecordedOutcomes result;
  std::map<std::uint64_t, std::size_t> order;
  std::size_t most = 0;
  for (const TableRow& row : table.rows) {
    order.emplace(row.replicate, 0);
    most = std::max(most, row.n);
  }
  if (table.summary) {
    for (std::size_t k = 0; k < most; ++k) result.names.push_back(k);
  } else {
    for (auto& [name, index] : order) {
      index = result.names.size();
      result.names.push_back(name);
    }
  }
  result.outcomes.resize(result.names.size());
  // The curves of a replicate, by their number in the table.
  std::vector<std::unordered_map<std::size_t, std::size_t>> own(result.outcomes.size());
  std::vector<std::map<std::pair<std::size_t, double>, std::size_t>> seen(result.outcomes.size());
  KnownPlaces places;
  for (const TableRow& row : table.rows) {
    const std::size_t curve = places.curve(row);
    const double x = places.x(curve, row.x);
    const auto add = [&](std::size_t r, double value) {
      const auto [first, fresh_x] = seen[r].try_emplace({curve, x}, row.line);
      if (!fresh_x) {
        throw refusal(
            table.source,
            row.line,
            1,
            table.summary
                ? fmt::format("{} stands in line {} already", where(row, x_of), first->second)
                : fmt::format("{}, replicate {}, stands in line {} already",
                              where(row, x_of),
                              row.replicate,
                              first->second));
      }
      Outcome& outcome = result.outcomes[r];
      const auto [at, fresh] = own[r].try_emplace(curve, outcome.series.size());
      if (fresh) outcome.series.push_back({row.series, row.point, x_of, {}, {}});
      outcome.series[at->second].x.push_back(x);
      outcome.series[at->second].y.push_back(value);
      if (!std::isfinite(value) && !outcome.failed) {
        outcome.failed = true;
        outcome.status = "failed";
        outcome.message = fmt::format(
            "{}:{}: {} is not a finite number", table.source, row.line, where(row, x_of));
      }
    };
    if (table.summary) {
      for (std::size_t k = 0; k < row.n; ++k) add(k, stand_in(row, k));
    } else {
      add(order.at(row.replicate), row.value);
    }
  }
  return result;
}

}  // namespace attica::own
