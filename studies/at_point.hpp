#pragma once
/// @file
/// @brief Where in a theory something failed.

#include <string>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/core/series.hpp"

namespace attica {

/// @brief What an Error of `at_point` ends with is what is between these and its last ")".
inline constexpr const char* kAtPoint = " (at ";

/// @brief What `compute` returns; the message of an Error that says no place ends with this point.
/// The program completes it by the setting to change.
template <class Compute>
auto at_point(const Point& point, Compute&& compute) {
  try {
    return std::forward<Compute>(compute)();
  } catch (const Error& error) {
    const std::string message = error.what();
    if (message.find(kAtPoint) != std::string::npos) throw;
    throw Error(error.kind(), message + kAtPoint + describe(point) + ")", error.parameter());
  }
}

}  // namespace attica
