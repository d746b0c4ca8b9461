#pragma once
/// @file
/// @brief Why something that was brought meets no theory, in words.

#include <optional>
#include <span>
#include <string>

#include "attica/core/series.hpp"

namespace attica::sources {

/// @brief Why a simulated curve has no theory: in what the nearest curves of the theory differ.
std::string why_no_curve(std::span<const Prediction> theory, const Series& curve);

/// @brief Why a simulated x has no theory: which x of the curve is nearest, and what makes it
/// match.
/// @param match relative distance up to which x match; none: as far as their printed digits say
std::string why_no_x(double x,
                     const std::string& x_name,
                     std::span<const double> theory,
                     std::optional<double> match = {});

}  // namespace attica::sources
