#pragma once
/// @file
/// @brief What a user's file says of its study, besides what it configures: the keys of cards.

#include <string>
#include <vector>

#include "attica/studies/study.hpp"

namespace attica {

/// @brief The keys that describe: parameter, series, preset, reference_run, perturbed, limit.
const std::vector<std::string>& description_keys();

/// @brief A study with what a user's file says of it by these keys.
/// @param text the file
/// @param source its path, for messages
/// @throws Error of kind input with all mistakes, a line each, as file:line:column
Study with_description(Study study, const std::string& text, const std::string& source);

}  // namespace attica
