#pragma once
/// @file
/// @brief How many replicates make the interval of an exponent, a floor or a constant as narrow as
/// is wanted, and at which sizes.
///
/// Widths fall as 1/√n. With w0 the width that a pilot of n0 replicates a size had, and nu0 degrees
/// of freedom behind its errors, the width w of n replicates is kept with probability P from
///
///     n = n0 (w0/w)² F_P(nu, nu0),   nu = nu0 n/n0,
///
/// on: the ratio of two estimates of one variance follows the F distribution. The width of an
/// interval from order statistics is a sum of m spacings of the replicates, with a relative error
/// 1/√m: its square has m/2 degrees of freedom, which grow as √n alone.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "attica/solvers/statistics/joint_exponents.hpp"

namespace attica {

/// An interval that a pilot came to.
struct PilotWidth {
  double replicates = 0;  ///< at each combination of sizes
  double width = 0;
  double degrees = 0;  ///< of freedom of the squared width
  /// The power of n with which they grow: 1/2 for order statistics, and for quantiles that are
  /// resampled.
  double growth = 1;
};

/// Most replicates that are planned.
inline constexpr std::size_t kMostPlannedReplicates = 100'000'000;

/// @brief The fewest replicates with which the width is kept with this probability; none above
/// kMostPlannedReplicates.
/// @throws Error (input) for a width or a probability out of range
std::optional<std::size_t> replicates_for_width(const PilotWidth& pilot,
                                                double width,
                                                double probability);

/// @brief Degrees of freedom of the squared error of a p-quantile that is resampled from n
/// replicates: 2 √(n p (1 - p)), as simulated for normal replicates (Hall and Martin 1988: the
/// relative error of the variance falls as n^(-1/4)).
double quantile_degrees(std::size_t n, double p);

/// @brief How many combinations of sizes the errors of an exponent come from, each weighted by its
/// part in the variance: (Σ v)²/Σ v². The fewest among the variables.
double effective_combinations(const std::vector<std::vector<double>>& used);

/// Sizes that a run could have, and what they do to the interval of one variable.
struct SizesPlan {
  std::vector<std::vector<double>> sizes;  ///< of each variable, a grid of all
  std::size_t combinations = 0;
  std::vector<double> factors;  ///< on the width of each variable's exponent in the pilot
};

/// @brief Grids that extend the pilot's sizes upwards: by no factor, by 2, 4, and 8, each with as
/// many sizes at equal ratios, four at least, whole ones if the pilot's are; the first one is the
/// pilot's own sizes where these can carry a verdict. Errors of the logarithms are taken to be
/// those of the pilot everywhere.
/// @param used  combinations of the pilot's sizes, as fitted
std::vector<SizesPlan> plan_sizes(const std::vector<std::vector<double>>& used);

}  // namespace attica
