#pragma once
/// @file
/// @brief What a card says for a configuration: its figure and its margins.

#include <toml++/toml.h>

#include <memory>
#include <string>
#include <vector>

#include "attica/studies/study.hpp"

namespace attica {

/// A card, or a base of it.
struct CardTable {
  std::string source;  ///< path, for messages
  toml::table table;
};

/// A card's bases and the card; bases are shared by all cards that name them.
using CardTables = std::vector<std::shared_ptr<const CardTable>>;

/// @brief The figure that the last of these tables with a `figure` describes.
/// @throws Error of kind input with the place of every mistake
Figure figure_of_card(const CardTables& tables,
                      const std::string& name,
                      const Configuration& configuration);

/// @brief The margins of all these tables: one whose `when` does not hold is left out, and of two
/// for a series the later one changes what it says.
/// @throws Error of kind input with the place of every mistake
std::vector<AgreementRule> margins_of_card(const CardTables& tables,
                                           const Configuration& configuration);

}  // namespace attica
