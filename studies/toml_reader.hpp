#pragma once
/// @file
/// @brief Reading TOML: values, ranges of values, and tables whose keys are known; all mistakes of
/// a document at once, each with its file, line and column.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attica/core/value.hpp"
#include "attica/studies/toml_value.hpp"

namespace attica::toml_io {

/// @brief Whether a place stands before another in its document.
bool before(const toml::source_position& a, const toml::source_position& b);
/// @brief "file.toml:14:1"
std::string position(const std::string& source, const toml::source_position& p);

/// TOML's own types, less dates, which no parameter takes.
std::optional<Value> to_value(const toml::node& node);

/// Whether a table stands for a list: {log = [lo, hi], n = N}.
bool is_range(const toml::table& table);
/// The values of `{log = [lo, hi], n = N}` or `{linear = [lo, hi], n = N}`; end points are exact.
/// @throws Error of kind input that names `name`
List expand_range(const toml::table& table, const std::string& name);

/// @brief A document. @param file whether places in it mean something to the user
/// @throws Error of kind input with the place
toml::table parsed(const std::string& text, const std::string& source, bool file);

/// @brief Refuses a number that is written other than 0 and too small for a double (1e-400), which
/// the parser reads as 0; one that is too large it refuses itself.
/// @param text of the document @throws Error of kind input with the place
void require_held_numbers(const toml::table& document,
                          std::string_view text,
                          const std::string& source,
                          bool file);

/// @brief A node as a user wrote it, more or less, for messages.
std::string shown(const toml::node& node);

/// A key of some table: what it takes, and how its value is entered; false: it is none.
struct TomlKey {
  std::string name;
  std::string expected;
  std::function<bool(const toml::node&)> set;
};

/// Reads tables by their keys and collects the mistakes.
class TomlReader {
 public:
  /// @param file whether places in the document mean something to the user
  TomlReader(std::string source, bool file) : source_(std::move(source)), file_(file) {}

  std::string where(const toml::source_position& at) const;
  void report(const toml::source_position& at, const std::string& message);
  /// @brief Enters the values in the order of `keys`.
  /// @param prefix what the table is called in messages; empty: the document
  void read(const toml::table& table, const std::string& prefix, const std::vector<TomlKey>& keys);
  /// @brief The key that is being read, for messages of what its value is made of.
  const std::string& place() const { return place_; }
  /// @throws Error of kind input with all mistakes in the order of the document
  void finish();

 private:
  struct Mistake {
    toml::source_position at;
    std::string text;
  };

  std::string source_;
  bool file_;
  std::string place_;
  std::vector<Mistake> mistakes_;
};

/// @brief A text without control characters.
std::optional<std::string> text_of(const toml::node& node);

/// @brief A finite number.
std::optional<double> number_of(const toml::node& node);

TomlKey text_key(const std::string& name,
                 std::string& target,
                 const std::string& expected = "a text");

/// @brief A key whose value is a list of texts, which replaces what the target holds.
TomlKey texts_key(const std::string& name, std::vector<std::string>& target);

/// A label, with mathematics between dollar signs; may be empty.
TomlKey label_key(const std::string& name, std::optional<std::string>& target, TomlReader& reader);

TomlKey flag_key(const std::string& name, const std::function<void(bool)>& enter);

TomlKey number_key(const std::string& name,
                   std::optional<double>& target,
                   const std::string& expected = "a finite number",
                   double low = -HUGE_VAL,
                   double high = HUGE_VAL);

TomlKey numbers_key(const std::string& name, std::optional<std::vector<double>>& target);

TomlKey name_key(const std::string& name,
                 const std::vector<std::string>& words,
                 std::optional<std::string>& target);

/// One of a few words.
template <typename T>
TomlKey word_key(const std::string& name,
                 const std::vector<std::pair<std::string, T>>& words,
                 const std::function<void(T)>& enter) {
  std::vector<std::string> names;
  for (const auto& [word, value] : words) names.push_back(word);
  return {name, fmt::format("one of {}", fmt::join(names, ", ")), [=](const toml::node& node) {
            const auto text = text_of(node);
            for (const auto& [word, value] : words) {
              if (text != word) continue;
              enter(value);
              return true;
            }
            return false;
          }};
}

}  // namespace attica::toml_io
