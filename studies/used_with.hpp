#pragma once
/// @file
/// @brief Parameters that have a meaning for some words of another parameter only.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attica/studies/configuration.hpp"

namespace attica {

/// A parameter, the one that decides whether it has a meaning, and the words for which it has.
struct UsedWith {
  std::string_view key;
  std::string_view decided_by;
  std::vector<std::string_view> words;
};

/// @brief The rule for a parameter among those of a study; null if it always has a meaning. The
/// same names mean the same in all studies.
const UsedWith* used_with(const Parameter& parameter, std::span<const Parameter> study);

/// @brief Whether a parameter was given a value other than its default, as the generated
/// configurations, which name all, do not. Of a study that is not ours: whether it was given.
bool given_otherwise(const Configuration& configuration, const std::string& key);

/// @brief Refuses parameters that what decides over them gives no meaning, unless they stand at
/// their default. Every study of a card is asked before it is made.
/// @throws Error (input) naming the parameter
void refuse_unused(const Configuration& configuration, std::span<const Parameter> study);

}  // namespace attica
