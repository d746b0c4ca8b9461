#include "attica/sources/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

#include "attica/core/error.hpp"
#include "attica/core/matching.hpp"
#include "attica/core/read_number.hpp"
#include "attica/core/table_reader.hpp"
#include "attica/solvers/statistics/replicates.hpp"

namespace attica::sources {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

using Fields = std::vector<TableField>;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

Error refusal(const std::string& source,
              std::size_t line,
              std::size_t column,
              const std::string& what) {
  return {ErrorKind::input, fmt::format("{}:{}:{}: error: {}", source, line, column, what)};
}

/// A name without its unit, and the unit.
std::pair<std::string, std::string> split_unit(const std::string& text) {
  const auto open = text.find('[');
  if (open == std::string::npos || open == 0) return {text, ""};
  if (!text.ends_with(']')) return {text, ""};
  return {std::string(trimmed(std::string_view(text).substr(0, open))),
          text.substr(open + 1, text.size() - open - 2)};
}

std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

/// The header's columns, sorted by what they are for: each has one meaning.
struct Columns {
  std::vector<std::string> names;
  std::vector<std::string> full;  ///< with their units
  std::vector<std::string> units;
  std::vector<bool> taken;

  std::optional<std::size_t> find(const std::string& name) const {
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (!taken[k] && (full[k] == name || names[k] == name)) return k;
    }
    return std::nullopt;
  }
  std::optional<std::size_t> take(const std::string& name) {
    const auto at = find(name);
    if (at) taken[*at] = true;
    return at;
  }
  /// A column whose name differs in case only.
  std::optional<std::string> alike(const std::string& name) const {
    for (const std::string& other : full) {
      if (other != name && lower_case(other) == lower_case(name)) return other;
    }
    return std::nullopt;
  }
};

/// Turns rows of fields into the table's rows, whatever they were read from.
class RowReader {
 public:
  RowReader(OutsideTable& table, const TableFormat& format, const TableReader& reader)
      : table_(table), format_(format), reader_(reader), header_(reader.header()) {
    const std::size_t line = reader.header_line();
    table.header_line = line;
    std::vector<std::string>& units = columns_.units;
    for (const TableField& field : header_) {
      auto [name, unit] = split_unit(field.text);
      if (std::find(columns_.names.begin(), columns_.names.end(), name) != columns_.names.end())
        throw refusal(table.source, line, field.column, fmt::format("column '{}' twice", name));
      columns_.names.push_back(name);
      columns_.full.push_back(field.text);
      units.push_back(unit);
    }
    columns_.taken.assign(header_.size(), false);
    x_ = columns_.take(format.x_name);
    const bool named = x_.has_value();
    if (!x_) x_ = take_usual_x();
    table.has_x = x_.has_value();
    if (x_) table.x_unit = units[*x_];
    require_x();
    series_ = columns_.take("series");
    if (format.kind == TableKind::theory) {
      find_theory();
    } else {
      find_simulation();
    }
    require_unit_of_values();
    leave_out_extremes();
    for (std::size_t k = 0; k < header_.size(); ++k) {
      if (!columns_.taken[k]) coordinates_.push_back(k);
      if (columns_.taken[k]) table.other_columns.push_back(columns_.names[k]);
    }
    std::sort(coordinates_.begin(), coordinates_.end(), [&](std::size_t a, std::size_t b) {
      return columns_.names[a] < columns_.names[b];
    });
    for (const std::size_t k : coordinates_) {
      if (header_[k].text.find('[') != std::string::npos && columns_.names[k] == header_[k].text) {
        throw refusal(table.source,
                      line,
                      header_[k].column,
                      fmt::format("column '{}': expected NAME or NAME [UNIT]", header_[k].text));
      }
      table.coordinates.push_back(columns_.names[k]);
      table.coordinate_at.push_back(header_[k].column);
      table.coordinate_units.push_back(units[k]);
    }
    // A name that was mistyped leaves the column that was meant among the coordinates.
    if (x_ && !named && !coordinates_.empty())
      table.remarks.push_back(no_column_of_x(table.source, format.x_name));
  }

