#pragma once
/// @file
/// @brief Scaling exponents in several variables at once: y = A x_1^a_1 x_2^a_2 ..., from medians
/// at many combinations of sizes, with the covariance of the exponents.
///
/// The conventions are those of exponents.hpp: ln median, or ln of another quantile, by least
/// squares, intervals from resampling the replicates of every cell (Efron 1979), or from the
/// scatter about the fit where cells have few; censored replicates stay in the quantile. Cells are
/// weighted by their errors: where the spread of ln samples is the same in all cells (Levene's test
/// with medians, Brown and Forsythe 1974, at 1 %), by the numbers of replicates; else by the
/// variance of each cell's quantile over the resamples. With one variable, equal numbers of
/// replicates, equal spreads and no correction the result is that of fit_exponent. A correction to
/// scaling adds one column to the design: it changes what the exponents mean, so it is named and
/// chosen, never searched for.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attica/solvers/statistics/exponents.hpp"
#include "attica/solvers/statistics/interval.hpp"

namespace attica {

/// One combination of sizes, and what each replicate needed there (+infinity: never reached).
struct ScalingCell {
  std::vector<double> x;  ///< one size > 0 for every variable
  std::vector<double> samples;
  double cap = 0;  ///< samples at which runs were stopped; needed where some are infinite
  /// Quantile of this cell, where it is not that of the fit.
  std::optional<double> quantile = {};
  /// Cells of one number have the same replicates, of which they take different quantiles: these
  /// are resampled together, and the residuals are not tested.
  std::optional<std::size_t> replicates_of = {};
};

/// What else than a power the value may follow in one of the variables.
enum class CorrectionKind {
  none,
  logarithm,     ///< a factor (ln x)^c, x > 1
  inverse,       ///< a factor exp(c/x) = 1 + c/x + ...
  inverse_root,  ///< a factor exp(c/√x)
};

struct Correction {
  CorrectionKind kind = CorrectionKind::none;
  std::size_t variable = 0;
};

/// @brief "power law", "times (ln T)^c", "times exp(c/T)", "times exp(c/sqrt T)".
std::string describe(const Correction& correction, const std::string& variable);

struct JointMedian {
  std::vector<double> x;
  double median = 0;
  double error = 0;  ///< standard error of ln median, from the resamples; 0 if it is not used
  double fitted = 0;
  std::size_t seeds = 0;
  std::size_t censored = 0;
  bool used = false;
};

/// The exponent of one variable.
struct JointExponent {
  double exponent = 0;
  Interval interval95;
  Interval interval90;
  double without_smallest = 0;  ///< the exponent without the cells at its smallest value
  double without_largest = 0;
  bool window_dependent = false;  ///< one of them is outside the 95 % interval
  /// At level 0.05 over all variables: a verdict on all exponents together violates by these.
  Interval interval_joint;
  /// Why this variable's sizes cannot carry a verdict; empty if they can.
  std::string weakness;
};

struct JointFit {
  std::vector<JointMedian> medians;
  /// More used cells than coefficients, and sizes that vary independently; what follows is empty
  /// without it.
  bool fitted = false;
  std::vector<JointExponent> exponents;
  std::vector<std::vector<double>> covariance;  ///< of the exponents, over the resamples
  double intercept = 0;                         ///< ln A
  double prefactor = 0;                         ///< A
  Interval prefactor95;
  double correction = 0;  ///< c
  Interval correction95;
  /// Intervals and covariance come from the scatter about the fit, as in ExponentFit; infinite
  /// without degrees of freedom.
  bool from_scatter = false;
  /// Weighted sum of squares about the best fit of this form, whose expectation is `degrees` if the
  /// form is right, and the probability of a larger one (χ²).
  double chi_square = 0;
  std::size_t degrees = 0;
  double p_value = 1;
  /// Why the fit cannot carry a verdict; empty if it can.
  std::string weakness;
  std::string cells_weakness;  ///< the same without what is wrong with the sizes of one variable
};

/// Residuals so large would happen to a correct form once in a thousand if the errors of the
/// medians were known; with errors estimated from a dozen replicates, a few times in a hundred.
inline constexpr double kPoorJointFit = 0.001;

/// @brief The fit with 2000 resamples. Cells with too many censored values (exponents.hpp) are left
/// out.
/// @param names  of the variables, for messages
/// @param quantile  of the replicates of each cell
/// @throws Error (input) for sizes or samples that are not > 0, a combination that is there twice,
/// no samples, missing caps
JointFit fit_joint_exponents(std::vector<ScalingCell> cells,
                             const std::vector<std::string>& names,
                             const Correction& correction = {},
                             std::uint64_t seed = 0,
                             double quantile = 0.5);

/// @brief Compares one exponent of a joint fit with a predicted one, as judge_predicted_exponent.
ExponentVerdict judge_joint_exponent(const JointFit& fit,
                                     std::size_t variable,
                                     double predicted,
                                     double tolerance = kExponentTolerance);

/// An upper bound on the exponent of one variable: y grows no faster than x^exponent.
struct StatedExponent {
  std::size_t variable = 0;
  double exponent = 0;
};

/// One verdict on several upper bounds, and what each contributes to it.
struct JointBound {
  ExponentVerdict verdict = ExponentVerdict::undecided;
  std::vector<ExponentVerdict> each;
  std::string reason;  ///< why it is undecided
};

/// @brief The bound y <= C x_1^a_1 x_2^a_2 ... as one statement: violated if one exponent is above
/// the stated one by more than the tolerance, at level 0.05 over all; within the bound if every
/// upper 95 % limit is not (intersection-union: each at its own level); vacuous if it is so in all.
/// The sizes of a variable that is violated must carry a verdict; of a bound that is kept, all.
JointBound judge_joint_bound(const JointFit& fit,
                             const std::vector<StatedExponent>& stated,
                             double tolerance = kExponentTolerance);

/// @brief agrees if the 90 % interval lies within the tolerance, violated if the 95 % one misses
/// it.
ExponentVerdict judge_interval(const Interval& interval90,
                               const Interval& interval95,
                               double predicted,
                               double tolerance = kExponentTolerance);

}  // namespace attica
