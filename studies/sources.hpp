#pragma once
/// @file
/// @brief The papers that studies cite, each written down once.

#include <string>
#include <string_view>

#include "attica/studies/study.hpp"

namespace attica {

/// @brief A paper of the table in sources.cpp, and what of it is used: equations, figures.
/// @throws std::logic_error for a key that is not in the table
Source cited(std::string_view key, std::string used);

}  // namespace attica