  void add(const Fields& fields, std::size_t line) {
    TableRow row{.line = line};
    if (series_) row.series = name(fields[*series_], line);
    for (const std::size_t k : coordinates_) {
      const std::string& text = fields[k].text;
      if (text.empty()) continue;  // a curve that has no such coordinate
      const std::optional<double> value = read_number(text);
      if (value ? !std::isfinite(*value) : is_above_doubles(text))
        throw not_a_number(fields, k, line, "a finite number");
      require_exact(fields, k, line);
      row.point.emplace_back(columns_.names[k],
                             value ? CoordinateValue(*value) : CoordinateValue(text));
    }
    if (x_) row.x = finite(fields, *x_, line);
    if (format_.kind == TableKind::theory) {
      row.value = value_of(fields, values_.front(), line);
      if (finite_size_) row.finite_size = allowance(fields, *finite_size_, line);
      if (numerical_error_) row.numerical_error = allowance(fields, *numerical_error_, line);
      if (compared_) row.compared = flag(fields, *compared_, line);
      if (replicate_) row.replicate = count(fields, *replicate_, line);
      table_.rows.push_back(std::move(row));
      return;
    }
    if (table_.summary) {
      row.value = observed(fields, values_.front(), line);
      row.value_column = fields[values_.front()].column;
      row.n = n_ ? replicates(fields, line) : *n_given_;
      row.sem = error_of_mean(fields, row, line);
      table_.rows.push_back(std::move(row));
      return;
    }
    if (replicate_) row.replicate = count(fields, *replicate_, line);
    for (std::size_t k = 0; k < values_.size(); ++k) {
      if (values_.size() > 1) row.replicate = k;
      row.value = observed(fields, values_[k], line);
      row.value_column = fields[values_[k]].column;
      table_.rows.push_back(row);
    }
  }

 private:
  /// The column x, which stands for one of another name, but for no formula.
  std::optional<std::size_t> take_usual_x() {
    const auto at = columns_.take("x");
    if (!at || format_.x_name.find_first_of("()^*/+") == std::string::npos) return at;
    throw refusal(table_.source,
                  reader_.header_line(),
                  header_[*at].column,
                  fmt::format("no column '{}', which is no name of one; expected x, or a column "
                              "with these values",
                              format_.x_name));
  }

  /// Refuses the header for a column that it lacks.
  Error missing(const std::string& name, const std::string& what) const {
    std::string hint = reader_.layout_hint();
    if (const auto other = columns_.alike(name)) {
      hint = fmt::format("; did you mean '{}'? {}", *other, how_to_name(name, *other));
    } else if (x_ && (columns_.names[*x_] == name || columns_.full[*x_] == name)) {
      hint = fmt::format("; '{}' is x here{}",
                         name,
                         name == "n" ? ": call that of the replicates 'replicates', or say their "
                                       "number with --n N (simulation.n)"
                                     : "");
    } else if (name == "value" && hint.empty()) {
      // A table of two columns, or of x, replicate and one more.
      std::vector<std::string> free;
      for (std::size_t k = 0; k < columns_.names.size(); ++k) {
        if (k != x_ && k != replicate_) free.push_back(columns_.full[k]);
      }
      if (free.size() == 1 && columns_.names.size() > 1)
        hint =
            fmt::format("; did you mean '{}'? {}", free.front(), how_to_name(name, free.front()));
    }
    return refusal(
        table_.source,
        reader_.header_line(),
        header_.back().column,
        fmt::format(
            "missing column {}; the columns are {}{}", what, fmt::join(columns_.full, ", "), hint));
  }

  /// The option that gives a column its meaning; a theory's values have none, since --value names
  /// those of the simulation.
  std::string how_to_name(const std::string& name, const std::string& other) const {
    if (format_.kind == TableKind::theory && name == "value") return "Call it 'value'";
    for (const auto& [column, option] : {std::pair("x", "--x"),
                                         std::pair("value", "--value"),
                                         std::pair("mean", "--value"),
                                         std::pair("replicate", "--replicate"),
                                         std::pair("sd", "--sd"),
                                         std::pair("n", "--n")}) {
      if (name == column) return fmt::format("{} '{}'", option, other);
    }
    return "Names are read as they are written";
  }

  /// @param option that named it, for the message
  std::size_t named(const std::string& name, const std::string& option) {
    const auto at = columns_.take(name);
    if (at) return *at;
    const bool is_x = x_ && (columns_.names[*x_] == name || columns_.full[*x_] == name);
    throw missing(name,
                  fmt::format("'{}', which {} names{}", name, option, is_x ? " as well" : ""));
  }

