#include "attica/core/json_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "attica/core/error.hpp"
#ifdef ATTICA_WITH_JSON
#include <nlohmann/json.hpp>
#endif

namespace attica {

#ifdef ATTICA_WITH_JSON

namespace {

constexpr const char* kExpectedJson = "expected a list of objects or an object a line";
constexpr std::size_t kDeepest = 16;

/// A value: a scalar as text, or what a list or an object holds.
struct JsonValue {
  enum class Kind { null, scalar, list, object } kind = Kind::null;
  std::string text = {};
  std::vector<std::string> keys = {};  ///< of an object
  std::vector<JsonValue> values = {};

  bool is_scalar() const { return kind == Kind::null || kind == Kind::scalar; }
};

Error json_refusal(const std::string& source,
                   std::size_t line,
                   std::size_t column,
                   const std::string& what) {
  return {ErrorKind::input, fmt::format("{}:{}:{}: error: {}", source, line, column, what)};
}

/// Builds a value from the parser's events; what is wrong besides the syntax is in `mistake`.
class JsonBuilder {
 public:
  JsonValue root = {};
  std::string mistake = {};
  std::size_t error_at = 0;

  bool null() { return put({}); }
  bool boolean(bool value) { return scalar(value ? "true" : "false"); }
  bool number_integer(std::int64_t value) { return scalar(std::to_string(value)); }
  bool number_unsigned(std::uint64_t value) { return scalar(std::to_string(value)); }
  bool number_float(double, const std::string& text) { return scalar(text); }
  bool string(std::string& text) { return scalar(std::move(text)); }
  bool binary(std::vector<std::uint8_t>&) { return false; }
  bool start_object(std::size_t) { return open(JsonValue::Kind::object); }
  bool start_array(std::size_t) { return open(JsonValue::Kind::list); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    if (!known_.back().insert(name).second) {
      mistake = fmt::format("key '{}' twice in an object", name);
      return false;
    }
    open_.back().keys.push_back(std::move(name));
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& e) {
    constexpr int kOverflow = 406;
    error_at = position;
    if (e.id == kOverflow) mistake = "a number that no double holds";
    return false;
  }

 private:
  bool scalar(std::string text) {
    return put({.kind = JsonValue::Kind::scalar, .text = std::move(text)});
  }
  bool put(JsonValue value) {
    (open_.empty() ? root = std::move(value) : open_.back().values.emplace_back(std::move(value)));
    return true;
  }
  bool open(JsonValue::Kind kind) {
    if (open_.size() == kDeepest) {
      mistake = fmt::format("lists and objects in one another, {}", kExpectedJson);
      return false;
    }
    open_.push_back({.kind = kind});
    known_.emplace_back();
    return true;
  }
  bool close() {
    JsonValue value = std::move(open_.back());
    open_.pop_back();
    known_.pop_back();
    return put(std::move(value));
  }

  std::vector<JsonValue> open_;
  std::vector<std::unordered_set<std::string>> known_;
};

/// Python's NaN, Infinity and -Infinity as texts, which JSON knows.
std::string with_nonfinite_quoted(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"NaN", "\"nan\""}, {"-Infinity", "\"-inf\""}, {"Infinity", "\"inf\""}};
  std::string result;
  result.reserve(text.size());
  bool quoted = false;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if (quoted && c == '\\' && k + 1 < text.size()) {
      result += c;
      result += text[++k];
      continue;
    }
    if (c == '"') quoted = !quoted;
    const auto word = std::find_if(std::begin(kWords), std::end(kWords), [&](const auto& w) {
      return !quoted && c == w.first.front() && text.substr(k).starts_with(w.first);
    });
    if (word != std::end(kWords)) {
      result += word->second;
      k += word->first.size() - 1;
    } else {
      result += c;
    }
  }
  return result;
}

/// Where the value that begins at `at` ends: behind the bracket that closes it.
std::size_t end_of_value(std::string_view text, std::size_t at) {
  bool quoted = false;
  std::size_t depth = 0;
  for (std::size_t k = at; k < text.size(); ++k) {
    const char c = text[k];
    if (quoted) {
      if (c == '\\') ++k;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && depth > 0 && --depth == 0) {
      return k + 1;
    }
  }
  return text.size();
}

