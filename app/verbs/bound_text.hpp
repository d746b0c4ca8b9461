#pragma once
/// @file
/// @brief What `attica bound` prints of a bound.

#include <string>

#include "attica/app/run/json.hpp"
#include "attica/sources/bounds.hpp"

namespace attica::app {

/// @brief "d=4, eps=0.5, n=10", without the x of what has none.
std::string place_text(const Point& point, const std::string& x_name, double x);

std::string bound_text(const sources::BoundResult& b);
Json bound_object(const sources::BoundResult& b);

}  // namespace attica::app
