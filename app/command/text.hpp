#pragma once
/// @file
/// @brief Text that leaves the program: words for a shell, and talk that a terminal cannot be
/// harmed by.

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "attica/core/words.hpp"

namespace attica::app {

/// @brief A word as a POSIX shell reads it back, in quotes where it needs them.
std::string shell_word(const std::string& word);

/// @brief Text on standard output, its control characters written out: what a file or a table is
/// called may not steer a terminal. Arguments as those of fmt::print.
template <class... Arguments>
void put(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  fmt::print("{}", printable(fmt::format(format, std::forward<Arguments>(arguments)...)));
}

/// @brief What a study's theory approximation, as a sentence; a study without a theory says so.
std::string approximation_sentence(const std::string& approximation);

/// @brief Talk on standard error. A closed or full standard error never ends the program.
void say(std::string_view text);

}  // namespace attica::app
