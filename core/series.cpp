#include "attica/core/series.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace attica {

std::string describe(const CoordinateValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  return std::get<std::string>(value);
}

std::string describe(const Point& point) {
  std::string text;
  for (const auto& [name, value] : point) {
    if (!text.empty()) text += ", ";
    text += name + "=" + describe(value);
  }
  return text;
}

bool same_place(const Point& a, const Point& b) {
  return a == b || std::is_permutation(a.begin(), a.end(), b.begin(), b.end());
}

Point joined(const Point& outer, const Point& inner) {
  Point whole = outer;
  whole.insert(whole.end(), inner.begin(), inner.end());
  return whole;
}

}  // namespace attica
