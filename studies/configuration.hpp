#pragma once
/// @file
/// @brief Parameters as a table, and the resolved configuration a study is built from.
///
/// One table of Parameter drives the check of configuration files, `attica show`, the generated
/// configuration and the documentation.

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attica/core/value.hpp"

namespace attica {

class InputFiles;
class SharedCache;

enum class ParameterType {
  real,
  integer,
  flag,
  text,
  file,  ///< path of an input file; its content, not its name, decides what a run is
};

/// Open or closed numerical range; the default allows every finite number.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false;
  bool high_open = false;

  bool contains(double value) const;
  /// @brief Says the range in the name's terms: "-1 < rho < 1", "rho >= 0".
  std::string describe(std::string_view name) const;
};

/// @brief One configurable quantity.
struct Parameter {
  std::string key;  ///< section and name, e.g. "model.rho"
  ParameterType type = ParameterType::real;
  std::optional<Value>
      fallback;         ///< default: a scalar of the type, or a List when `list`; none: unset
  std::string meaning;  ///< one line, with units or normalisation
  bool list = false;    ///< takes a list of scalars; sweeps accept {log = [lo, hi], n = N} as well
  Range range = {};
  bool rows = false;  ///< with `list`: a list of lists; a plain list is a single row
  /// text: the allowed words; empty: any text. integer: words that may stand for a number
  std::vector<std::string> choices = {};

  std::string section() const { return key.substr(0, key.find('.')); }
  std::string name() const { return key.substr(key.find('.') + 1); }
  /// @brief Throws Error naming the parameter unless the scalar has the type, range and choice
  /// asked for; returns the value in the parameter's own type (an integer literal for a real
  /// becomes a real).
  Value checked(const Value& scalar, std::string_view shown_name) const;
};

/// @brief Resolved values of all parameters of a study, by dotted key.
class Configuration {
 public:
  Configuration() = default;
  Configuration(std::string study, const std::vector<Parameter>& parameters);

  const std::string& study() const { return study_; }
  /// @throws std::logic_error for a key the study has not declared (a programming error)
  const Value& at(std::string_view key) const;
  double real(std::string_view key) const;
  std::int64_t integer(std::string_view key) const;
  /// @brief In another type, which must hold it.
  template <class T>
  T integer(std::string_view key) const {
    return static_cast<T>(integer(key));
  }
  bool flag(std::string_view key) const;
  const std::string& text(std::string_view key) const;
  std::vector<double> reals(std::string_view key) const;
  /// @brief A list of rows; a plain list is one row.
  std::vector<std::vector<double>> rows(std::string_view key) const;
  std::vector<std::int64_t> integers(std::string_view key) const;
  std::vector<std::string> texts(std::string_view key) const;
  /// @brief The master seed, `sim.seed`.
  std::uint64_t seed() const { return static_cast<std::uint64_t>(integer("sim.seed")); }
  /// @brief Whether the study has such a parameter at all.
  bool declares(std::string_view key) const;
  /// @brief Whether the parameter has a value (one without default may stay unset).
  bool has(std::string_view key) const;

  /// @brief Whether the user gave this key, rather than the default standing.
  bool given(std::string_view key) const;
  /// @brief Sets an already checked value; `by_user` marks it as given.
  void set(std::string_view key, Value value, bool by_user);

  /// @brief The input file a text parameter names: absolute, or relative to the first of the input
  /// directories that has it. @throws Error of kind input naming the parameter and where it was
  /// looked for
  std::filesystem::path input_file(std::string_view key) const;
  /// @brief All bytes of that file. @throws Error of kind input naming the parameter for a file
  /// that cannot be read or is empty
  std::string input_text(std::string_view key) const;
  /// @brief Where relative input files are looked up, in this order.
  std::vector<std::filesystem::path> input_directories = {};
  /// What experiments of one configuration after the other share; null: each makes its own.
  std::shared_ptr<SharedCache> shared = {};
  /// Input files that were read: each once, and each table parsed once. Null: read at every use.
  std::shared_ptr<InputFiles> inputs = {};

  /// @brief All set entries in the order of the parameter table.
  Table entries() const;

 private:
  struct Entry {
    std::string key;
    std::optional<Value> value;
  };
  const Entry& find(std::string_view key) const;

  std::string study_;
  std::vector<Entry> entries_;
  std::vector<std::string> given_;
};

}  // namespace attica
