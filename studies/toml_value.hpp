#pragma once
/// @file
/// @brief Values as TOML writes them.

#include <string>
#include <string_view>

#include "attica/core/value.hpp"

namespace attica {

/// @brief A value in TOML syntax; numbers in shortest round-trip form.
std::string to_toml(const Value& value);

/// @brief Refuses a document with keys of very many parts: the parser and the destructor of a
/// document go as deep as its keys, and would take the whole stack. Counts the dots of every key,
/// outside strings and comments. @throws Error of kind input
void require_shallow_keys(std::string_view text, const std::string& source);

}  // namespace attica
