#pragma once
/// @file
/// @brief Cards: what users read of a study, as TOML beside the code that computes it.
///
/// `studies/<family>/<name>.toml` holds question, parameters, series, presets, margins and figure
/// of the study `<family>-<name>`, or of the one it names itself. Cards are embedded in the
/// program. A card takes definitions from the files of its folder that it names as `base`. Texts
/// and tables may depend on the configuration in three ways and no more: `{word}`, `each` and
/// `when`; what needs more is a function of the study's code. CONTRIBUTING.md lists the keys.

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "attica/studies/study.hpp"

namespace attica {

/// A card as it was embedded.
struct EmbeddedCard {
  std::string_view path;  ///< "studies/gauss/lambda.toml"
  std::string_view text;
};

/// @brief All cards, and the bases they name. In the order of their paths.
std::span<const EmbeddedCard> embedded_cards();

/// @brief Reads a card into a study.
/// @param text the card
/// @param source its path, for messages
/// @param base the text of a base by its path; empty: there is none
/// @param code what the card does not say: `make`, and functions in place of its figure or margins
/// @throws Error of kind input with all mistakes, a line each, as file:line:column
Study read_card(const std::string& text,
                const std::string& source,
                const std::function<std::string_view(const std::string& path)>& base,
                Study code = {});

/// @brief The study that the embedded card of the name `code.name` describes and `code` computes.
/// @throws std::logic_error if there is no such card, or one with mistakes
Study described(Study code);

/// @brief The question of a study's embedded card, without reading the rest of the card; empty if
/// it has none of one line.
std::string_view embedded_question(std::string_view study);

}  // namespace attica
