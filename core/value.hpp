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
  // Written once, in value.cpp: a variant's copies are long, and every file has values.
  Value() noexcept;
  Value(const Value& other);
  Value(Value&& other) noexcept;
  Value& operator=(const Value& other);
  Value& operator=(Value&& other) noexcept;
  ~Value();
};

}  // namespace attica

extern template class std::vector<attica::Value>;
extern template class std::vector<std::pair<std::string, attica::Value>>;
