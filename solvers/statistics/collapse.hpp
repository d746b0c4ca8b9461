#pragma once
/// @file
/// @brief Data collapse: the exponents with which curves of several sizes L fall on one,
/// y L^b = f((x - x_c) L^a), how well they do, and the exponents' errors.
///
/// The quality is that of Houdayer and Hartmann (Phys. Rev. B 70, 014418, 2004,
/// arXiv:cond-mat/0402036, Eq. (A1)), after Bhattacharjee and Seno (J. Phys. A 34, 6375, 2001,
/// arXiv:cond-mat/0102515): every scaled point is compared with the straight line through the
/// points of the other sizes on either side of it,
///     S = 1/|N| Σ (y_ij - Y_ij)² / (dy_ij² + dY_ij²),
/// N being the points that have such neighbours. S is about 1 where the curves fall on one within
/// their errors, and much larger where they do not. The exponents minimise S; their errors come
/// from resampling the replicates (Efron 1979).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attica/solvers/statistics/interval.hpp"

namespace attica {

/// The curve of one size: at x[k] the replicates' values.
struct CollapseCurve {
  double size = 0;  ///< L > 0
  std::vector<double> x;
  std::vector<std::vector<double>> values;  ///< finite, at least two at every x
  /// Value r at every x is of the same replicate, as on a training curve: resampled together.
  bool shared_replicates = false;
};

/// y L^b against (x - centre) L^a.
struct CollapseForm {
  double a = 0;
  double b = 0;
  double centre = 0;
};

struct CollapseOptions {
  CollapseForm start = {};  ///< of what is free, and the values of what is not
  bool fit_a = true;
  bool fit_b = true;
  bool fit_centre = false;
  std::size_t resamples = 200;
  std::uint64_t seed = 0;
};

/// A number that was fitted, or stayed as given.
struct CollapseNumber {
  double value = 0;
  bool free = false;
  double error = 0;  ///< standard deviation over the resamples
  Interval interval95;
  Interval interval90;
};

struct CollapsePoint {
  double size = 0;
  double x = 0;  ///< scaled
  double y = 0;  ///< scaled mean over replicates
  double error = 0;
  bool compared = false;  ///< has neighbours of other sizes on both sides
};

struct CollapseQuality {
  double s = 0;  ///< +infinity where less than half of the points can be compared
  std::size_t compared = 0;
  std::vector<CollapsePoint> points;
};

struct CollapseFit {
  CollapseNumber a;
  CollapseNumber b;
  CollapseNumber centre;
  CollapseQuality quality;  ///< at the minimum
  /// S without any scaling (a = b = 0), for comparison.
  double unscaled = 0;
  std::size_t resamples = 0;  ///< that came to a minimum
  /// Why the numbers cannot carry a verdict; empty if they can.
  std::string weakness;
};

/// @brief S of that form.
/// @throws Error (input) for fewer than two sizes, sizes or x twice, fewer than two replicates,
/// values that are not finite or all equal at an x
CollapseQuality collapse_quality(const std::vector<CollapseCurve>& curves,
                                 const CollapseForm& form);

/// @brief Minimises S by the simplex method of Nelder and Mead (1965), started anew from its end
/// until it stays.
/// @throws Error as collapse_quality; (input) if nothing is free, or the curves do not overlap at
/// the start
CollapseFit fit_collapse(const std::vector<CollapseCurve>& curves, const CollapseOptions& options);

}  // namespace attica
