#pragma once
/// @file
/// @brief Scaling exponents in several variables at once: y = A x_1^a_1 x_2^a_2 ..., from medians
/// at many combinations of sizes, with the covariance of the exponents.
///
/// The conventions are those of exponents.hpp: ln median by ordinary least squares, intervals from
/// resampling the replicates of every cell (Efron 1979), or from the scatter about the fit where
/// cells have few; censored replicates stay in the median.
/// With one variable and no correction the result is that of fit_exponent. A correction to scaling
/// adds one column to the design: it changes what the exponents mean, so it is named and chosen,
/// never searched for.

#include <cstddef>
#include <cstdint>
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
};

struct JointFit {
  std::vector<JointMedian> medians;
  /// More used cells than coefficients, and sizes that vary independently; what follows is empty
  /// without it.
  bool fitted = false;
  std::vector<JointExponent> exponents;
  std::vector<std::vector<double>> covariance;  ///< of the exponents, over the resamples
  double intercept = 0;                         ///< ln A
  double correction = 0;                        ///< c
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
};

/// @brief The fit with 2000 resamples. Cells with more than a quarter censored are left out.
/// @param names  of the variables, for messages
/// @throws Error (input) for sizes or samples that are not > 0, a combination that is there twice,
/// no samples, missing caps
JointFit fit_joint_exponents(std::vector<ScalingCell> cells,
                             const std::vector<std::string>& names,
                             const Correction& correction = {},
                             std::uint64_t seed = 0);

/// @brief Compares one exponent of a joint fit with a predicted one, as judge_predicted_exponent.
ExponentVerdict judge_joint_exponent(const JointFit& fit,
                                     std::size_t variable,
                                     double predicted,
                                     double tolerance = kExponentTolerance);

/// @brief agrees if the 90 % interval lies within the tolerance, violated if the 95 % one misses
/// it.
ExponentVerdict judge_interval(const Interval& interval90,
                               const Interval& interval95,
                               double predicted,
                               double tolerance = kExponentTolerance);

}  // namespace attica
