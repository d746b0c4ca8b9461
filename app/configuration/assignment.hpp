#pragma once
/// @file
/// @brief "key=value" of the command line as text, before it is read as TOML.

#include <string>
#include <string_view>

namespace attica::app {

/// @brief Refuses what would be more than one key and one value: a line break that begins another
/// key, and a comment.
/// @param shown as the user typed it, for the message
void require_one_value(std::string_view text, const std::string& shown);

/// @brief What to type in place of a line "key=value" whose number is written with a decimal comma
/// or a minus sign that is not '-': "; type model.rho=-0.5". Empty: nothing that is known.
std::string assignment_hint(std::string_view line);

/// @brief The same of a number alone: "; type 0.5".
std::string typed_number_hint(std::string_view text);

}  // namespace attica::app
