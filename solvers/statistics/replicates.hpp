#pragma once
/// @file
/// @brief The mean of independent replicates and how far the true mean may be from it.
///
/// The interval is Student's t, d +- t SEM, widened by a guard against heavy tails. With
/// right-skewed replicates the mean and the standard deviation come out low together, so that plain
/// t rejects "the simulation is below the theory" far too often, and almost never errs on the other
/// side. The guard therefore widens only the side of the longer tail, by what a rare value beyond
/// the largest one seen could add to the mean:
///
///     h(alpha) = t SEM + G,   G = (1 - alpha^(1/n)) kappa_n w (largest value - mean),
///     kappa_n = max(4, 100/n),   w = 1 if n < 30, else min(1, (max(skewness, 0) / 0.7)^2).
///
/// With confidence 1 - alpha no more than 1 - alpha^(1/n) of the probability lies beyond the
/// largest of n values; kappa times the reach says how far out that mass may be. The constants were
/// chosen on simulated families and tried on others: docs/statistics.md has the evidence, and what
/// no procedure can promise (Bahadur and Savage 1956).

#include <cstddef>
#include <span>
#include <vector>

#include "attica/solvers/statistics/interval.hpp"
#include "attica/solvers/statistics/verdict.hpp"

namespace attica {

/// Fewer replicates than these give no verdict.
inline constexpr std::size_t kFewestReplicates = 8;

/// One-sided bounds on a mean.
enum class Side {
  lower,  ///< the mean is not below ...
  upper,  ///< the mean is not above ...
};

/// Moments over replicates. Non-finite values (also those whose square overflows) are counted, not
/// used: if there are any, the mean is a mean given success. With no value all moments are 0; with
/// one, sd, sem and skewness are 0.
struct SampleSummary {
  std::size_t n = 0;       ///< finite replicates
  std::size_t failed = 0;  ///< non-finite ones
  double mean = 0;
  double sd = 0;        ///< divisor n - 1
  double sem = 0;       ///< sd / sqrt(n)
  double skewness = 0;  ///< m3 / m2^(3/2), central moments with divisor n
  double min = 0;
  double max = 0;

  /// True if the spread is no more than rounding: sd < 8 eps max|y|.
  bool identical() const;
};

/// @brief Summary of one value per replicate. Adding a constant or scaling changes it accordingly.
SampleSummary summarise(std::span<const double> replicates);

/// @brief first - second, replicate by replicate, of as many as both have.
std::vector<double> differences(std::span<const double> first, std::span<const double> second);

/// Guard in data units, without the factors that depend on n and the level: w (largest value -
/// mean), per side.
struct GuardScale {
  double upper = 0;
  double lower = 0;
};

/// @brief The guard's scale for samples like this one with n replicates in all; zero for normal
/// tails.
/// @param n  only n < 30 or not matters
GuardScale guard_scale(const SampleSummary& sample, Tails tails, std::size_t n);

/// The factors of a half width that depend on n and the one-sided level only.
struct CriticalValue {
  double t = 0;      ///< quantile of Student's t with n - 1 degrees of freedom
  double guard = 0;  ///< (1 - alpha^(1/n)) kappa_n
};

/// @param n      replicates, n >= 2
/// @param alpha  one-sided level, 0 < alpha < 1
CriticalValue critical_value(std::size_t n, double alpha);

/// @brief h: the mean is below mean + h (upper) or above mean - h (lower), each with confidence 1 -
/// alpha.
double half_width(const SampleSummary& sample,
                  Side side,
                  const CriticalValue& critical,
                  Tails tails);
double half_width(const SampleSummary& sample, Side side, double alpha, Tails tails);

/// @brief Both one-sided bounds at level alpha around the sample's mean: a 1 - 2 alpha interval.
Interval mean_interval(const SampleSummary& sample, double alpha, Tails tails);
Interval mean_interval(const SampleSummary& sample, const CriticalValue& critical, Tails tails);

/// Smallest p-value ever reported.
inline constexpr double kSmallestPValue = 1e-15;

/// @brief The smallest one-sided level at which the bound still excludes a value `gap` away from
/// the mean:
///        inf{alpha : gap > h(alpha)}; 1 if none below 1/2 does, never below kSmallestPValue.
/// @param sample  n >= 2 and sd > 0
double p_value(const SampleSummary& sample, Side side, double gap, Tails tails);

/// @brief p-value of "|mean - theory| >= margin" (two one-sided tests; Schuirmann 1987): small
/// means agreement.
/// @param difference  mean - theory
/// @param margin      absolute, >= 0
double agree_p_value(const SampleSummary& sample, double difference, double margin, Tails tails);

/// @brief p-value of "|mean - theory| <= margin": small means disagreement beyond the margin. Twice
/// the smaller
///        one-sided p-value, so that the level holds for every ratio of margin to spread, margin 0
///        included.
double disagree_p_value(const SampleSummary& sample, double difference, double margin, Tails tails);

}  // namespace attica