  /// Replicates in columns of their own, errors and tolerances have the unit of the values, as far
  /// as units are stated: none is converted.
  void require_unit_of_values() {
    std::vector<std::size_t> together = values_;
    for (const auto& column : {sem_, sd_, finite_size_, numerical_error_}) {
      if (column) together.push_back(*column);
    }
    std::optional<std::size_t> stated;
    for (const std::size_t k : together) {
      if (columns_.units[k].empty()) continue;
      if (!stated) stated = k;
      if (columns_.units[k] == columns_.units[*stated]) continue;
      throw refusal(table_.source,
                    reader_.header_line(),
                    header_[k].column,
                    fmt::format("column '{}' in [{}], but '{}' in [{}]; expected one unit",
                                columns_.names[k],
                                columns_.units[k],
                                columns_.names[*stated],
                                columns_.units[*stated]));
    }
    if (stated) table_.value_unit = columns_.units[*stated];
  }

  void find_theory() {
    finite_size_ = columns_.take("finite_size");
    numerical_error_ = columns_.take("numerical_error");
    compared_ = columns_.take("compared");
    const auto& wanted = format_.columns.values;
    auto value = wanted.size() == 1 ? columns_.take(wanted.front()) : std::nullopt;
    if (!value) value = columns_.take("value");
    if (!value) {
      throw missing(
          "value", wanted.size() == 1 ? fmt::format("'{}' or 'value'", wanted.front()) : "'value'");
    }
    values_ = {*value};
    const std::string& replicate = format_.columns.replicate;
    if (!replicate.empty()) replicate_ = columns_.take(replicate);
    if (!replicate_) replicate_ = columns_.take("replicate");
    table_.replicated = replicate_.has_value();
  }

  void find_simulation() {
    const TableColumns& given = format_.columns;
    for (const std::string& value : given.values) {
      if (std::ranges::count(given.values, value) > 1)
        throw invalid_parameter("--value", value, "each column once");
      values_.push_back(named(value, "--value"));
    }
    if (!given.replicate.empty()) replicate_ = named(given.replicate, "--replicate");
    if (!given.sd.empty()) sd_ = named(given.sd, "--sd");
    if (sd_) remark_on_deviation(*sd_);
    find_count(given.n);
    if (values_.size() > 1) {
      if (sd_ || n_ || n_given_ || replicate_ || columns_.find("replicate")) {
        throw refusal(table_.source,
                      reader_.header_line(),
                      1,
                      "several columns --value are a replicate each; expected neither a column "
                      "'replicate' nor --sd, --n or --replicate with them");
      }
      return;
    }
    // A mean has an error; a value has replicates.
    const bool of_replicates =
        replicate_ ||
        (!sd_ && (columns_.find("replicate") || format_.kind == TableKind::one_replicate));
    const bool error = sd_ || columns_.find("sem") || columns_.find("sd");
    const bool mean = !values_.empty() || columns_.find("mean");
    const bool plain = values_.empty() && columns_.find("value").has_value();
    const bool wanted = sd_ || n_given_ || !given.n.empty();
    if (wanted || (mean && error && !(of_replicates && (plain || !values_.empty())) && !plain)) {
      find_summary();
      return;
    }
    if (values_.empty()) {
      const auto value = columns_.take("value");
      if (!value) {
        if (columns_.find("mean") && !error)
          throw missing("sem",
                        "'sem' (standard error of the mean) or 'sd' (of replicates; --sd NAME)");
        throw missing("value",
                      "'value' (or 'mean', 'sem' and 'n'; --value NAME where it has another name)");
      }
      values_ = {*value};
    }
    if (!replicate_) replicate_ = columns_.take("replicate");
    if (!replicate_ && format_.kind == TableKind::replicates) {
      throw missing(
          "replicate",
          "'replicate' (--replicate NAME where it has another name; or 'mean', 'sem' and 'n' in "
          "place of 'value'; or --value NAME for each of several columns that are a replicate "
          "each)");
    }
  }

  /// Says so where --sd names a column whose own name is that of another measure of spread.
  void remark_on_deviation(std::size_t column) {
    static const std::set<std::string> kOthers = {"var",
                                                  "variance",
                                                  "sem",
                                                  "se",
                                                  "stderr",
                                                  "std_err",
                                                  "std_error",
                                                  "standard_error",
                                                  "ci",
                                                  "ci95",
                                                  "iqr",
                                                  "mad"};
    if (!kOthers.contains(lower_case(columns_.names[column]))) return;
    table_.remarks.push_back(
        fmt::format("{}: column '{}' is read as the standard deviation of the replicates, which "
                    "--sd names; a standard error has the name 'sem'",
                    table_.source,
                    columns_.names[column]));
  }

