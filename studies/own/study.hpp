#pragma once
/// @file
/// @brief Study `own`: theory and simulation that users bring, as their configuration defines them.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attica/core/value.hpp"
#include "attica/studies/study.hpp"

namespace attica {

/// Its `not_compared`.
inline constexpr const char* kOwnOutside = "where the theory itself is said not to hold (compared)";

/// @brief The study that a configuration defines: what may be configured follows from what is
/// written there. Of [model] and [sweep] every key may be used; `theory.study` and
/// `simulation.study` bring the parameters of a built-in study along.
/// @param entries what the configuration says, by flat dotted key
/// @throws Error of kind input for a name that cannot be used
Study own_study(const Table& entries);

/// @brief The study whose sides its configuration brings, before any configuration: its
/// `defined_by` makes that of one.
const Study& study_of_sides();

namespace own {

/// @brief The second parts of keys `section.NAME...`, each once, in the order of the parameters.
std::vector<std::string> names_in(const Configuration& c, std::string_view section);

/// @brief The parameters of a [[bound]], which every study's configuration may have.
std::vector<Parameter> bound_parameters(const std::string& name);

/// @brief The scalars of [model] and [sim] that are numbers, which formulas may use.
std::vector<std::pair<std::string, double>> model_numbers(const Configuration& c);

}  // namespace own
}  // namespace attica
