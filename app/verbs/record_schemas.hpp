#pragma once
/// @file
/// @brief JSON Schemas of the records of a run, and of what `audit` prints.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attica/app/run/json.hpp"

namespace attica::app {

/// @brief Names of the records that have a schema: "audit", "check", "manifest", "provenance",
/// "run", "theory".
std::vector<std::string> record_names();

/// @brief The schema (2020-12) of a record as this version writes it; it lets further keys pass, as
/// a later version may add some. Without a value for another name.
std::optional<Json> record_schema(std::string_view name);

}  // namespace attica::app
