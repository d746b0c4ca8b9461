#pragma once
/// @file
/// @brief Catch2 3 by the one header and the names of Catch2 2, which the tests are written for.
/// Only where Catch2 3 is what the system has is this folder searched.

#include <catch2/catch_all.hpp>
#include <concepts>
#include <string>

namespace Catch {
namespace Matchers {
/// @brief Of a string; the library's own is of ranges.
template <class Text>
requires std::convertible_to<Text, std::string> StringContainsMatcher Contains(Text&& text) {
  return ContainsSubstring(text);
}
}  // namespace Matchers
using namespace Matchers;
}  // namespace Catch
using Catch::Approx;
