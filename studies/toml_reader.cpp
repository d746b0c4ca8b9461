#include "attica/studies/toml_reader.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <sstream>
#include <tuple>

#include "attica/core/error.hpp"
#include "attica/core/label.hpp"
#include "attica/core/words.hpp"

namespace attica {

void require_shallow_keys(std::string_view text, const std::string& source) {
  constexpr std::size_t kMostParts = 256;
  std::size_t dots = 0;
  std::size_t line = 1;
  char quote = 0;
  bool comment = false;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if (c == '\n') {
      ++line;
      comment = false;
      dots = 0;
    } else if (comment) {
      continue;
    } else if (quote != 0) {
      if (c == '\\' && quote == '"') ++k;
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#') {
      comment = true;
    } else if (c == '.') {
      if (++dots >= kMostParts) {
        throw Error(
            ErrorKind::input,
            fmt::format("{}:{}: error: a key of more than {} parts", source, line, kMostParts));
      }
    } else if (std::string_view("=,[]{}").find(c) != std::string_view::npos) {
      dots = 0;
    }
  }
}

std::string to_toml(const Value& value) {
  struct Writer {
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(std::int64_t i) const { return fmt::format("{}", i); }
    std::string operator()(double d) const {
      const std::string digits = fmt::format("{}", d);
      return digits.find_first_of(".en") == std::string::npos ? digits + ".0" : digits;
    }
    std::string operator()(const std::string& s) const {
      std::string quoted = "\"";
      for (const char c : s) {
        if (c == '"' || c == '\\') quoted += '\\';
        constexpr unsigned char kDelete = 0x7f;
        if (static_cast<unsigned char>(c) < 0x20 || c == kDelete) {
          quoted += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        } else {
          quoted += c;
        }
      }
      return quoted + '"';
    }
    std::string operator()(const List& list) const {
      std::vector<std::string> items;
      for (const Value& v : list) items.push_back(to_toml(v));
      return fmt::format("[{}]", fmt::join(items, ", "));
    }
    std::string operator()(const Table& table) const {
      std::vector<std::string> items;
      for (const auto& [key, v] : table) items.push_back(key + " = " + to_toml(v));
      return fmt::format("{{{}}}", fmt::join(items, ", "));
    }
  };
  return std::visit(Writer{}, static_cast<const Value::variant&>(value));
}

