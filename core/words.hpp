#pragma once
/// @file
/// @brief Words of users: the one that was meant, and text that cannot harm a terminal.

#include <string>
#include <string_view>
#include <vector>

namespace attica {

/// @brief Whether the text has characters that steer a terminal or end a line: below 0x20, 0x7f,
/// and the same range with the high bit (U+0080 to U+009f).
bool has_control_characters(std::string_view text);

/// @brief The text with its control characters written out (\x1b), lines and tabulators kept.
std::string printable(std::string_view text);

/// @brief Of `candidates`, the one a typist most likely meant; empty if none is near.
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace attica
