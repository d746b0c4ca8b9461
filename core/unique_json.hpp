#pragma once
/// @file
/// @brief JSON whose objects have each key once.

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "attica/core/read_number.hpp"

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

/// @brief The first number of a JSON text that is written other than 0 and is too small for a
/// double (1e-400), which nlohmann::json reads as 0; empty if there is none.
inline std::string_view tiny_number_of_json(std::string_view text) {
  constexpr std::string_view kOfNumbers = "+-0123456789.eE";
  for (std::size_t k = 0; k < text.size();) {
    if (text[k] == '"') {
      for (++k; k < text.size() && text[k] != '"'; ++k) {
        if (text[k] == '\\') ++k;
      }
      ++k;
    } else if (kOfNumbers.find(text[k]) != std::string_view::npos) {
      const std::string_view rest = text.substr(k);
      const std::string_view number =
          rest.substr(0, std::min(rest.find_first_not_of(kOfNumbers), rest.size()));
      if (is_below_doubles(number)) return number;
      k += number.size();
    } else {
      ++k;
    }
  }
  return {};
}

}  // namespace attica
