#pragma once
/// @file
/// @brief What exponents of one size and of several share: quantiles in place of medians, and the
/// rule of their verdicts.
///
/// An exponent is compared with a predicted one, or a bound, by its intervals. One that depends on
/// the window (a fit without the first or the last size falls outside of the 95 % interval) has the
/// verdict that the slopes of all windows give too, or none: it agrees if all are within the
/// tolerance, and is violated if all are beyond it on one side. Where the slopes between
/// neighbouring sizes fall one after the other a prediction has none: the curve levels off, and a
/// floor is to be fitted. Nor has an upper bound on a negative exponent; one on growth that slows
/// down is judged by the last slope, too.

#include <cstddef>
#include <span>
#include <vector>

#include "attica/solvers/statistics/exponents.hpp"
#include "attica/solvers/statistics/interval.hpp"

namespace attica {

/// @brief Seeds that the interval of a quantile needs at each size: 8, or as many as its order
/// statistics take (36 at 0.9, 72 at 0.95).
std::size_t fewest_seeds(double quantile);

/// @brief Whether a size with so many infinite values enters a fit: at most half of the share above
/// the quantile, a quarter for a median.
bool reached_often_enough(std::size_t censored, std::size_t seeds, double quantile);

/// @brief fit_exponent of a quantile of the seeds at each size in place of the median.
/// @param quantile  0 < quantile < 1
ExponentFit fit_exponent_of_quantile(std::vector<ScalingPoint> points,
                                     double quantile,
                                     const ScalingOptions& options = {});

/// @brief What the rule of both verdicts is: the intervals, and the slopes of all windows.
/// @param windows  slopes that must say the same; empty if the exponent does not depend on them
ExponentVerdict judge_prediction(const Interval& interval90,
                                 const Interval& interval95,
                                 std::span<const double> windows,
                                 double predicted,
                                 double tolerance);

/// @brief The same of an upper bound, without a constant. @param violation  interval whose lower
/// end violates the bound if it is above; the 95 % interval, or a wider one of several exponents
ExponentVerdict judge_bounded(const Interval& interval95,
                              const Interval& violation,
                              std::span<const double> windows,
                              double exponent,
                              double tolerance);

/// @brief The fit with every size that is reached too seldom at its caps: the slope of the
/// quantiles is at least this one, whatever the replicates that gave up would have needed. Not
/// fitted if there is no such size, or if one stands below the mean of the logarithms of the sizes.
ExponentFit fit_at_caps(std::vector<ScalingPoint> points, double quantile);

/// @brief An upper bound on the exponent of a quantile. Sizes that are reached too seldom violate
/// it if the fit at their caps does.
ExponentVerdict judge_upper_bound_of_quantile(const ExponentFit& fit,
                                              std::span<const ScalingPoint> points,
                                              double quantile,
                                              double exponent,
                                              double tolerance);

}  // namespace attica
