#pragma once
/// @file
/// @brief Words that a parameter allows, and what they mean: one table for both.

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attica/studies/configuration.hpp"

namespace attica {

/// @brief Words and what they stand for, in the order in which they are shown.
template <class E>
class Choices {
 public:
  Choices(std::initializer_list<std::pair<const char*, E>> table) : table_(table) {}

  /// @throws std::logic_error for a word that the parameter would not have let through
  E operator()(std::string_view word) const {
    for (const auto& [name, meaning] : table_) {
      if (name == word) return meaning;
    }
    throw std::logic_error("no choice '" + std::string(word) + "'");
  }
  E of(const Configuration& c, std::string_view key) const { return (*this)(c.text(key)); }
  std::vector<std::string> words() const {
    std::vector<std::string> all;
    for (const auto& entry : table_) all.emplace_back(entry.first);
    return all;
  }
  /// @brief A parameter that takes one of these words.
  Parameter parameter(const std::string& key,
                      const std::string& fallback,
                      const std::string& meaning) const {
    return {.key = key,
            .type = ParameterType::text,
            .fallback = Value(fallback),
            .meaning = meaning,
            .choices = words()};
  }

 private:
  std::vector<std::pair<const char*, E>> table_;
};

}  // namespace attica
