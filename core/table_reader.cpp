#include "attica/core/table_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>

#include "attica/core/json_rows.hpp"
#include "attica/core/plain_text.hpp"
#include "attica/core/read_number.hpp"

namespace attica {
namespace {

constexpr char kSpaces = ' ';

std::string_view trimmed_field(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// The beginning of what may be long, without control characters.
std::string shown_field(std::string_view text) {
  constexpr std::size_t kShown = 40;
  std::string shown(text.substr(0, kShown));
  while (shown.size() < text.size() && !shown.empty() &&
         (static_cast<unsigned char>(text[shown.size()]) >> 6) == 0x2)
    shown.pop_back();  // not in the middle of a character
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return shown + (text.size() > kShown ? "..." : "");
}

/// "1st", "2nd", "3rd", "4th".
std::string ordinal(std::size_t n) {
  constexpr std::size_t kTen = 10;
  constexpr std::size_t kHundred = 100;
  const bool teens = n / kTen % kTen == 1;
  const std::size_t last = teens ? 0 : n % kHundred % kTen;
  return fmt::format("{}{}", n, last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th");
}

/// Whether a line is a comment: `#`, but not an error value of a spreadsheet (#N/A, #DIV/0!).
bool is_comment(std::string_view content) {
  if (!content.starts_with('#')) return false;
  for (const std::string_view error :
       {"#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!"}) {
    if (content.starts_with(error)) return false;
  }
  return true;
}

/// The separator that a spreadsheet states in the first line, "sep=;": a tab was trimmed from it.
std::optional<char> stated_separator(std::string_view content) {
  constexpr std::size_t kLength = 5;
  constexpr std::string_view kWord = "sep=";
  if ((content.size() != kLength && content.size() != kWord.size()) ||
      !std::equal(kWord.begin(), kWord.end(), content.begin(), [](char w, char c) {
        return w == (c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
      }))
    return std::nullopt;
  const char separator = content.size() == kLength ? content.back() : '\t';
  return separator == ',' || separator == ';' || separator == '\t' ? std::optional(separator)
                                                                   : std::nullopt;
}

/// What a first line may be that is no header: "; a Markdown table?". Empty: nothing that is known.
std::string other_layout(std::string_view line) {
  const std::string_view content = trimmed_field(line);
  for (const std::string_view mark : {"//", "%", ";", "!"}) {
    if (content.starts_with(mark))
      return fmt::format("; the first line begins with '{}': comments begin with '#'", mark);
  }
  if (content == "---" || content.ends_with(':'))
    return "; a YAML file? Expected CSV, which HEPData offers, too";
  if (content.starts_with('|')) return "; a Markdown table? Expected CSV";
  if (content.find('|') != std::string_view::npos &&
      content.find_first_of(",;	") == std::string_view::npos)
    return "; columns separated by '|'? Expected commas: tr '|' ',' < FILE";
  return {};
}

/// How many fields a line has with a separator, those in quotes being one.
std::size_t count_fields(std::string_view line, char separator) {
  bool quoted = false;
  std::size_t count = 1;
  if (separator != kSpaces) {
    for (const char c : line) {
      if (c == '"') quoted = !quoted;
      if (c == separator && !quoted) ++count;
    }
    return count;
  }
  count = 0;
  bool inside = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    const bool space = !quoted && (c == ' ' || c == '\t');
    if (!space && !inside) ++count;
    inside = !space;
  }
  return count;
}

/// Whether the fields between tabs end with commas: the tabs only align.
bool is_aligned_by(std::string_view line, char separator) {
  std::size_t fields = 0;
  while (true) {
    const auto stop = line.find(separator);
    if (stop == std::string_view::npos) return fields > 0;
    if (!trimmed_field(line.substr(0, stop)).ends_with(',')) return false;
    ++fields;
    line.remove_prefix(stop + 1);
  }
}

/// The separator with which the first line has as many fields as the second.
char separator_of(std::string_view first, std::string_view second) {
  std::optional<char> fitting;
  for (const char candidate : {'\t', ';', ','}) {
    const std::size_t fields = count_fields(first, candidate);
    if (fields < 2) continue;
    if (second.empty() || count_fields(second, candidate) == fields) {
      if (candidate == '\t' && is_aligned_by(first, '\t')) continue;
      fitting = candidate;
      break;
    }
  }
  if (fitting) return *fitting;
  const std::size_t words = count_fields(first, kSpaces);
  const auto one = [&](std::string_view line) {
    return count_fields(line, ',') == 1 || second.empty();
  };
  if (words > 1 && count_fields(second, kSpaces) == words && one(first)) return kSpaces;
  if (words > 1 && second.empty() && count_fields(first, ',') == 1 &&
      first.find_first_not_of("+-0123456789.eE \t") == std::string_view::npos)
    return kSpaces;  // a single row of numbers
  // Nothing fits: by the first line alone, and the row is refused.
  for (const char candidate : {'\t', ';', ','}) {
    if (count_fields(first, candidate) > 1) return candidate;
  }
  return words > 1 && count_fields(second, kSpaces) > 1 ? kSpaces : ',';
}

bool all_numbers(const std::vector<TableField>& fields) {
  return std::all_of(fields.begin(), fields.end(), [](const TableField& f) {
    return read_number(f.text).has_value();
  });
}

/// Whether fields count the columns: 0, 1, 2.
bool counts_columns(const std::vector<TableField>& fields) {
  for (std::size_t k = 0; k < fields.size(); ++k) {
    if (fields[k].text != std::to_string(k)) return false;
  }
  return fields.size() > 1;
}

/// Whether fields are whole numbers from 0 to their count - 1, as a permutation's are.
bool are_places(const std::vector<TableField>& fields) {
  return std::all_of(fields.begin(), fields.end(), [&](const TableField& f) {
    const auto value = read_number(f.text);
    return value && *value >= 0 && *value < static_cast<double>(fields.size()) &&
           std::floor(*value) == *value;
  });
}

/// A whole number that is written as one: 12, and not 12.0 or 1e3.
bool is_written_whole(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// What a name may begin or end with that cannot be seen.
std::string_view invisible_end(std::string_view name) {
  struct Invisible {
    std::string_view bytes;
    std::string_view shown;
  };
  static constexpr auto kInvisible = std::to_array<Invisible>({{"\xC2\xA0", "U+00A0"},
                                                               {"\xE2\x80\x8B", "U+200B"},
                                                               {"\xE2\x80\x8E", "U+200E"},
                                                               {"\xE2\x80\xAF", "U+202F"},
                                                               {"\xE3\x80\x80", "U+3000"},
                                                               {"\xEF\xBB\xBF", "U+FEFF"}});
  for (const Invisible& one : kInvisible) {
    if (name.starts_with(one.bytes) || name.ends_with(one.bytes)) return one.shown;
  }
  return {};
}

/// Whether fields are different whole numbers, as names of columns may be and most rows are not; of
/// a single column, the 0 that pandas writes above an array.
bool are_different_integers(const std::vector<TableField>& fields) {
  std::set<double> values;
  for (const TableField& field : fields) {
    const auto value = read_number(field.text);
    if (!value || std::floor(*value) != *value || !std::isfinite(*value) ||
        !values.insert(*value).second)
      return false;
  }
  return fields.size() > 1 || fields.front().text == "0";
}

/// Whether a field of a single column is written with the digits of a double.
bool has_many_digits(const std::vector<TableField>& fields) {
  constexpr std::size_t kMany = 9;
  return fields.size() > 1 || fields.front().text.size() >= kMany;
}

/// Whether numbers that are not all whole rise in equal steps or by equal factors, as names of
/// columns may (0.1, 0.2, 0.3; 0.01, 0.1, 1) and a measured row does not.
bool are_even_steps(const std::vector<TableField>& fields) {
  constexpr std::size_t kFewest = 3;
  constexpr double kEqual = 1e-9;
  if (fields.size() < kFewest) return false;
  std::vector<double> values;
  for (const TableField& field : fields) values.push_back(*read_number(field.text));
  const double step = values[1] - values[0];
  const double factor = values[0] > 0 ? values[1] / values[0] : 0;
  if (!std::isfinite(values.back()) || !(step > 0)) return false;
  bool sum = true;
  bool product = factor > 1;
  for (std::size_t k = 1; k < values.size(); ++k) {
    const double size = kEqual * std::abs(values[k]);
    sum = sum && std::abs(values[k] - values[k - 1] - step) <= size;
    product = product && std::abs(values[k] - values[k - 1] * factor) <= size;
  }
  return (sum || product) &&
         std::ranges::any_of(values, [](double v) { return v != std::floor(v); });
}

}  // namespace

/// Rows that were read at once.
struct TableReader::Json {
  JsonRows rows;
  std::size_t next = 0;
};

TableReader::TableReader(std::string_view bytes, std::string source, TableNames names)
    : source_(std::move(source)), text_(plain_text(bytes, source_)), rest_(text_) {
  const auto first = text_.find_first_not_of(" \t\r\n");
  if (first == std::string::npos)
    throw refusal(1, 1, "nothing, expected a header and rows, or JSON");
  if (text_[first] == '[' || text_[first] == '{') {
    begin_json();
    if (header_.empty() && names == TableNames::required) {
      throw refusal(
          1,
          1,
          "a row that is no object; expected {\"x\": ..., ...} (TensorBoard's JSON has no "
          "names: take its CSV)");
    }
  } else {
    begin_text(names);
  }
  check_header();
}

TableReader::~TableReader() = default;

Error TableReader::refusal(std::size_t line, std::size_t column, const std::string& what) const {
  return {ErrorKind::input, fmt::format("{}:{}:{}: error: {}", source_, line, column, what)};
}

bool TableReader::next_line(std::string_view& line) {
  if (rest_.empty()) return false;
  const auto stop = std::min(rest_.find_first_of("\r\n"), rest_.size());
  line = rest_.substr(0, stop);
  const std::size_t end = rest_.substr(stop).starts_with("\r\n") ? 2 : 1;
  rest_.remove_prefix(std::min(stop + end, rest_.size()));
  ++at_line_;
  return true;
}

/// Goes to the next line that is neither blank nor a comment and splits it.
bool TableReader::next_record() {
  std::string_view line;
  while (next_line(line)) {
    const std::string_view content = trimmed_field(line);
    if (at_line_ == stated_line_) continue;
    if (content.empty()) {
      if (blank_ == 0) blank_ = at_line_;
      ++blanks_;
      continue;
    }
    if (is_comment(content)) {
      if (rows_ > 0 && header_line_ == named_comment_ && content == names_)
        throw refusal(
            at_line_, 1, "the header again: two tables in one file? Expected one table a file");
      if (rows_ > 0) refuse_other_header(content);
      comment_ = content;
      comment_line_ = at_line_;
      look_for_row(content);
      if (remarked_ == 0) remarked_ = at_line_;
      continue;
    }
    split(line, row_);
    line_ = at_line_;
    // Below their tables spreadsheets write rows without anything in them.
    if (row_.size() > 1 &&
        std::all_of(row_.begin(), row_.end(), [](const TableField& f) { return f.text.empty(); })) {
      if (blank_ == 0) blank_ = at_line_;
      continue;
    }
    return true;
  }
  return false;
}

void TableReader::split(std::string_view line, std::vector<TableField>& into) const {
  const bool spaces = separator_ == kSpaces;
  const auto is_space = [&](char c) { return c == ' ' || (c == '\t' && separator_ != '\t'); };
  std::size_t count = 0;
  std::size_t k = 0;
  const auto ends = [&](char c) { return spaces ? is_space(c) : c == separator_; };
  while (true) {
    while (k < line.size() && is_space(line[k])) ++k;
    if (spaces && k >= line.size()) break;
    if (count == into.size()) into.emplace_back();
    TableField& field = into[count++];
    field.text.clear();
    field.column = k + 1;
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
      const std::string inside(trimmed_field(field.text));
      field.text = inside;
      const std::size_t behind = k;
      while (k < line.size() && is_space(line[k])) ++k;
      if (!closed || (k < line.size() && !ends(line[k]) && !(spaces && k > behind))) {
        throw refusal(at_line_,
                      field.column,
                      closed ? "text after a quoted field" : "a quote that is not closed");
      }
    } else {
      std::size_t stop = k;
      while (stop < line.size() && !ends(line[stop])) ++stop;
      const std::string_view text = trimmed_field(line.substr(k, stop - k));
      if (text.find('"') != std::string_view::npos)
        throw refusal(at_line_,
                      field.column,
                      fmt::format("a quote inside the field '{}'", shown_field(text)));
      field.text = text;
      k = stop;
    }
    if (k >= line.size()) break;
    if (!spaces) ++k;
  }
  into.resize(count);
}

void TableReader::begin_text(TableNames names) {
  // The first two lines tell the separator.
  const std::string_view all = rest_;
  std::array<std::string_view, 2> lines;
  std::size_t found = 0;
  std::string_view line;
  while (found < lines.size() && next_line(line)) {
    const std::string_view content = trimmed_field(line);
    if (content.empty() || is_comment(content)) continue;
    if (const auto stated = stated_separator(content); stated && found == 0 && stated_line_ == 0) {
      stated_line_ = at_line_;
      separator_ = *stated;
      continue;
    }
    lines[found++] = content;
  }
  first_line_ = lines[0];
  if (stated_line_ == 0) separator_ = separator_of(lines[0], lines[1]);
  rest_ = all;
  at_line_ = 0;
  if (!next_record()) throw refusal(1, 1, "comments only, expected a header and rows");
  width_ = row_.size();
  if (first_line_.ends_with("\\\\") && first_line_.find('&') != std::string_view::npos)
    throw refusal(line_, 1, "a LaTeX table, expected CSV");
  if (!all_numbers(row_)) {
    header_ = row_;
    header_line_ = line_;
    if (names == TableNames::optional && read_number(row_.front().text)) {
      remarks_.push_back(fmt::format(
          "{}:{}: the first line, {} to {}, was read as names of columns, as not all of "
          "it is numbers",
          source_,
          line_,
          shown_field(row_.front().text),
          shown_field(row_.back().text)));
    }
  } else {
    take_comment(width_);
    held_ = true;
    if (header_.empty() && names == TableNames::optional && counts_columns(row_)) {
      // What pandas writes of an array is headed 0, 1, 2; a permutation's first row may be so.
      std::vector<TableField> below;
      std::swap(below, row_);
      const std::size_t line_of_names = line_;
      const std::string_view before = rest_;
      const std::size_t before_line = at_line_;
      bool named = false;
      bool more = false;
      while (!named && next_record()) {
        more = true;
        named = row_.size() == width_ && !are_places(row_);
      }
      rest_ = before;
      at_line_ = before_line;
      std::swap(below, row_);
      line_ = line_of_names;
      if (named) {
        header_ = row_;
        header_line_ = line_;
        held_ = false;
      }
      if (more) {
        remarks_.push_back(fmt::format(
            "{}:{}: the first line, 0 to {}, was read as {}",
            source_,
            line_,
            width_ - 1,
            named
                ? "names of columns (as pandas writes those of an array); if it is a row, write a "
                  "line of other names above it"
                : "a row of numbers; if it names columns, take it out"));
      }
    } else if (header_.empty() && names == TableNames::optional && are_different_integers(row_)) {
      first_written_whole_ = std::all_of(
          row_.begin(), row_.end(), [](const TableField& f) { return is_written_whole(f.text); });
      whole_first_ = fmt::format(
          "{}:{}: the first line, {}{}, was read as a row of numbers; if it names columns, take it "
          "out",
          source_,
          line_,
          row_.front().text,
          width_ > 1 ? " to " + row_.back().text : "");
    } else if (header_.empty() && names == TableNames::optional && are_even_steps(row_)) {
      remarks_.push_back(fmt::format(
          "{}:{}: the first line, {} to {}, was read as a row of numbers; if it names columns, "
          "take it out",
          source_,
          line_,
          row_.front().text,
          row_.back().text));
    } else if (header_.empty() && names == TableNames::required) {
      throw refusal(line_,
                    1,
                    fmt::format("numbers ('{}', ...), expected a header with names of columns",
                                shown_field(row_.front().text)));
    }
  }
  blank_ = 0;
  blanks_ = 0;
  remarked_ = 0;
}

/// Names of columns in the comment above the first row, if there are as many as fields.
void TableReader::take_comment(std::size_t fields) {
  if (comment_.empty()) return;
  std::string_view names = comment_;
  names.remove_prefix(std::min(names.find_first_not_of("# \t"), names.size()));
  if (names.empty()) return;
  const std::size_t offset = static_cast<std::size_t>(names.data() - comment_.data());
  const char kept = separator_;
  // Between numbers that are separated by spaces, names may be by commas.
  for (const char candidate : {',', kept}) {
    if (count_fields(names, candidate) != fields) continue;
    separator_ = candidate;
    std::vector<TableField> split_names;
    split(names, split_names);
    separator_ = kept;
    if (split_names.size() != fields ||
        std::any_of(split_names.begin(), split_names.end(), [](const TableField& f) {
          return f.text.empty() || read_number(f.text);
        }))
      continue;
    for (TableField& field : split_names) field.column += offset;
    header_ = std::move(split_names);
    header_line_ = named_comment_ = comment_line_;
    names_ = comment_;
    return;
  }
}

void TableReader::begin_json() {
  json_ = std::make_unique<Json>();
  json_->rows = read_json_rows(text_, source_);
  for (const std::string& name : json_->rows.names) header_.push_back({name, 1});
  if (json_->rows.may_be_transposed) {
    remarks_.push_back(fmt::format(
        "{}: rows and columns both have numbers for names: read as DataFrame.to_json() writes "
        "columns; of orient='index' it would be the transposed table (orient='values' is neither)",
        source_));
  }
  width_ = header_.empty() ? json_->rows.rows.front().size() : header_.size();
}

std::string TableReader::layout_hint() const { return other_layout(first_line_); }

/// Where a column without a name may come from.
std::string TableReader::unnamed_hint(std::size_t k) const {
  std::unordered_set<std::string_view> names;
  const bool twice = std::any_of(header_.begin(), header_.end(), [&](const TableField& f) {
    return !f.text.empty() && !names.insert(f.text).second;
  });
  if (twice) {
    return "; a MultiIndex of columns? Give the columns one name each: "
           "D.columns = ['_'.join(c) for c in D.columns], and index=False";
  }
  if (k == 0 && header_.size() > 1 && header_[1].text.empty())
    return "; a MultiIndex of a data frame? Write it with .reset_index() and index=False";
  if (k == 0 || !header_[k].text.empty())
    return "; the index of a data frame? Write it with index=False (R: row.names=FALSE)";
  if (k == 1 && header_.size() > 2 && header_[2].text.empty())
    return "; a title above the header? Take it out, or begin it with '#'";
  if (k == 1 && header_.size() == 2)
    return "; does the line end with a separator, or is it a title above the header?";
  const bool rest_empty = std::all_of(header_.begin() + static_cast<std::ptrdiff_t>(k),
                                      header_.end(),
                                      [](const TableField& f) { return f.text.empty(); });
  if (!rest_empty) return "";
  return k + 1 == header_.size() ? "; does the line end with a separator?"
                                 : "; does the line end with separators?";
}

void TableReader::check_header() {
  std::unordered_set<std::string_view> names;
  const std::string layout = other_layout(first_line_);
  const bool index = !header_.empty() && header_.front().text.empty();
  for (std::size_t k = 0; k < header_.size(); ++k) {
    const TableField& field = header_[k];
    const bool unnamed = field.text.starts_with("Unnamed: ");
    if (field.text.empty() || unnamed) {
      throw refusal(header_line_,
                    field.column,
                    fmt::format("a column without a name, the {}{}",
                                k == 0 ? "first" : ordinal(k + 1),
                                layout.empty() ? unnamed_hint(k) : layout));
    }
    if (const auto shown = invisible_end(field.text); !shown.empty()) {
      throw refusal(header_line_,
                    field.column,
                    fmt::format("column '{}': its name begins or ends with a character that cannot "
                                "be seen ({}); take it out",
                                shown_field(field.text),
                                shown));
    }
    if (!names.insert(field.text).second) {
      throw refusal(
          header_line_,
          field.column,
          fmt::format(
              "column '{}' twice{}",
              shown_field(field.text),
              !layout.empty()
                  ? layout
                  : std::string(index
                                    ? "; a MultiIndex of columns? Give the columns one name each: "
                                      "D.columns = ['_'.join(c) for c in D.columns]"
                                    : "")));
    }
  }
}

/// In rows without a header, 1,05 is two fields: the second one begins with a zero, as numbers do
/// not.
void TableReader::require_no_decimal_commas() {
  if (separator_ != ',' || row_.size() % 2 != 0 || has_points_) return;
  const TableField* leading = nullptr;
  for (std::size_t k = 0; k < row_.size(); ++k) {
    const std::string& text = row_[k].text;
    const std::size_t sign = k % 2 == 0 && (text.starts_with('-') || text.starts_with('+')) ? 1 : 0;
    if (!is_written_whole(std::string_view(text).substr(sign))) {
      has_points_ = true;
      return;
    }
    if (k % 2 == 0) continue;
    if (leading == nullptr && text.size() > 1 && text.front() == '0') leading = &row_[k];
    fractions_.long_ones = fractions_.long_ones || text.size() > 1;
    fractions_.end_in_zero = fractions_.end_in_zero || (text.size() > 1 && text.back() == '0');
    if (fractions_.digits == 0) fractions_.digits = text.size();
    fractions_.of_one_length = fractions_.of_one_length && text.size() == fractions_.digits;
  }
  if (leading == nullptr) return;
  throw refusal(line_,
                leading->column,
                fmt::format("'{}' behind a comma: decimals are written with a point (Excel: save "
                            "as CSV with English number formats)",
                            shown_field(leading->text)));
}

/// Whole numbers in pairs of columns may be decimals with a comma: what prints numbers takes zeros
/// off their ends, or prints all with as many digits.
void TableReader::remark_on_decimal_commas() {
  constexpr std::size_t kPair = 2;
  if (!header_.empty() || json_ || separator_ != ',' || width_ % 2 != 0 || has_points_) return;
  const bool printed = fractions_.of_one_length || !fractions_.end_in_zero;
  if (width_ != kPair && !(fractions_.long_ones && printed)) return;
  remarks_.push_back(fmt::format(
      "{}: all numbers are whole, in {} columns; if commas stand for decimal points here, write "
      "points",
      source_,
      width_));
}

/// A comment among the rows that names the columns in another order, or half of them and the first
/// as the header does, is the header of a table that was appended (numpy.savetxt).
void TableReader::refuse_other_header(std::string_view comment) const {
  if (width_ < 2 || header_.empty() || json_) return;
  comment.remove_prefix(std::min(comment.find_first_not_of("# \t"), comment.size()));
  for (const char separator : {',', separator_}) {
    if (count_fields(comment, separator) != width_) continue;
    std::string_view rest = comment;
    std::size_t known = 0;
    bool same = true;
    bool begins_alike = false;
    for (std::size_t k = 0; k < width_; ++k) {
      rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
      const std::size_t end = std::min(
          separator == kSpaces ? rest.find_first_of(" \t") : rest.find(separator), rest.size());
      const std::string_view name = trimmed_field(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      same = same && name == header_[k].text;
      begins_alike = begins_alike || (k == 0 && same);
      known += std::ranges::any_of(header_, [&](const TableField& f) { return f.text == name; });
    }
    if (same || (known < width_ && !(begins_alike && 2 * known >= width_))) continue;
    throw refusal(at_line_,
                  1,
                  fmt::format("a comment that names columns other than line {} does: two tables in "
                              "one file? Expected one table a file",
                              header_line_));
  }
}

/// A comment among the rows may be one that was taken out, or one whose first field begins with
/// `#`: it has as many fields, most of them numbers.
void TableReader::look_for_row(std::string_view comment) {
  constexpr std::size_t kFewest = 2;
  comment.remove_prefix(1);
  if (width_ < kFewest || count_fields(comment, separator_) != width_) return;
  std::size_t numbers = 0;
  while (!comment.empty()) {
    const std::size_t begin = std::min(comment.find_first_not_of(" \t"), comment.size());
    comment.remove_prefix(begin);
    const std::size_t end =
        std::min(separator_ == kSpaces ? comment.find_first_of(" \t") : comment.find(separator_),
                 comment.size());
    numbers += read_number(trimmed_field(comment.substr(0, end))).has_value() ? 1 : 0;
    comment.remove_prefix(std::min(end + 1, comment.size()));
  }
  if (2 * numbers <= width_) return;
  if (skipped_count_++ == 0) skipped_ = at_line_;
}

/// Between semicolons, as German and French spreadsheets write them, 1.000 may be a thousand;
/// between others beside numbers without a point, as 500: what formats numbers writes all with one,
/// or none.
void TableReader::look_for_thousands() {
  if (json_) return;
  thousands_.resize(row_.size());
  for (std::size_t k = 0; k < row_.size(); ++k) {
    Thousands& column = thousands_[k];
    std::string_view text = row_[k].text;
    if (!column.possible || is_missing(text)) continue;
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    constexpr std::size_t kGroup = 3;
    const std::size_t point = std::min(text.find('.'), text.size());
    const std::string_view group = text.substr(std::min(point + 1, text.size()));
    const bool zero = text == "0";
    column.possible = point <= kGroup && is_written_whole(text.substr(0, point)) &&
                      (zero || text.front() != '0') &&
                      (point == text.size() || (group.size() == kGroup && is_written_whole(group)));
    column.whole = column.whole || (point == text.size() && !zero);
    if (column.possible && column.line == 0 && point < text.size()) {
      column.line = line_;
      column.text = row_[k].text;
    }
  }
}

/// A file that was cut off, as by a copy that was broken off, ends within a number as a rule: a
/// shorter one, which is another number.
void TableReader::look_at_last_number() {
  if (json_ || !read_number(row_.back().text)) return;
  if (last_number_line_ != 0) shortest_ = std::min(shortest_, last_number_.size());
  last_number_ = row_.back().text;
  last_number_line_ = line_;
}

void TableReader::remark_on_end() {
  constexpr std::size_t kFewest = 5;
  const bool ended = text_.empty() || text_.back() == '\n' || text_.back() == '\r';
  if (ended || rows_ < kFewest || last_number_line_ != at_line_ || last_number_.size() >= shortest_)
    return;
  remarks_.push_back(
      fmt::format("{}:{}: the last line has no end, and its last number, {}, fewer characters than "
                  "all above it: is the file complete?",
                  source_,
                  last_number_line_,
                  last_number_));
}

/// A number that is too small for a double is read as 0, which is said.
void TableReader::look_for_tiny() {
  for (const TableField& field : row_) {
    if (!is_below_doubles(field.text)) continue;
    if (tiny_count_++ > 0) continue;
    tiny_ = field.text;
    tiny_line_ = line_;
  }
}

void TableReader::remark_on_tiny() {
  if (tiny_count_ == 0) return;
  remarks_.push_back(
      fmt::format("{}:{}: {}{} too small for a double, of which the least is 5e-324, and read as 0",
                  source_,
                  tiny_line_,
                  tiny_,
                  tiny_count_ == 1 ? " is" : fmt::format(" and {} more are", tiny_count_ - 1)));
  tiny_count_ = 0;
}

void TableReader::remark_on_thousands() {
  for (std::size_t k = 0; k < thousands_.size(); ++k) {
    const Thousands& column = thousands_[k];
    if (!column.possible || column.line == 0 || (separator_ != ';' && !column.whole)) continue;
    remarks_.push_back(fmt::format(
        "{}:{}: {} in {} was read as {}, a number with decimals; if the points separate thousands, "
        "take them out",
        source_,
        column.line,
        column.text,
        header_.empty() ? fmt::format("column {}", k + 1)
                        : fmt::format("column '{}'", shown_field(header_[k].text)),
        *read_number(column.text)));
  }
  thousands_.clear();
}

bool TableReader::next() {
  if (json_) {
    if (json_->next == json_->rows.rows.size()) {
      remark_on_tiny();
      return false;
    }
    const std::vector<std::string>& fields = json_->rows.rows[json_->next];
    row_.resize(fields.size());
    for (std::size_t k = 0; k < fields.size(); ++k) row_[k] = {fields[k], 1};
    line_ = ++json_->next;
  } else if (held_) {
    held_ = false;
  } else {
    if (!next_record()) {
      remark_on_tiny();
      remark_on_thousands();
      remark_on_decimal_commas();
      remark_on_end();
      if (skipped_count_ > 0) {
        remarks_.push_back(
            fmt::format("{}:{}: {} that begin{} with '#' {} as many fields as a row: skipped as {}",
                        source_,
                        skipped_,
                        skipped_count_ == 1 ? "a line" : fmt::format("{} lines", skipped_count_),
                        skipped_count_ == 1 ? "s" : "",
                        skipped_count_ == 1 ? "has" : "have",
                        skipped_count_ == 1 ? "a comment" : "comments"));
        skipped_count_ = 0;
      }
      return false;
    }
    blank_before_ = rows_ > 0 ? blank_ : 0;
    if (rows_ > 0 && blanks_ > 1) {
      throw refusal(blank_,
                    1,
                    "two blank lines between rows, which separate data blocks in gnuplot; expected "
                    "one table a file");
    }
    if (!whole_first_.empty() && rows_ > 0) {
      const bool fractions = std::none_of(row_.begin(), row_.end(), [](const TableField& f) {
        const auto value = read_number(f.text);
        return value && std::floor(*value) == *value;
      });
      // 10, 20, 30 above 85.0, 63.0, 51.0.
      const bool written =
          first_written_whole_ && std::none_of(row_.begin(), row_.end(), [](const TableField& f) {
            return is_written_whole(f.text);
          });
      if ((fractions || written) && has_many_digits(row_)) remarks_.push_back(whole_first_);
      whole_first_.clear();
    }
    const bool apart = header_.empty() || (blank_ != 0 && remarked_ > blank_);
    if (apart && rows_ > 0 && remarked_ != 0 && remarks_.empty()) {
      remarks_.push_back(
          fmt::format("{}:{}: the rows above and below this comment were read as one table",
                      source_,
                      remarked_));
    }
    blank_ = 0;
    blanks_ = 0;
    remarked_ = 0;
  }
  if (row_.size() != width_) {
    const bool more = row_.size() > width_;
    std::string hint;
    if (blank_before_ != 0 ||
        (rows_ > 0 && comment_line_ > header_line_ && comment_line_ + 1 == line_)) {
      hint = "; does a second table begin here? Expected one table a file";
    } else if (row_.size() == width_ + 1 && row_.back().text.empty()) {
      hint = "; the line ends with a separator";
    } else if (separator_ == ',' && rows_ == 0 && row_.size() > width_ && !header_.empty() &&
               std::all_of(row_.begin(), row_.end(), [](const TableField& f) {
                 return is_written_whole(std::string_view(f.text).substr(f.text.starts_with('-')));
               })) {
      hint = fmt::format(
          "; decimals are written with a point (Excel: save as CSV with English number formats){}",
          row_.size() == width_ + 1 ? ", names of rows are left out (R: row.names=FALSE)" : "");
    } else if (row_.size() == width_ + 1 && rows_ == 0 && !header_.empty()) {
      hint = separator_ == kSpaces
                 ? "; names of rows? R: write.table(D, FILE, row.names=FALSE); pandas: "
                   "to_csv(FILE, index=False)"
                 : "; names of rows? R: write.csv(D, FILE, row.names=FALSE)";
    } else if (separator_ == ',' && row_.size() == 2 * width_) {
      hint = "; decimals are written with a point";
    } else if (more && separator_ == kSpaces) {
      hint = "; a name or text with spaces stands in double quotes";
    } else if (width_ == 1 && header_.size() == 1 &&
               header_.front().text.find_first_of(" ") != std::string::npos) {
      hint = "; a name with spaces stands in double quotes";
    }
    if (const std::string other = other_layout(first_line_); rows_ == 0 && !other.empty())
      hint = other;
    throw refusal(line_,
                  more ? row_[width_].column : 1,
                  fmt::format("{} fields, expected {}{}{}",
                              row_.size(),
                              width_,
                              header_.empty() ? " as in the first row" : " as in the header",
                              hint));
  }
  if (!header_.empty() && !json_ &&
      std::equal(row_.begin(), row_.end(), header_.begin(), [](const auto& a, const auto& b) {
        return a.text == b.text;
      })) {
    throw refusal(line_, 1, "the header again: two tables in one file? Expected one table a file");
  }
  if (header_.empty() && !json_) require_no_decimal_commas();
  look_for_tiny();
  look_for_thousands();
  look_at_last_number();
  ++rows_;
  return true;
}

}  // namespace attica
