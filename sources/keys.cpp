#include "attica/sources/keys.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "attica/studies/parameters.hpp"

namespace attica::sources {

bool has_key(const std::vector<Parameter>& parameters, const std::string& key) {
  return std::any_of(
      parameters.begin(), parameters.end(), [&](const Parameter& p) { return p.key == key; });
}

Parameter text_parameter(const std::string& key, const std::string& meaning, bool list) {
  return {.key = key,
          .type = ParameterType::text,
          .fallback = std::nullopt,
          .meaning = meaning,
          .list = list};
}

Parameter optional_real(const std::string& key, const std::string& meaning, Range range) {
  return optional_parameter(real_parameter(key, 0, meaning, range));
}

Point sorted(Point point) {
  std::sort(
      point.begin(), point.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return point;
}

/// All combinations, the first varying slowest; one empty point without any.
std::vector<std::vector<double>> combinations(const std::vector<Loop>& loops) {
  std::vector<std::vector<double>> all(1);
  for (const Loop& loop : loops) {
    std::vector<std::vector<double>> extended;
    for (const auto& point : all) {
      for (const double value : loop.values) {
        extended.push_back(point);
        extended.back().push_back(value);
      }
    }
    all = std::move(extended);
  }
  return all;
}

std::string printed(const Value& value) {
  if (const auto* b = std::get_if<bool>(&value)) return *b ? "true" : "false";
  if (const auto* i = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *i);
  if (const auto* d = std::get_if<double>(&value)) return fmt::format("{}", *d);
  return std::get<std::string>(value);
}

std::string command_key(const Configuration& c) {
  for (const char* key : kCommandKeys) {
    if (c.declares(key) && c.has(key)) return key;
  }
  return {};
}

bool is_scalar(const Value& value) {
  return !std::holds_alternative<List>(value) && !std::holds_alternative<Table>(value);
}

/// The scalar of [model] or [sim] that a short name means.
std::optional<Value> scalar_named(const Configuration& c, const std::string& name) {
  for (const std::string section : {"model.", "sim."}) {
    const std::string key = section + name;
    if (c.declares(key) && c.has(key) && is_scalar(c.at(key))) return c.at(key);
  }
  return std::nullopt;
}

/// The list of numbers that [sweep] has of that name.
std::optional<Loop> loop_named(const Configuration& c, const std::string& name) {
  const std::string key = "sweep." + name;
  if (!c.declares(key) || !c.has(key)) return std::nullopt;
  const auto* list = std::get_if<List>(&c.at(key));
  if (list == nullptr) return std::nullopt;
  Loop loop{name, {}};
  for (const Value& value : *list) {
    if (const auto* d = std::get_if<double>(&value)) {
      loop.values.push_back(*d);
    } else if (const auto* i = std::get_if<std::int64_t>(&value)) {
      loop.values.push_back(static_cast<double>(*i));
    } else {
      return std::nullopt;
    }
  }
  return loop;
}

std::vector<std::string> names_in(const Configuration& c, std::string_view section) {
  const std::string front = std::string(section) + ".";
  std::vector<std::string> all;
  for (const auto& [key, value] : c.entries()) {
    if (!key.starts_with(front)) continue;
    const std::string name = key.substr(front.size(), key.find('.', front.size()) - front.size());
    if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
  }
  return all;
}

std::vector<std::pair<std::string, double>> model_numbers(const Configuration& c) {
  std::vector<std::pair<std::string, double>> all;
  for (const auto& [key, value] : c.entries()) {
    if (!key.starts_with("model.") && !key.starts_with("sim.")) continue;
    const std::string name = key.substr(key.find('.') + 1);
    if (const auto* d = std::get_if<double>(&value)) all.emplace_back(name, *d);
    if (const auto* i = std::get_if<std::int64_t>(&value))
      all.emplace_back(name, static_cast<double>(*i));
  }
  return all;
}

}  // namespace attica::sources