JsonValue parsed_value(std::string_view text,
                       std::size_t at,
                       std::size_t stop,
                       const std::string& source) {
  const std::string value = with_nonfinite_quoted(text.substr(at, stop - at));
  JsonBuilder builder;
  if (nlohmann::json::sax_parse(value, &builder)) return std::move(builder.root);
  const std::size_t position = std::min(at + builder.error_at, text.size());
  const std::string_view upto = text.substr(0, position);
  const auto line = 1 + static_cast<std::size_t>(std::count(upto.begin(), upto.end(), '\n'));
  const auto last = upto.rfind('\n');
  const std::size_t column = last == std::string_view::npos ? upto.size() : upto.size() - last - 1;
  throw json_refusal(
      source,
      line,
      std::max<std::size_t>(column, 1),
      builder.mistake.empty() ? fmt::format("no valid JSON, {}", kExpectedJson) : builder.mistake);
}

/// Rows from objects that all have the names of the first.
class ObjectRows {
 public:
  ObjectRows(JsonRows& rows, const std::string& source) : rows_(rows), source_(source) {}

  void add(JsonValue& object) {
    const std::size_t number = rows_.rows.size() + 1;
    if (object.kind != JsonValue::Kind::object) {
      throw json_refusal(source_, number, 1, "a row that is no object; expected {\"x\": ..., ...}");
    }
    if (number == 1) {
      if (object.keys.empty()) throw json_refusal(source_, 1, 1, "a row without values");
      rows_.names = object.keys;
      for (std::size_t k = 0; k < rows_.names.size(); ++k) place_.emplace(rows_.names[k], k);
    }
    std::vector<std::string> fields(rows_.names.size());
    std::vector<bool> seen(fields.size());
    for (std::size_t k = 0; k < object.keys.size(); ++k) {
      const auto at = place_.find(object.keys[k]);
      if (at == place_.end()) {
        throw json_refusal(
            source_,
            number,
            1,
            fmt::format("a row with another name, '{}', than the first has; expected the same keys "
                        "in each row, null where there is no value",
                        object.keys[k]));
      }
      if (!object.values[k].is_scalar()) {
        throw json_refusal(
            source_,
            number,
            1,
            fmt::format("'{}' is neither a number nor a text; pandas.json_normalize takes what is "
                        "nested apart",
                        object.keys[k]));
      }
      fields[at->second] = std::move(object.values[k].text);
      seen[at->second] = true;
    }
    for (std::size_t k = 0; k < seen.size(); ++k) {
      if (!seen[k]) {
        throw json_refusal(source_,
                           number,
                           1,
                           fmt::format("row without '{}', which the first has; expected the same "
                                       "keys in each row, null where there is no value",
                                       rows_.names[k]));
      }
    }
    rows_.rows.push_back(std::move(fields));
  }

 private:
  JsonRows& rows_;
  const std::string& source_;
  std::unordered_map<std::string, std::size_t> place_;
};

bool all_of_kind(const JsonValue& value, JsonValue::Kind kind) {
  return std::all_of(
      value.values.begin(), value.values.end(), [&](const JsonValue& v) { return v.kind == kind; });
}

bool are_digits(const std::vector<std::string>& keys) {
  return std::all_of(keys.begin(), keys.end(), [](const std::string& key) {
    return !key.empty() && key.find_first_not_of("0123456789") == std::string::npos;
  });
}

/// {"x": {"0": 1, "1": 2}, "value": {...}} or {"x": [1, 2], "value": [...]}.
JsonRows from_columns(JsonValue& table, const std::string& source) {
  JsonRows rows;
  rows.names = table.keys;
  const JsonValue& first = table.values.front();
  rows.rows.resize(first.values.size(), std::vector<std::string>(table.keys.size()));
  for (std::size_t c = 0; c < table.values.size(); ++c) {
    JsonValue& column = table.values[c];
    if (column.values.size() != first.values.size() || column.keys != first.keys) {
      throw json_refusal(
          source,
          1,
          1,
          fmt::format("columns '{}' and '{}' have other rows", table.keys.front(), table.keys[c]));
    }
    for (std::size_t r = 0; r < column.values.size(); ++r) {
      if (!column.values[r].is_scalar()) {
        throw json_refusal(
            source, r + 1, 1, fmt::format("'{}' is neither a number nor a text", table.keys[c]));
      }
      rows.rows[r][c] = std::move(column.values[r].text);
    }
  }
  if (first.kind == JsonValue::Kind::object && are_digits(table.keys) && !are_digits(first.keys)) {
    throw json_refusal(source,
                       1,
                       1,
                       "rows by their index (orient='index'); expected a list of objects: "
                       "DataFrame.to_json(FILE, orient='records')");
  }
  rows.may_be_transposed = first.kind == JsonValue::Kind::object && are_digits(table.keys);
  return rows;
}

