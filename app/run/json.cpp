#include "attica/app/run/json.hpp"

#include <cmath>
#include <string>

#include "attica/core/error.hpp"

namespace attica::app {
namespace {

/// @param where receives the keys down to the first number that is not finite
bool is_finite(const Json& json, std::string& where) {
  if (json.is_number_float()) return std::isfinite(json.get<double>());
  if (!json.is_structured()) return true;
  for (auto it = json.begin(); it != json.end(); ++it) {
    if (is_finite(*it, where)) continue;
    const std::string key = json.is_object() ? it.key() : std::to_string(it - json.begin());
    where = where.empty() ? key : key + '.' + where;
    return false;
  }
  return true;
}

void require_finite(const Json& json) {
  std::string where;
  if (is_finite(json, where)) return;
  throw Error(ErrorKind::numerical,
              "a non-finite number was about to be recorded" +
                  (where.empty() ? std::string() : " as " + where));
}

}  // namespace

Json to_json(const Value& value) {
  if (const auto* table = std::get_if<Table>(&value)) return to_json(*table);
  if (const auto* list = std::get_if<List>(&value)) {
    Json array = Json::array();
    for (const Value& element : *list) array.push_back(to_json(element));
    return array;
  }
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  return std::get<double>(value);
}

Json to_json(const Table& table) {
  Json object = Json::object();
  for (const auto& [key, value] : table) object[key] = to_json(value);
  return object;
}

Json to_json(const Point& point) {
  Json object = Json::object();
  for (const auto& [name, value] : point) {
    std::visit([&, &key = name](const auto& v) { object[key] = v; }, value);
  }
  return object;
}

Json to_json(const Series& series) {
  return {{"name", series.name},
          {"point", to_json(series.point)},
          {"x_name", series.x_name},
          {"x", series.x},
          {"y", series.y}};
}

Json to_json(const Prediction& prediction) {
  Json json = to_json(prediction.series);
  if (!prediction.finite_size.empty()) json["finite_size"] = prediction.finite_size;
  if (!prediction.numerical_error.empty()) json["numerical_error"] = prediction.numerical_error;
  if (!prediction.compared.empty()) json["compared"] = prediction.compared;
  return json;
}

Point point_from(const Json& json) {
  Point point;
  for (const auto& [name, value] : json.items()) {
    if (value.is_string()) {
      point.emplace_back(name, value.get<std::string>());
    } else {
      point.emplace_back(name, value.get<double>());
    }
  }
  return point;
}

Series series_from(const Json& json) {
  return {.name = json.at("name"),
          .point = point_from(json.at("point")),
          .x_name = json.at("x_name"),
          .x = json.at("x"),
          .y = json.at("y")};
}

Prediction prediction_from(const Json& json) {
  Prediction p{.series = series_from(json)};
  if (json.contains("finite_size")) p.finite_size = json["finite_size"].get<std::vector<double>>();
  if (json.contains("numerical_error"))
    p.numerical_error = json["numerical_error"].get<std::vector<double>>();
  if (json.contains("compared")) p.compared = json["compared"].get<std::vector<bool>>();
  return p;
}

Json versioned(std::string_view kind, Json json) {
  if (json.is_array()) {
    for (Json& element : json) element = versioned(kind, std::move(element));
    return json;
  }
  Json object{{"schema", "attica/" + std::string(kind) + "/1"}};
  object.update(json);
  return object;
}

std::string dump(const Json& json, int indent) {
  require_finite(json);
  // Names from users' files may be in any encoding: what is not UTF-8 shows as U+FFFD.
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace attica::app
