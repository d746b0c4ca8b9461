#pragma once
/// @file
/// @brief Scaling exponents: how the number of samples needed grows with the size of the problem,
/// with an interval.
///
/// At each size the median over seeds of the samples needed is taken; the exponent is the ordinary
/// least-squares slope of ln median against ln size. Its interval comes from resampling seeds
/// within each size (Efron 1979), or jointly when the same seeds run at all sizes; with one seed a
/// size it comes from the scatter about the line. A run that never
/// reached its target counts as +infinity and stays in the median: leaving such runs out, or
/// putting the cap in their place, was measured to ruin the coverage (10 % and 65 % instead of 95
/// %). A size enters the fit if at most a quarter of its seeds are censored.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attica/solvers/statistics/interval.hpp"

namespace attica {

/// What the interval of an exponent needs: sizes, their span as a factor, seeds at each; and how
/// often the seeds are drawn again.
inline constexpr std::size_t kFewestSizes = 4;
inline constexpr double kSmallestSpan = 8;
inline constexpr std::size_t kFewestSeeds = 8;
inline constexpr std::size_t kResamples = 2000;

/// One size: x and the samples that each seed needed, +infinity = never reached within the cap.
struct ScalingPoint {
  double x = 0;
  std::vector<double> samples = {};
  double cap = 0;  ///< samples at which runs were stopped; needed where some are infinite
};

struct ScalingOptions {
  bool shared_seeds = false;  ///< the same seeds run at all sizes: resampled together
  std::uint64_t seed = 0;     ///< of the resampling
};

/// What one size contributes.
struct ScalingMedian {
  double x = 0;
  double median = 0;  ///< the cap if the median is infinite
  std::optional<Interval>
      interval;  ///< 95 % by order statistics, ends at most the cap; needs 6 seeds
  std::size_t seeds = 0;
  std::size_t censored = 0;
  bool used = false;  ///< in the fit
};

struct ExponentFit {
  std::vector<ScalingMedian> medians;  ///< by growing x
  /// The fit needs 3 usable sizes; what follows is empty without it.
  bool fitted = false;
  double slope = 0;
  double intercept = 0;  ///< of ln median
  Interval interval95;
  Interval interval90;
  /// The intervals come from the scatter of the sizes about the line (Student's t), not from
  /// replicates: where a size has only one, or fewer than 8 whose resampling gives less.
  bool from_scatter = false;
  double prefactor = 0;  ///< C of C x^slope
  Interval prefactor95;
  std::vector<double> local_slopes;  ///< between neighbouring used sizes
  double without_first = 0;
  double without_last = 0;
  /// A fit without its first or last size falls outside the 95 % interval: no verdict on the slope.
  bool window_dependent = false;
  /// Why the fit cannot carry a verdict: fewer than 4 sizes, span below 8, fewer than 8 seeds, ...;
  /// empty if it can.
  std::string weakness;
};

/// @brief Least-squares slope and intercept of ln y against ln x. Use it for a theory's values in
/// the same window.
/// @param x, y  at least two points, > 0
struct Line {
  double slope = 0;
  double intercept = 0;
};
Line log_log_line(std::span<const double> x, std::span<const double> y);

/// Which seed stands in for seed s at size k in resample b.
using SeedChoice = std::function<std::size_t(std::size_t b, std::size_t k, std::size_t s)>;

/// @brief Whether neighbouring slopes get smaller in absolute value from the first to the last:
/// what a curve that levels off shows, of which a power law is no good description.
bool levels_off(const ExponentFit& fit);

/// @brief Sorted slopes of `resamples` resampled data sets (points as used in the fit, by growing
/// x).
std::vector<double> bootstrap_slopes(std::span<const ScalingPoint> points,
                                     std::size_t resamples,
                                     const SeedChoice& choose);

/// @brief The fit with 2000 resamples.
/// @throws Error (input) for x or samples that are not > 0, no seeds, missing caps, or unequal seed
/// counts when shared
ExponentFit fit_exponent(std::vector<ScalingPoint> points, const ScalingOptions& options = {});

enum class ExponentVerdict {
  agrees,        ///< predicted exponent: the 90 % interval lies within the tolerance
  within_bound,  ///< upper bound holds
  vacuous,  ///< upper bound holds, but says little: exponent 0.5 or more below, or factor 10 or
            ///< more at all sizes
  violated,
  undecided,
};

/// @brief "agrees", "within bound", "holds but vacuous", "violated" or "undecided".
std::string_view describe(ExponentVerdict verdict);

inline constexpr double kExponentTolerance = 0.1;

/// @brief Compares with a predicted exponent; violated if the 95 % interval misses it by more than
/// the tolerance.
ExponentVerdict judge_predicted_exponent(const ExponentFit& fit,
                                         double predicted,
                                         double tolerance = kExponentTolerance);

/// @brief Compares with an upper bound samples <= constant x^exponent.
/// @param bound  its values at the sizes, if the constant is known. A size whose median is above it
/// at level 0.05/K
///               violates the bound whatever the slope.
ExponentVerdict judge_upper_bound(const ExponentFit& fit,
                                  std::span<const ScalingPoint> points,
                                  double exponent,
                                  const std::function<double(double x)>& bound = {},
                                  double tolerance = kExponentTolerance);

}  // namespace attica
