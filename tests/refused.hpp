#pragma once
/// @file
/// @brief What bad input is refused for.

#include <catch2/catch.hpp>
#include <functional>
#include <string>

#include "attica/core/error.hpp"

namespace attica::testing {

/// @brief The parameter an action is refused for as bad input; "accepted" if it is not.
inline std::string refused(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::input);
    return error.parameter();
  }
  return "accepted";
}

/// @brief What an action is refused with; "accepted" if it is not.
inline std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace attica::testing