  void find_count(const std::string& given) {
    if (given.empty()) return;
    if (given == "unknown") {
      n_given_ = kUnknownReplicates;
      table_.remarks.push_back(fmt::format(
          "{}: the number of replicates is unknown: {} are assumed, the weakest reading "
          "(Student's t with one degree of freedom)",
          table_.source,
          kUnknownReplicates));
      return;
    }
    const auto number = read_number(given);
    if (!number || columns_.find(given)) {
      n_ = named(given, "--n");
      return;
    }
    if (!is_replicates(*number))
      throw invalid_parameter("--n", given, "a number of replicates from 2 to 1000000, or unknown");
    n_given_ = static_cast<std::size_t>(*number);
  }

  void find_summary() {
    if (values_.empty()) {
      const auto mean = columns_.find("mean") ? columns_.take("mean") : columns_.take("value");
      if (!mean) throw missing("mean", "'mean' (--value NAME where it has another name)");
      values_ = {*mean};
    }
    if (!sd_) sem_ = columns_.take("sem");
    if (!sd_ && !sem_) sd_ = columns_.take("sd");
    if (!sd_ && !sem_)
      throw missing("sem", "'sem' (standard error of the mean) or 'sd' (of replicates; --sd NAME)");
    for (const char* spare : {"sem", "sd"}) {
      if (columns_.take(spare)) {
        table_.remarks.push_back(
            fmt::format("{}: column '{}' is left out: another one gives the error of the mean",
                        table_.source,
                        spare));
      }
    }
    if (!n_ && !n_given_) n_ = columns_.take("n");
    if (!n_ && !n_given_) n_ = columns_.take("replicates");
    if (!n_ && !n_given_) {
      throw missing(
          "n",
          "with the number of replicates, 'n' or 'replicates' (--n N where it is the same "
          "for all, --n unknown where nobody knows)");
    }
    table_.summary = true;
  }

  void require_x() const {
    if (x_ || !format_.x_required) return;
    throw missing(format_.x_name,
                  format_.x_name == "x"
                      ? "'x' (--x NAME, or x = \"NAME\", where it has another name)"
                      : fmt::format("'{}'", format_.x_name));
  }

  /// What Weights & Biases exports with each column, the least and the largest of several steps.
  void leave_out_extremes() {
    std::vector<std::string> left;
    for (const std::size_t value : values_) {
      for (const char* end : {"__MIN", "__MAX"}) {
        const std::string name = columns_.full[value] + end;
        if (columns_.take(name)) left.push_back(name);
      }
    }
    if (x_) {
      for (const char* end : {"__MIN", "__MAX"}) {
        const std::string name = columns_.full[*x_] + end;
        if (columns_.take(name)) left.push_back(name);
      }
    }
    if (!left.empty())
      table_.remarks.push_back(
          fmt::format("{}: columns left out: {}", table_.source, fmt::join(left, ", ")));
  }

  Error not_a_number(const Fields& fields,
                     std::size_t k,
                     std::size_t line,
                     const std::string& expected) const {
    const std::string& text = fields[k].text;
    std::string hint = number_hint(text);
    if (hint.empty() && reader_.blank_before() != 0)
      hint = "; does a second table begin here? Expected one table a file";
    return refusal(
        table_.source,
        line,
        fields[k].column,
        fmt::format("{} = '{}': expected {}{}", columns_.names[k], text, expected, hint));
  }

  /// A name of digits may be longer than a double is exact: two of them would be one coordinate, or
  /// one x.
  void require_exact(const Fields& fields, std::size_t k, std::size_t line) const {
    constexpr std::size_t kExact = 15;  // digits that every double has
    std::string_view text = fields[k].text;
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    if (text.size() <= kExact || text.find_first_not_of("0123456789") != std::string_view::npos)
      return;
    text.remove_prefix(std::min(text.find_first_not_of('0'), text.size() - 1));
    if (fmt::format("{:.0f}", *read_number(text)) == text) return;
    throw not_a_number(
        fields,
        k,
        line,
        k == x_
            ? "a whole number that a double holds, as all up to 2^53: take the first one off all"
            : "a text, or a whole number that a double holds, as all up to 2^53: number these "
              "from 0, or begin them with a letter");
  }

  double finite(const Fields& fields, std::size_t k, std::size_t line) const {
    const std::optional<double> value = read_number(fields[k].text);
    if (!value || !std::isfinite(*value)) throw not_a_number(fields, k, line, "a finite number");
    if (k == x_) require_exact(fields, k, line);
    return *value;
  }