namespace toml_io {
namespace {

/// The number that a decimal text of so many places says.
double rounded(double value, int decimals) {
  const std::string text = fmt::format("{:.{}f}", value, decimals);
  double result = value;
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result == 0 ? 0 : result;  // no -0
}

/// Decimal places that the ends and the step of an equally spaced list have, if they are few: then
/// its values are 0.1, 0.2, 0.3, not 0.30000000000000004.
std::optional<int> decimals_of(double low, double high, double step) {
  constexpr int kMost = 15;
  // The step's own rounding error; places beyond it are none.
  const double error =
      4 * std::numeric_limits<double>::epsilon() * std::max(std::abs(low), std::abs(high));
  constexpr double kClear = 64;
  for (int places = 0; places <= kMost && std::pow(10.0, -places) > kClear * error; ++places) {
    if (rounded(low, places) == low && rounded(high, places) == high &&
        std::abs(rounded(step, places) - step) <= error)
      return places;
  }
  return std::nullopt;
}

}  // namespace

bool before(const toml::source_position& a, const toml::source_position& b) {
  return std::tie(a.line, a.column) < std::tie(b.line, b.column);
}

std::string position(const std::string& source, const toml::source_position& p) {
  return fmt::format("{}:{}:{}", source, p.line, p.column);
}

std::optional<Value> to_value(const toml::node& node) {
  if (const auto* b = node.as_boolean()) return Value(b->get());
  if (const auto* i = node.as_integer()) return Value(i->get());
  if (const auto* d = node.as_floating_point()) return Value(d->get());
  if (const auto* s = node.as_string()) return Value(s->get());
  if (const auto* a = node.as_array()) {
    List list;
    for (const toml::node& element : *a) {
      auto value = to_value(element);
      if (!value) return std::nullopt;
      list.push_back(std::move(*value));
    }
    return Value(std::move(list));
  }
  return std::nullopt;
}

List expand_range(const toml::table& table, const std::string& name) {
  const auto refuse = [&](const std::string& value) -> Error {
    return invalid_parameter(
        name, value, "a list, {log = [lo, hi], n = N} or {linear = [lo, hi], n = N}");
  };
  const bool is_log = table.contains("log");
  const auto* ends = table[is_log ? "log" : "linear"].as_array();
  // Not value<std::int64_t>(), which converts a float however large it is.
  const auto* given = table["n"].as_integer();
  if (table.size() != 2 || ends == nullptr || ends->size() != 2 || given == nullptr) {
    throw refuse("a table");
  }
  const std::int64_t n = given->get();
  const auto low = (*ends)[0].value<double>();
  const auto high = (*ends)[1].value<double>();
  constexpr std::int64_t kMostPoints = 1000000;
  if (!low || !high || !std::isfinite(*low) || !std::isfinite(*high)) throw refuse("a table");
  if (n < 2 || n > kMostPoints) {
    throw invalid_parameter(name + ".n", static_cast<double>(n), "2 <= n <= 1000000");
  }
  if (is_log && (*low <= 0 || *high <= 0)) {
    throw invalid_parameter(name + ".log", std::min(*low, *high), "positive ends");
  }
  const std::optional<int> decimals =
      is_log ? std::nullopt : decimals_of(*low, *high, (*high - *low) / static_cast<double>(n - 1));
  List values;
  for (std::int64_t k = 0; k < n; ++k) {
    const auto t = static_cast<double>(k) / static_cast<double>(n - 1);
    double inner = is_log ? *low * std::pow(*high / *low, t) : *low + (*high - *low) * t;
    if (decimals) inner = rounded(inner, *decimals);
    values.emplace_back(k == 0 ? *low : k == n - 1 ? *high : inner);
  }
  return values;
}

bool is_range(const toml::table& table) {
  return table.contains("n") && (table.contains("log") || table.contains("linear"));
}

std::string shown(const toml::node& node) {
  std::ostringstream text;
  node.visit([&](const auto& value) { text << value; });
  return printable(text.str());
}

toml::table parsed(const std::string& text, const std::string& source, bool file) {
  require_shallow_keys(text, source);
  try {
    toml::table document = toml::parse(text);
    require_held_numbers(document, text, source, file);
    return document;
  } catch (const toml::parse_error& error) {
    const auto at = error.source().begin;
    throw Error(ErrorKind::input,
                fmt::format("{}: error: {}",
                            file ? fmt::format("{}:{}:{}", source, at.line, at.column) : source,
                            error.description()));
  }
}

namespace {

/// Places of the numbers that were read as 0.
void add_zeros(const toml::node& node, std::vector<toml::source_position>& places) {
  if (const toml::table* table = node.as_table()) {
    for (auto&& [key, value] : *table) add_zeros(value, places);
  } else if (const toml::array* array = node.as_array()) {
    for (const toml::node& value : *array) add_zeros(value, places);
  } else if (node.is_floating_point() && node.as_floating_point()->get() == 0) {
    places.push_back(node.source().begin);
  }
}

/// Goes through a text once; columns are in characters.
class Places {
 public:
  explicit Places(std::string_view text) : rest_(text) {}

  /// What stands at a place that is not before the last one, up to a character that no number has.
  std::string_view number_at(const toml::source_position& at) {
    for (; line_ < at.line; ++line_, column_ = 1)
      rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size() - 1) + 1);
    for (; column_ < at.column && !rest_.empty(); ++column_) {
      rest_.remove_prefix(1);
      while (!rest_.empty() && (static_cast<unsigned char>(rest_.front()) >> 6) == 0x2)
        rest_.remove_prefix(1);
    }
    return rest_.substr(0, std::min(rest_.find_first_not_of("+-0123456789._eE"), rest_.size()));
  }

 private:
  std::string_view rest_;
  toml::source_index line_ = 1;
  toml::source_index column_ = 1;
};

}  // namespace

void require_held_numbers(const toml::table& document,
                          std::string_view text,
                          const std::string& source,
                          bool file) {
  std::vector<toml::source_position> zeros;
  add_zeros(document, zeros);
  std::ranges::sort(zeros, [](const auto& a, const auto& b) {
    return std::pair(a.line, a.column) < std::pair(b.line, b.column);
  });
  Places places(text);
  for (const toml::source_position& at : zeros) {
    const std::string_view number = places.number_at(at);
    const std::string_view mantissa = number.substr(0, number.find_first_of("eE"));
    if (mantissa.find_first_of("123456789") == std::string_view::npos) continue;
    throw Error(ErrorKind::input,
                fmt::format("{}: error: {}: no double holds it, whose sizes are 5e-324 to 1.8e308; "
                            "expected another unit, or 0",
                            file ? position(source, at) : source,
                            number));
  }
}

std::string TomlReader::where(const toml::source_position& at) const {
  return file_ ? position(source_, at) : source_;
}

