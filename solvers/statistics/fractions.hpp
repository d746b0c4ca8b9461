#pragma once
/// @file
/// @brief Success fractions: k successes in n replicates against a predicted probability, or
/// against each other.
///
/// Intervals and tests are exact (Clopper and Pearson 1934). A fraction agrees with pi if its 90 %
/// interval lies inside pi +- m and disagrees if it is improbable under every probability in that
/// range. Mid-p values are less conservative, but err in up to 6.5 % instead of 5 % of cases: for
/// displayed bands only. Differences of two fractions combine the two exact intervals by squares
/// (Newcombe 1998); measured coverage 94-99 % for nominal 90 %.

#include <cstddef>
#include <span>
#include <vector>

#include "attica/solvers/statistics/agreement.hpp"
#include "attica/solvers/statistics/interval.hpp"

namespace attica {

/// k successes in n trials, k <= n.
struct Count {
  std::size_t k = 0;
  std::size_t n = 0;

  double fraction() const { return static_cast<double>(k) / static_cast<double>(n); }
};

/// @brief Counts the ones.
/// @throws Error (input) for a replicate other than 0 and 1
Count count_successes(std::span<const double> replicates);

/// @brief Exact interval for the probability; each side errs with probability alpha at most.
/// @throws Error (input) unless k <= n and n >= 1
Interval clopper_pearson(const Count& count, double alpha);

/// @brief The same by mid-p: half of P(X = k) counts. For bands in figures, not for verdicts.
Interval mid_p_interval(const Count& count, double alpha);

/// @brief Two-sided p-value of the probability pi: twice the smaller tail, at most 1.
double fraction_p_value(const Count& count, double pi);
/// @brief The same with half of P(X = k) in each tail.
double fraction_mid_p_value(const Count& count, double pi);

/// @brief p-value of "the probability is margin or more away from pi": small means agreement.
double fraction_agree_p_value(const Count& count, double pi, double margin);
/// @brief p-value of "the probability is within margin of pi": small means disagreement.
double fraction_disagree_p_value(const Count& count, double pi, double margin);

/// @brief Chance that n trials of probability pi agree with pi within the margin. Not monotonic in
/// n.
double fraction_agree_power(std::size_t n, double pi, double margin);

/// @brief Interval for p1 - p2, with one-sided level alpha in each part.
Interval difference_interval(const Count& first, const Count& second, double alpha);

/// One comparison of a collapse: a size in a bin against all other sizes of that bin together.
struct CollapseCell {
  std::size_t size = 0;
  std::size_t bin = 0;
  Interval interval;  ///< 90 % interval of the difference
  Verdict verdict = Verdict::inconclusive;
};

struct Collapse {
  Verdict verdict = Verdict::none;  ///< none: no bin has enough trials
  std::vector<CollapseCell> cells;  ///< those tested; 20 trials on both sides are needed
};

/// @brief Do the success curves of several sizes fall on one, after the caller rescaled x and
/// binned it?
///
/// Agree: all 90 % intervals inside +-margin. Disagree: one interval at level 0.05 / (sizes x bins)
/// outside.
/// @param counts  [size][bin], bin edges fixed from the theory
/// @param margin  absolute difference of probabilities, > 0
Collapse judge_collapse(const std::vector<std::vector<Count>>& counts, double margin);

}  // namespace attica
