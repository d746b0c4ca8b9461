#pragma once
/// @file
/// @brief JSON whose objects have each key once.

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace attica {

/// @brief Parses JSON as nlohmann::json does, of whichever kind; of two equal keys of an object,
/// whose second value would silently stand for both, the name is told.
/// @param twice receives the first such key; left as it is if there is none
/// @return a discarded value if the text is no JSON
template <class Json>
Json parse_unique_json(std::string_view text, std::string& twice) {
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  bool found = false;
  const auto note = [&](int /*depth*/, typename Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !found) {
      auto name = parsed.template get<std::string>();
      found = !keys.back().insert(name).second;
      if (found) twice = std::move(name);
    }
    return true;
  };
  return Json::parse(text, note, /*allow_exceptions=*/false);
}

}  // namespace attica