void TomlReader::report(const toml::source_position& at, const std::string& message) {
  mistakes_.push_back({at, fmt::format("{}: error: {}", where(at), message)});
}

void TomlReader::read(const toml::table& table,
                      const std::string& prefix,
                      const std::vector<TomlKey>& keys) {
  for (auto&& [key, node] : table) {
    const std::string name(key.str());
    if (std::ranges::find(keys, name, &TomlKey::name) != keys.end()) continue;
    std::vector<std::string> names;
    for (const TomlKey& k : keys) names.push_back(k.name);
    const std::string near = nearest(name, names);
    report(key.source().begin,
           fmt::format("unknown key '{}'{}; {}",
                       printable(name),
                       prefix.empty() ? "" : " in " + prefix,
                       near.empty() ? fmt::format("expected one of {}", fmt::join(names, ", "))
                                    : fmt::format("did you mean '{}'?", near)));
  }
  for (const TomlKey& key : keys) {
    const toml::node* node = table.get(key.name);
    if (node == nullptr) continue;
    const std::string full = prefix.empty() ? key.name : prefix + "." + key.name;
    place_ = full;
    try {
      if (!key.set(*node)) throw invalid_parameter(full, shown(*node), key.expected);
    } catch (const Error& error) {
      report(node->source().begin, error.what());
    }
  }
}

void TomlReader::finish() {
  if (mistakes_.empty()) return;
  std::stable_sort(mistakes_.begin(), mistakes_.end(), [](const auto& a, const auto& b) {
    return before(a.at, b.at);
  });
  std::vector<std::string> lines;
  for (const Mistake& mistake : mistakes_) lines.push_back(mistake.text);
  throw Error(ErrorKind::input, fmt::format("{}", fmt::join(lines, "\n")));
}

std::optional<std::string> text_of(const toml::node& node) {
  const auto* text = node.as_string();
  if (text == nullptr || has_control_characters(text->get())) return std::nullopt;
  return text->get();
}

std::optional<double> number_of(const toml::node& node) {
  if (!node.is_number()) return std::nullopt;
  const auto value = node.value<double>();
  return value && std::isfinite(*value) ? value : std::nullopt;
}

TomlKey text_key(const std::string& name, std::string& target, const std::string& expected) {
  return {name, expected, [&target](const toml::node& node) {
            const auto text = text_of(node);
            if (!text || text->empty()) return false;
            target = *text;
            return true;
          }};
}

TomlKey texts_key(const std::string& name, std::vector<std::string>& target) {
  return {name, "a list of texts", [&target](const toml::node& node) {
            const auto* array = node.as_array();
            if (array == nullptr) return false;
            target.clear();
            for (const toml::node& element : *array) {
              const auto text = text_of(element);
              if (!text) return false;
              target.push_back(*text);
            }
            return true;
          }};
}

/// A label, with mathematics between dollar signs; may be empty.
TomlKey label_key(const std::string& name, std::optional<std::string>& target, TomlReader& reader) {
  return {name, "a text", [&target, &reader](const toml::node& node) {
            const auto text = text_of(node);
            if (text) target = from_latex(*text, reader.place());
            return text.has_value();
          }};
}

TomlKey flag_key(const std::string& name, const std::function<void(bool)>& enter) {
  return {name, "true or false", [enter](const toml::node& node) {
            const auto* flag = node.as_boolean();
            if (flag != nullptr) enter(flag->get());
            return flag != nullptr;
          }};
}

TomlKey number_key(const std::string& name,
                   std::optional<double>& target,
                   const std::string& expected,
                   double low,
                   double high) {
  return {name, expected, [&target, low, high](const toml::node& node) {
            const auto value = number_of(node);
            if (!value || *value < low || *value > high) return false;
            target = value;
            return true;
          }};
}

TomlKey numbers_key(const std::string& name, std::optional<std::vector<double>>& target) {
  return {name, "a list of finite numbers", [&target](const toml::node& node) {
            const auto* array = node.as_array();
            if (array == nullptr) return false;
            std::vector<double> values;
            for (const toml::node& element : *array) {
              const auto value = number_of(element);
              if (!value) return false;
              values.push_back(*value);
            }
            target = values;
            return true;
          }};
}

TomlKey name_key(const std::string& name,
                 const std::vector<std::string>& words,
                 std::optional<std::string>& target) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& word : words) pairs.emplace_back(word, word);
  return word_key<std::string>(name, pairs, [&target](const std::string& word) { target = word; });
}

}  // namespace toml_io
}  // namespace attica
