#pragma once
/// @file
/// @brief The smallest constant C with which y <= C B(x) holds at every x with a stated
/// probability, and an interval for it that assumes no distribution.
///
/// Each replicate needs a constant c = y/B(x). At one x the bound holds with probability p exactly
/// if C is at least the p-quantile of c; at every x, if it is at least the largest of these
/// quantiles. With L_i and U_i limits from order statistics (the binomial distribution),
///
///     [max L_i, max U_i],   L_i at level 0.025/K of K places, U_i at 0.025 each:
///
/// the lower end is above the constant only if one L_i is above its quantile, the upper end below
/// it only if U_i is below its quantile at the place that decides. Where there are too few
/// replicates for a limit, the interval is open. With p = 1 the constant is at least the largest c
/// seen, and replicates limit it from below alone.

#include <cstddef>
#include <vector>

#include "attica/solvers/statistics/interval.hpp"

namespace attica {

struct SmallestConstant {
  double value = 0;                     ///< largest of the quantiles
  Interval interval95;                  ///< ends may be infinite
  std::size_t place = 0;                ///< whose quantile decides
  std::vector<double> needed = {};      ///< the quantile at each place
  std::vector<Interval> needed95 = {};  ///< 95 % at each place alone
};

/// @param needed  at each place the constant that each replicate needs, +infinity for one that no
/// constant is enough for; at least one replicate at each
/// @param probability  0 < probability <= 1
/// @throws Error (input) for no place, a place without replicates, or NaN
SmallestConstant smallest_constant(const std::vector<std::vector<double>>& needed,
                                   double probability);

/// @brief The largest constant with which y >= C B(x) holds at every x with that probability.
SmallestConstant largest_constant(std::vector<std::vector<double>> allowed, double probability);

/// @brief The p-quantile of replicates, +infinity among them, and its limits from order statistics
/// at level alpha each; open where there are too few. p = 1: the largest value, open above.
struct LimitedQuantile {
  double value = 0;
  Interval limits;
};
LimitedQuantile limited_quantile(std::vector<double> values, double p, double alpha);

}  // namespace attica
