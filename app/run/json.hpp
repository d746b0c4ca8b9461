#pragma once
/// @file
/// @brief Conversions between attica's values and JSON. Numbers read back to the same double;
/// non-finite numbers never pass silently.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "attica/core/series.hpp"
#include "attica/core/value.hpp"

namespace attica::app {

using Json = nlohmann::ordered_json;

/// @throws Error of kind numerical for a non-finite number
Json to_json(const Value& value);
Json to_json(const Table& table);
Json to_json(const Point& point);
/// @brief {"name", "point", "x_name", "x", "y"}
Json to_json(const Series& series);
/// @brief A prediction with its allowances, as theory.json keeps it.
Json to_json(const Prediction& prediction);

Point point_from(const Json& json);
Series series_from(const Json& json);
Prediction prediction_from(const Json& json);

/// @brief The value with its schema, "attica/KIND/1", as first key; of a list, in each element. The
/// number rises when a key's meaning changes or a key goes; new keys do not change it.
Json versioned(std::string_view kind, Json json);

/// @brief JSON text, always valid UTF-8: one line, or indented. @throws Error of kind numerical for
/// a non-finite number anywhere
std::string dump(const Json& json, int indent = -1);

}  // namespace attica::app
