#pragma once
/// @file
/// @brief Power laws that level off: y = floor + C x^p, as a loss against parameters, data or
/// compute has them.
///
/// For a given p the least-squares floor and C follow linearly, so that the fit is a search in p
/// alone (variable projection, Golub and Pereyra 1973) on a grid that is refined; no start is
/// needed and no local minimum is missed. What is fitted are means over replicates, weighted by
/// their standard errors. These come from all sizes together as far as the sizes' spreads allow it
/// (Bartlett's test at 1 %): relative to the mean, or absolute, or of each size alone. With one
/// replicate a size in places the error is relative, and the scatter about the curve gives it.
///
/// Intervals are of profile likelihood: all values of a parameter at which the weighted sum of
/// squares, minimised over the others, is above its minimum by at most t^2 of Student's
/// distribution. They are asymmetric, and open (infinite) where the data do not limit them. The
/// errors are taken larger where the residuals ask for it (by chi square over its degrees of
/// freedom).

#include <optional>
#include <span>
#include <vector>

#include "attica/solvers/statistics/exponents.hpp"

namespace attica {

struct FloorFit {
  /// Exponent p with its intervals, and what any fit says of its sizes; the medians beside it are
  /// not what is fitted. Without an end its exponents are NaN where no more sizes are left than
  /// the fit has parameters.
  ExponentFit exponent;
  double floor = 0;
  Interval floor95;  ///< of no width if the floor was given; ends may be infinite
  double prefactor = 0;
  Interval prefactor95;
  double chi_square = 0;
  std::size_t degrees = 0;
  double p_value = 1;  ///< of chi_square; 1 where the scatter itself gives the errors
  /// Another exponent, apart from the first, whose fit the data do not reject.
  std::optional<double> other_optimum;
};

/// @brief Fits y = floor + C x^p, with the floor given or fitted.
/// @param points  at least 4 usable sizes (3 with a given floor) for anything to be fitted
/// @throws Error (input) for x or values that are not > 0, or no seeds
FloorFit fit_with_floor(std::vector<ScalingPoint> points, std::optional<double> floor);

}  // namespace attica
