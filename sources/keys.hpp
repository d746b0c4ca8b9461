#pragma once
/// @file
/// @brief Keys that users make up: what a configuration declares under [model], [sweep],
/// [agreement], and how it is found again.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attica/core/series.hpp"
#include "attica/studies/configuration.hpp"

namespace attica::sources {

/// @brief Whether a parameter of that key is among them.
bool has_key(const std::vector<Parameter>& parameters, const std::string& key);

/// @brief An optional parameter that is a text, or a list of them.
Parameter text_parameter(const std::string& key, const std::string& meaning, bool list = false);
/// @brief A parameter that is a number, without default.
Parameter optional_real(const std::string& key, const std::string& meaning, Range range = {});

/// @brief The second parts of keys `section.NAME...`, each once, in the order of the parameters.
std::vector<std::string> names_in(const Configuration& c, std::string_view section);

/// @brief The scalars of [model] and [sim] that are numbers, which formulas may use.
std::vector<std::pair<std::string, double>> model_numbers(const Configuration& c);

/// @brief The scalar of [model] or [sim] that a short name means.
std::optional<Value> scalar_named(const Configuration& c, const std::string& name);

/// Keys that name programs.
inline constexpr std::array kCommandKeys{
    "theory.command", "theory.training.command", "simulation.command"};
/// @brief The first of them that a configuration has; empty if it names no program.
std::string command_key(const Configuration& c);

/// @brief Whether a value is neither a list nor a table.
bool is_scalar(const Value& value);

/// @brief A scalar as it is written into a command.
std::string printed(const Value& scalar);

/// Values that a key of [sweep] takes within one problem: x, or a list that a built-in study has.
struct Loop {
  std::string name;
  std::vector<double> values;
};

/// @brief The list of numbers that [sweep] has of that name.
std::optional<Loop> loop_named(const Configuration& c, const std::string& name);

/// @brief All combinations, the first varying slowest; one empty point without any.
std::vector<std::vector<double>> combinations(const std::vector<Loop>& loops);

/// @brief A point with its coordinates in the order of their names.
Point sorted(Point point);

}  // namespace attica::sources
