#pragma once
/// @file
/// @brief What `--help` shows of every verb besides its options: two commands that run, and the
/// page that explains it.

#include <array>
#include <string>
#include <string_view>

namespace attica::app {

struct VerbHelp {
  std::string_view verb;
  std::array<std::string_view, 2> examples;  ///< commands
  std::string_view page;                     ///< "docs/guide.md#a-first-run"
};

/// @brief Of a verb. @throws std::logic_error for one that has none
const VerbHelp& help_of(std::string_view verb);

/// @brief The lines beneath a verb's options.
std::string help_footer(std::string_view verb);

/// @brief A refusal followed by the page and heading that explain it, such as
/// "(docs/guide.md#change-parameters)": of configurations and studies, else the verb's.
/// @param verb empty: none was recognised
std::string with_page(const std::string& message, std::string_view verb);

}  // namespace attica::app
