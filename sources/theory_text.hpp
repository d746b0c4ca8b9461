#pragma once
/// @file
/// @brief The theory of a card that is written as text: [theory] expression, [theory.flow],
/// [theory.map] or [theory.solve], with [theory.let], [theory.lists] and [theory.series].

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attica/core/series.hpp"
#include "attica/core/value.hpp"
#include "attica/solvers/formula/theory_text.hpp"
#include "attica/studies/configuration.hpp"

namespace attica::sources {

/// @brief The parameter that a key of these tables declares; empty for any other key.
/// @param value as it is written: a formula may be a number
std::optional<Parameter> theory_text_parameter(const std::string& key, const Value& value);

/// @brief Which of "flow", "map" and "solve" the configuration has.
std::vector<std::string> theory_text_kinds(const Configuration& c);

/// @brief Refuses [theory.let], [theory.lists] and [theory.series] where no formula of the theory
/// reads them. @throws Error of kind input
void require_text_read(const Configuration& c);

/// @brief Whether the theory's closed formulas need more than a formula at a time: definitions,
/// lists, or averages with errors of their own.
bool theory_text_needed(const Configuration& c);

/// @brief Series of [theory.series], in the order of the configuration.
std::vector<std::string> theory_text_series(const Configuration& c);

/// @brief Names that the formulas of the theory need from outside, in rising order.
std::vector<std::string> theory_text_names(const Configuration& c);

/// @brief The theory of a configuration, read and compiled.
class ConfiguredText {
 public:
  /// @param known names that formulas may use besides their own
  /// @throws Error of kind input naming the key
  ConfiguredText(const Configuration& c, const std::vector<std::string>& known);

  /// @brief Names of numbers that a place must have, in their order there.
  const std::vector<std::string>& names() const { return names_; }
  /// @brief Whether theory has values at whole numbers of the time only.
  bool steps() const { return text_.kind == formula::TheoryText::Kind::map; }

  /// What is predicted, and what is to be told of it.
  struct Result {
    std::vector<Prediction> predictions;
    Table diagnostics;
    std::vector<std::string> warnings;
  };
  /// A curve that is wanted.
  struct Wanted {
    std::string series;
    Point point;
    std::string x_name;
    std::vector<double> x;
    std::size_t given = 0;                     ///< of x; those after it only make the line smooth
    std::vector<std::vector<double>> numbers;  ///< for every x, by names()
  };
  /// @brief Values of curves. Points without a value are left out, each with its reason among the
  /// warnings.
  /// @param sharper 1 and 2: tolerances ten and a hundred times smaller, of flows a hundred and a
  /// thousand times
  /// @throws Error of kind numerical with the reason, where no point has any
  Result predict(const std::vector<Wanted>& wanted, int sharper = 0) const;

 private:
  /// Key and formula that use a name.
  std::pair<std::string, std::string> where_used(const std::string& name) const;

  formula::TheoryText text_;
  std::vector<std::string> names_;
  formula::Effort effort_ = {};
  std::optional<formula::TextTheory> theory_;
};

}  // namespace attica::sources
