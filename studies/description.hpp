#pragma once
/// @file
/// @brief What a user's file says of its study, besides what it configures: the keys of cards.

#include <map>
#include <string>
#include <vector>

#include "attica/studies/expected_points.hpp"
#include "attica/studies/study.hpp"

namespace attica {

/// @brief The keys that describe: parameter, series, preset, reference_run, perturbed, limit.
const std::vector<std::string>& description_keys();

/// @brief A study with what a user's file says of it by these keys.
/// @param text the file
/// @param source its path, for messages
/// @throws Error of kind input with all mistakes, a line each, as file:line:column
Study with_description(Study study, const std::string& text, const std::string& source);

/// @brief `expected` of each [[preset]] of a card, by the preset's name.
/// @param text the card, or a user's file @param source its path, for messages
/// @throws Error of kind input
std::map<std::string, ExpectedPoints> described_points(const std::string& text,
                                                       const std::string& source);

/// @brief The margins of [[limit]] of a user's file. @throws Error of kind input
std::vector<LimitRule> described_limits(const std::string& text, const std::string& source);

}  // namespace attica
