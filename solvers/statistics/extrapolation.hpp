#pragma once
/// @file
/// @brief The limit of infinite size: d(N) = a + b N^-p fitted to differences at several sizes N,
/// with a verdict on a.
///
/// Weights are fixed in advance (the numbers of replicates): weighting by measured errors makes the
/// interval too short (9 % instead of 5 % errors at 8 replicates). With x = N^-p and S_j = sum w
/// x^j,
///
///     a = sum c_i d_i,   c_i = w_i (S_2 - S_1 x_i) / (S_0 S_2 - S_1^2),   V = sum c_i^2 SEM_i^2,
///
/// and the degrees of freedom of Satterthwaite (1946), V^2 / sum c_i^4 SEM_i^4 / (n_i - 1). The
/// sizes should span a factor of 8 or more in 4 or more steps. A neglected next term of size q at
/// the smallest N shifts a by about -0.2 q (p = 1) or -0.4 q (p = 1/2) on {64, 128, 256, 512}.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "attica/solvers/statistics/agreement.hpp"
#include "attica/solvers/statistics/interval.hpp"

namespace attica {

/// The difference of simulation and theory at one size, from independent replicates.
struct SizePoint {
  double size = 0;        ///< N > 0
  double difference = 0;  ///< mean over replicates
  double sem = 0;         ///< > 0
  std::size_t n = 0;      ///< replicates, >= 2
};

struct LimitFit {
  double limit = 0;               ///< a
  double slope = 0;               ///< b
  double standard_error = 0;      ///< of a
  double degrees_of_freedom = 0;  ///< of a, not whole
  double lack_of_fit =
      0;             ///< X^2 = sum (residual / SEM)^2, chi-square with K - 2 degrees of freedom
  double p_fit = 1;  ///< its p-value
};

/// @brief Weighted least squares.
/// @param power    p > 0, given by the study
/// @param weights  one per point, > 0, not depending on the data
/// @throws Error (input) for fewer than 3 points, equal sizes, SEM or weights that are not > 0
LimitFit fit_limit(std::span<const SizePoint> points,
                   double power,
                   std::span<const double> weights);

struct LimitVerdict {
  Verdict verdict = Verdict::inconclusive;
  std::string reason;  ///< why inconclusive, or which size was dropped
  LimitFit fit;
  Interval interval;  ///< 90 % interval of a
  double p_agree = 1;
  double p_disagree = 1;
};

/// @brief Is the limit zero within the margin? Normal tails, one point; weights are the numbers of
/// replicates.
///
/// If the lack of fit has p < 0.01 the smallest size is dropped once; if that does not help, there
/// is no verdict.
/// @param margin  absolute, > 0
LimitVerdict judge_limit(std::vector<SizePoint> points, double power, double margin);

}  // namespace attica