  double value_of(const Fields& fields, std::size_t k, std::size_t line) const {
    const std::string& text = fields[k].text;
    if (is_missing(text)) return kMissing;
    const std::optional<double> value = read_number(text);
    if (!value) {
      const bool word = text.find_first_of("0123456789") == std::string::npos;
      throw not_a_number(fields, k, line, word ? "a number, nan or nothing" : "a number");
    }
    return *value;
  }

  /// An observation: a replicate that failed has none.
  double observed(const Fields& fields, std::size_t k, std::size_t line) const {
    const double value = value_of(fields, k, line);
    return std::isfinite(value) || format_.infinite ? value : kMissing;
  }

  static bool is_replicates(double n) {
    constexpr double kMost = 1000000;
    return n >= 2 && n <= kMost && std::floor(n) == n;
  }

  std::size_t replicates(const Fields& fields, std::size_t line) const {
    const double n = finite(fields, *n_, line);
    // What was not measured at all is a point whose replicates failed.
    if ((n == 0 || n == 1) && std::isnan(value_of(fields, values_.front(), line)))
      return static_cast<std::size_t>(std::max(n, 1.0));
    if (!is_replicates(n)) {
      throw not_a_number(fields,
                         *n_,
                         line,
                         n == 1
                             ? "a number of replicates from 2 to 1000000; one has no standard error"
                             : "a number of replicates from 2 to 1000000");
    }
    return static_cast<std::size_t>(n);
  }

  double error_of_mean(const Fields& fields, const TableRow& row, std::size_t line) const {
    const std::size_t k = sem_ ? *sem_ : *sd_;
    if (!std::isfinite(row.value)) return 0;
    const double error = value_of(fields, k, line);
    if (!std::isfinite(error) || error < 0) throw not_a_number(fields, k, line, "a number >= 0");
    return sem_ ? error : error / std::sqrt(static_cast<double>(row.n));
  }

  double allowance(const Fields& fields, std::size_t k, std::size_t line) const {
    if (is_missing(fields[k].text)) return 0;
    const double value = finite(fields, k, line);
    if (value < 0) throw not_a_number(fields, k, line, "a number >= 0");
    return value;
  }

  std::uint64_t count(const Fields& fields, std::size_t k, std::size_t line) const {
    const std::optional<double> value = read_number(fields[k].text);
    if (value && *value >= 0 && *value <= 0x1p53 && std::floor(*value) == *value)
      return static_cast<std::uint64_t>(*value);
    const bool named = !fields[k].text.empty() && (!value || *value > 0x1p53);
    throw not_a_number(fields,
                       k,
                       line,
                       "a whole number from 0 to 2^53" +
                           (named ? fmt::format(" (pandas numbers names: D['{}'].factorize()[0])",
                                                columns_.full[k])
                                  : std::string()));
  }