/// A list of lists, none empty, of one length.
JsonRows from_lists(JsonValue& table, std::vector<std::string> names, const std::string& source) {
  JsonRows rows;
  rows.names = std::move(names);
  const std::size_t width =
      rows.names.empty() ? table.values.front().values.size() : rows.names.size();
  for (std::size_t r = 0; r < table.values.size(); ++r) {
    JsonValue& list = table.values[r];
    const bool scalars = std::all_of(
        list.values.begin(), list.values.end(), [](const JsonValue& v) { return v.is_scalar(); });
    if (list.kind != JsonValue::Kind::list || !scalars)
      throw json_refusal(source, r + 1, 1, "a row that is no list of numbers");
    if (list.values.size() != width || width == 0) {
      throw json_refusal(
          source, r + 1, 1, fmt::format("{} fields, expected {}", list.values.size(), width));
    }
    std::vector<std::string>& fields = rows.rows.emplace_back();
    for (JsonValue& value : list.values) fields.push_back(std::move(value.text));
  }
  return rows;
}

JsonRows from_object(JsonValue& table, const std::string& source) {
  const auto member = [&](std::string_view name) -> JsonValue* {
    const auto at = std::find(table.keys.begin(), table.keys.end(), name);
    return at == table.keys.end()
               ? nullptr
               : &table.values[static_cast<std::size_t>(at - table.keys.begin())];
  };
  JsonValue* const columns = member("columns");
  JsonValue* const data = member("data");
  if (columns != nullptr && data != nullptr && columns->kind == JsonValue::Kind::list &&
      data->kind == JsonValue::Kind::list &&
      (table.keys.size() == 2 || (table.keys.size() == 3 && member("index") != nullptr))) {
    std::vector<std::string> names;
    for (const JsonValue& name : columns->values) {
      if (name.kind != JsonValue::Kind::scalar)
        throw json_refusal(source, 1, 1, "names of columns that are no texts (a MultiIndex?)");
      names.push_back(name.text);
    }
    if (names.empty()) throw json_refusal(source, 1, 1, "a table without columns");
    return from_lists(*data, std::move(names), source);
  }
  const bool of_columns = !table.values.empty() && (all_of_kind(table, JsonValue::Kind::object) ||
                                                    all_of_kind(table, JsonValue::Kind::list));
  if (of_columns) return from_columns(table, source);
  if (std::all_of(table.values.begin(), table.values.end(), [](const JsonValue& v) {
        return v.is_scalar();
      })) {
    JsonRows rows;
    ObjectRows(rows, source).add(table);
    return rows;
  }
  throw json_refusal(source,
                     1,
                     1,
                     fmt::format("JSON, {}{}",
                                 kExpectedJson,
                                 member("schema") != nullptr && data != nullptr
                                     ? ": DataFrame.to_json(FILE, orient='records')"
                                     : ""));
}

}  // namespace

JsonRows read_json_rows(std::string_view text, const std::string& source) {
  constexpr std::string_view kSpace = " \t\r\n";
  JsonRows rows;
  std::size_t at = std::min(text.find_first_not_of(kSpace), text.size());
  std::size_t stop = end_of_value(text, at);
  std::size_t next = std::min(text.find_first_not_of(kSpace, stop), text.size());
  if (next == text.size()) {
    JsonValue value = parsed_value(text, at, stop, source);
    if (value.values.empty())
      throw json_refusal(source, 1, 1, "an empty list or object, expected rows");
    if (value.kind == JsonValue::Kind::object) {
      rows = from_object(value, source);
    } else if (value.values.front().kind == JsonValue::Kind::list) {
      rows = from_lists(value, {}, source);
    } else {
      ObjectRows objects(rows, source);
      for (JsonValue& row : value.values) objects.add(row);
    }
  } else {
    // An object a line.
    ObjectRows objects(rows, source);
    while (at < text.size()) {
      if (text[at] != '{') {
        throw json_refusal(
            source, rows.rows.size() + 1, 1, fmt::format("text behind JSON, {}", kExpectedJson));
      }
      JsonValue value = parsed_value(text, at, stop, source);
      objects.add(value);
      at = std::min(text.find_first_not_of(kSpace, stop), text.size());
      stop = end_of_value(text, at);
    }
  }
  if (rows.rows.empty()) throw json_refusal(source, 1, 1, "a table without rows");
  return rows;
}

#else

JsonRows read_json_rows(std::string_view, const std::string& source) {
  throw Error(ErrorKind::input, fmt::format("{}: JSON, which this build does not read", source));
}

#endif

}  // namespace attica
