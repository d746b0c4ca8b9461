#pragma once
/// @file
/// @brief A small self-describing value: configuration entries and diagnostics.

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace attica {

struct Value;
/// Ordered name-value pairs; the order is that of insertion.
using Table = std::vector<std::pair<std::string, Value>>;
using List = std::vector<Value>;

/// @brief A boolean, integer, real number, text, list or table.
struct Value : std::variant<bool, std::int64_t, double, std::string, List, Table> {
  using variant::variant;
  Value(const char* text) : variant(std::string(text)) {}
  Value(int number) : variant(static_cast<std::int64_t>(number)) {}
  Value(std::size_t number) : variant(static_cast<std::int64_t>(number)) {}
  Value(const std::vector<double>& numbers) : variant(List(numbers.begin(), numbers.end())) {}
};

}  // namespace attica