  bool flag(const Fields& fields, std::size_t k, std::size_t line) const {
    std::string text = fields[k].text;
    std::transform(text.begin(), text.end(), text.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    const auto number = read_number(text);  // 1.0, as pandas writes a column with gaps
    if (text == "true" || text == "yes" || text.empty() || number == 1) return true;
    if (text == "false" || text == "no" || number == 0) return false;
    throw not_a_number(fields, k, line, "true or false");
  }

  std::string name(const TableField& field, std::size_t line) const {
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
  const TableFormat& format_;
  const TableReader& reader_;
  const Fields& header_;
  Columns columns_;
  std::vector<std::size_t> coordinates_;
  std::vector<std::size_t> values_;
  std::optional<std::size_t> x_, series_, finite_size_, numerical_error_, compared_, replicate_,
      sem_, sd_, n_;
  std::optional<std::size_t> n_given_;
};

/// Numbers a curve by its series and point, and an x by its place on it; a number that differs from
/// an earlier one by rounding is that one.
class KnownPlaces {
 public:
  std::size_t curve(const TableRow& row) {
    // Rows of one curve stand together, as a rule.
    if (last_ != nullptr && last_->series == row.series && last_->point == row.point)
      return last_curve_;
    const auto [at, fresh] =
        index_.try_emplace(row.series + '\x1f' + describe(row.point), xs_.size());
    if (fresh) xs_.emplace_back();
    last_ = &row;
    return last_curve_ = at->second;
  }
  double x(std::size_t curve, double value) {
    std::map<double, char>& known = xs_[curve];
    constexpr double kReach = 1e-9;
    const double reach = kReach * std::abs(value);
    // Rows in rising order of x need no search.
    if (known.empty() || known.rbegin()->first < value - reach) {
      known.emplace_hint(known.end(), value, 0);
      return value;
    }
    for (auto at = known.lower_bound(value - reach);
         at != known.end() && at->first <= value + reach;
         ++at) {
      if (same_within_rounding(at->first, value)) return at->first;
    }
    known.emplace(value, 0);
    return value;
  }

 private:
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<std::map<double, char>> xs_;
  const TableRow* last_ = nullptr;  ///< of `curve`: rows stay where they are
  std::size_t last_curve_ = 0;
};

/// A number of a curve, and an x on it.
using CurveAndX = std::pair<std::size_t, double>;
struct HashOfPlace {
  std::size_t operator()(const CurveAndX& place) const {
    return std::hash<double>()(place.second) ^ (place.first * 0x9e3779b97f4a7c15U);
  }
};

std::string where(const TableRow& row, const std::string& x_name) {
  Point place = row.point;
  if (x_name != "none") place.emplace_back(x_name, row.x);
  return fmt::format("series '{}' at {}", row.series, describe(place));
}

/// n values of that mean and standard error; their spread is symmetric, so that no guard acts on
/// them.
double stand_in(const TableRow& row, std::size_t k) {
  if (!std::isfinite(row.value)) return kMissing;
  const auto n = static_cast<double>(row.n);
  if (row.n % 2 == 1 && k + 1 == row.n) return row.value;
  const double away = row.sem * std::sqrt(row.n % 2 == 1 ? n : n - 1);
  return row.value + (k % 2 == 0 ? away : -away);
}

/// What to say of a table whose coordinates have another value at every x: no curve has two points.
/// So are a wall time, an epoch or another metric that is logged with x.
std::string lone_points(const OutsideTable& table) {
  constexpr std::size_t kFewest = 3;
  if (!table.has_x || table.coordinates.empty()) return {};
  std::map<double, std::string> point_at;
  std::set<std::string> points;
  for (const TableRow& row : table.rows) {
    if (std::isnan(row.value)) continue;  // of another metric, logged in rows of its own
    std::string point = row.series + '\x1f' + describe(row.point);
    const auto [at, fresh] = point_at.try_emplace(row.x, point);
    if (!fresh && at->second != point) return {};
    points.insert(std::move(point));
  }
  if (points.size() < kFewest || points.size() != point_at.size()) return {};
  return fmt::format(
      "{}: every x has values of its own in column{} {}, which count as coordinates: no curve has "
      "two points. Take out what is logged with x (a wall time, an epoch, another metric)",
      table.source,
      table.coordinates.size() == 1 ? "" : "s",
      fmt::join(table.coordinates, ", "));
}

}  // namespace

std::string no_column_of_x(const std::string& source, const std::string& name) {
  return fmt::format("{}: no column '{}': column 'x' is taken for it", source, name);
}

OutsideTable read_table(std::string_view text,
                        const std::string& source,
                        const TableFormat& format) {
  OutsideTable table{.source = source, .coordinates = {}, .coordinate_at = {}, .rows = {}};
  TableReader reader(text, source, TableNames::required);
  RowReader rows(table, format, reader);
  while (reader.next()) rows.add(reader.row(), reader.line());
  table.remarks.insert(table.remarks.end(), reader.remarks().begin(), reader.remarks().end());
  if (table.rows.empty()) {
    throw refusal(source, table.header_line, 1, "a header without rows, expected at least one");
  }
  if (const std::string said = lone_points(table); !said.empty()) table.remarks.push_back(said);
  return table;
}

std::shared_ptr<const OutsideTable> table_of_file(InputFiles& files,
                                                  const std::filesystem::path& path,
                                                  const std::string& source,
                                                  const TableFormat& format) {
  const std::string made_of = fmt::format("{}\n{}\n{} {} {} {}\n{}\n{}\n{}\n{}",
                                          path.string(),
                                          source,
                                          static_cast<int>(format.kind),
                                          format.x_name,
                                          format.x_required,
                                          format.infinite,
                                          fmt::join(format.columns.values, "\t"),
                                          format.columns.replicate,
                                          format.columns.sd,
                                          format.columns.n);
  return files.parsed<OutsideTable>(made_of, [&] {
    const std::shared_ptr<const std::string> bytes = files.bytes(path);
    if (!bytes)
      throw Error(ErrorKind::input, fmt::format("cannot read '{}': expected a table", source));
    return read_table(*bytes, source, format);
  });
}

std::vector<std::string> column_names(std::string_view text, const std::string& source) {
  const TableReader reader(text, source, TableNames::required);
  std::vector<std::string> names;
  for (const TableField& field : reader.header()) names.push_back(split_unit(field.text).first);
  return names;
}

bool is_simulation(const std::vector<std::string>& names, const TableColumns& columns) {
  const auto has = [&](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  return has("replicate") || has("mean") || columns.values.size() > 1 ||
         !columns.replicate.empty() || !columns.sd.empty() || !columns.n.empty();
}

namespace {

/// Whether a column that --n left over has the name of the number of replicates.
bool counts_replicates(const OutsideTable& table, std::size_t coordinate) {
  const std::string& name = table.coordinates[coordinate];
  return table.summary && (name == "n" || name == "replicates");
}

}  // namespace

void require_same_columns(const OutsideTable& theory, const OutsideTable& simulation) {
  const auto check = [](const OutsideTable& one, const OutsideTable& other) {
    for (std::size_t k = 0; k < one.coordinates.size(); ++k) {
      if (std::find(other.coordinates.begin(), other.coordinates.end(), one.coordinates[k]) ==
          other.coordinates.end()) {
        throw refusal(one.source,
                      one.header_line,
                      one.coordinate_at[k],
                      fmt::format("column '{}' is not in '{}': a coordinate of the points must "
                                  "occur in both{}",
                                  one.coordinates[k],
                                  other.source,
                                  counts_replicates(one, k)
                                      ? "; if it is the number of replicates, leave out --n"
                                      : ""));
      }
    }
  };
  check(theory, simulation);
  check(simulation, theory);
  require_same_units(theory, simulation);
}

void require_same_units(const OutsideTable& theory, const OutsideTable& simulation) {
  const auto units = [&](const std::string& what, const std::string& a, const std::string& b) {
    if (a.empty() || b.empty() || a == b) return;
    throw refusal(simulation.source,
                  simulation.header_line,
                  1,
                  fmt::format("{} in [{}], but in [{}] in '{}'", what, b, a, theory.source));
  };
  units("x", theory.x_unit, simulation.x_unit);
  units("values", theory.value_unit, simulation.value_unit);
  for (std::size_t k = 0; k < theory.coordinates.size(); ++k) {
    const std::string& name = theory.coordinates[k];
    const auto there = std::ranges::find(simulation.coordinates, name);
    if (there == simulation.coordinates.end()) continue;
    units(fmt::format("'{}'", name),
          theory.coordinate_units[k],
          simulation
              .coordinate_units[static_cast<std::size_t>(there - simulation.coordinates.begin())]);
  }
}

namespace {

void leave_out_coordinate(OutsideTable& table, std::ptrdiff_t k) {
  table.coordinates.erase(table.coordinates.begin() + k);
  table.coordinate_at.erase(table.coordinate_at.begin() + k);
  table.coordinate_units.erase(table.coordinate_units.begin() + k);
}

}  // namespace

void keep_rows(OutsideTable& table, const std::string& column, const CoordinateValue& value) {
  const auto at = std::find(table.coordinates.begin(), table.coordinates.end(), column);
  if (at == table.coordinates.end()) return;
  leave_out_coordinate(table, at - table.coordinates.begin());
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
  leave_out_coordinate(table, at - table.coordinates.begin());
  table.other_columns.push_back(column);
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
    const double x = table.replicated ? places.x(k, row.x) : row.x;
    const auto [first, fresh] = seen[k].try_emplace(x, row.line);
    if (!fresh && table.replicated) continue;  // the mean is put in below
    if (!fresh) {
      throw refusal(table.source,
                    row.line,
                    1,
                    fmt::format("{} stands in line {} already", where(row, x_of), first->second));
    }
    Prediction& curve = curves[k];
    curve.series.x.push_back(x);
    // What has no value is left out by who records a theory, as what diverges.
    curve.series.y.push_back(std::isfinite(row.value) ? row.value
                                                      : std::numeric_limits<double>::infinity());
    curve.finite_size.push_back(row.finite_size);
    curve.numerical_error.push_back(row.numerical_error);
    curve.compared.push_back(row.compared);
  }
  if (!table.replicated) return curves;
  std::map<std::string, double> means;
  for (const auto& [place, values] : theory_replicates(table, x_name)) {
    const SampleSummary sample = summarise(values);
    means[place] = sample.n > 0 ? sample.mean : std::numeric_limits<double>::infinity();
  }
  for (Prediction& curve : curves) {
    const Series& s = curve.series;
    for (std::size_t j = 0; j < s.x.size(); ++j)
      curve.series.y[j] = means.at(place_of(s.name, s.point, x_of, s.x[j]));
  }
  return curves;
}

std::string place_of(const std::string& series,
                     const Point& point,
                     const std::string& x_name,
                     double x) {
  return series + " at " + describe(joined(point, {{x_name, x}}));
}

std::vector<std::pair<std::string, std::vector<double>>> theory_replicates(
    const OutsideTable& table, const std::string& x_name) {
  const std::string x_of = table.has_x ? x_name : "none";
  std::map<std::string, std::map<std::uint64_t, double>> by_place;
  std::vector<std::string> order;
  KnownPlaces places;
  for (const TableRow& row : table.rows) {
    const double x = places.x(places.curve(row), row.x);
    const auto [at, fresh] = by_place.try_emplace(place_of(row.series, row.point, x_of, x));
    if (fresh) order.push_back(at->first);
    if (!at->second.emplace(row.replicate, row.value).second) {
      throw refusal(
          table.source,
          row.line,
          1,
          fmt::format("{}, replicate {}, stands there already", at->first, row.replicate));
    }
  }
  std::vector<std::pair<std::string, std::vector<double>>> all;
  for (const std::string& place : order) {
    auto& values = all.emplace_back(place, std::vector<double>()).second;
    for (const auto& [replicate, value] : by_place.at(place)) values.push_back(value);
  }
  return all;
}

void add_theory_replicates(TheoryResult& result,
                           const OutsideTable& table,
                           const std::string& x_name) {
  if (!table.replicated) return;
  auto at = std::ranges::find(result.diagnostics, kTheoryReplicates, &Table::value_type::first);
  if (at == result.diagnostics.end())
    at = result.diagnostics.emplace(at, kTheoryReplicates, Value(Table{}));
  for (auto& [place, values] : theory_replicates(table, x_name))
    std::get<Table>(at->second).emplace_back(place, Value(values));
}

RecordedOutcomes recorded_outcomes(const OutsideTable& table, const std::string& x_name) {
  const std::string x_of = table.has_x ? x_name : "none";
  RecordedOutcomes result;
  std::map<std::uint64_t, std::size_t> order;
  std::size_t most = 0;
  for (const TableRow& row : table.rows) {
    if (!table.summary) order.emplace(row.replicate, 0);
    most = std::max(most, row.n);
  }
  for (std::size_t k = 0; table.summary && k < most; ++k) result.names.push_back(k);
  for (auto& [name, index] : order) {
    index = result.names.size();
    result.names.push_back(name);
  }
  result.outcomes.resize(result.names.size());
  // The curves of a replicate, by their number in the table.
  std::vector<std::unordered_map<std::size_t, std::size_t>> own(result.outcomes.size());
  // Rows of a replicate by curve and x; of means, which stand for all of theirs, those of the
  // first.
  std::vector<std::unordered_map<CurveAndX, const TableRow*, HashOfPlace>> seen(
      table.summary ? 1 : result.outcomes.size());
  KnownPlaces places;
  for (const TableRow& row : table.rows) {
    const std::size_t curve = places.curve(row);
    const double x = places.x(curve, row.x);
    const auto require_first = [&](std::size_t r) {
      const auto [first, fresh] = seen[r].try_emplace({curve, x}, &row);
      if (fresh) return;
      const TableRow& before = *first->second;
      const bool empty = std::isnan(row.value) != std::isnan(before.value);
      throw refusal(table.source,
                    row.line,
                    1,
                    fmt::format("{}{} stands in line {} already{}",
                                where(row, x_of),
                                table.summary ? "" : fmt::format(", replicate {},", row.replicate),
                                before.line,
                                empty ? "; one of the two has no value: if another quantity was "
                                        "logged there, leave such rows out (pandas: D.dropna())"
                                      : ""));
    };
    const auto add = [&](std::size_t r, double value) {
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
    const std::size_t replicate = table.summary ? 0 : order.at(row.replicate);
    require_first(replicate);
    if (!table.summary) {
      add(replicate, row.value);
      continue;
    }
    for (std::size_t k = 0; k < row.n; ++k) add(k, stand_in(row, k));
  }
  return result;
}

}  // namespace attica::sources
