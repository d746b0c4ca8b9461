#pragma once
/// @file
/// @brief The ends of a likelihood interval: where a sum of squares, minimised over all other
/// parameters, has risen to a limit.

#include <functional>

#include "attica/solvers/statistics/interval.hpp"

namespace attica {

/// @brief From `at` on both sides in steps that double, then by bisection; an end is infinite if
/// the sum never passes the limit.
/// @param sum   of squares at a value of the parameter; below the limit at `at`
/// @param step  the first one, > 0
Interval profile_interval(const std::function<double(double)>& sum,
                          double at,
                          double step,
                          double limit);

}  // namespace attica
