#include "attica/core/series.hpp"

#include <fmt/format.h>

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

Point joined(const Point& outer, const Point& inner) {
  Point whole = outer;
  whole.insert(whole.end(), inner.begin(), inner.end());
  return whole;
}

}  // namespace attica
