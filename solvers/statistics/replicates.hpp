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
/// The sample skewness of normal replicates is large by chance: its standard deviation is 0.31 at
/// n = 60. Where a series has at least 4 points, what they share tells more than each alone, and
/// the weight is that of a skewness pooled over them (pool_skewness), from 20 replicates on:
/// w = min(1, w_0 + (max(pooled skewness, 0) / 0.7)^2), w_0 = 0.03 below 40 replicates, else 0.
///
/// With confidence 1 - alpha no more than 1 - alpha^(1/n) of the probability lies beyond the
/// largest of n values; kappa times the reach says how far out that mass may be. The constants were
/// chosen on simulated families and tried on others: docs/statistics.md has the evidence, and what
/// no procedure can promise (Bahadur and Savage 1956).

#include <cstddef>
#include <optional>
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

/// Skewness that the guard assumes on each side: of a tail above the mean, and of one below it.
struct TailSkewness {
  double upper = 0;
  double lower = 0;
};

/// Guard in data units, without the factors that depend on n and the level: w (largest value -
/// mean), per side.
struct GuardScale {
  double upper = 0;
  double lower = 0;
};

/// The replicates on the other side of a difference of two means.
struct OtherSide {
  std::size_t n = 0;       ///< finite replicates
  std::size_t failed = 0;  ///< non-finite ones
  double sem = 0;
  GuardScale guard = {};
};

/// The largest value of a replicate: its square is finite, with room for the sum of many.
inline constexpr double kLargestValue = 1e150;

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
  /// From all points of the series (pool_skewness); empty: this sample's own skewness counts.
  std::optional<TailSkewness> pooled = std::nullopt;
  /// What the mean is compared with is itself a mean: bounds are then those of their difference.
  std::optional<OtherSide> other = std::nullopt;

  /// @brief Standard error of the mean, or of the difference of two: sqrt(sem^2 + other.sem^2).
  double standard_error() const;
  /// @brief Degrees of freedom of it: n - 1, or those of Welch (1947) and Satterthwaite (1946).
  double degrees_of_freedom() const;
  /// True if the spread is no more than rounding: sd < 8 eps max|y|.
  bool identical() const;
};

/// @brief Summary of one value per replicate. Adding a constant or scaling changes it accordingly.
SampleSummary summarise(std::span<const double> replicates);

/// @brief Sets `pooled` of the points of one series from the skewness of all of them. A point's
/// skewness is shrunk towards the mean of the series by the share of the variance between points
/// that chance explains (James and Stein 1961; the variance of the skewness of normal samples is 6
/// n (n - 1) / ((n - 2) (n + 1) (n + 3))). No side is given less than the series has, or
/// than chance leaves possible for the point itself, and a point that stands out by more than
/// chance keeps its own. Invariant under shifts and scales; nothing of a theory enters.
/// @param series  with fewer than 4 points of at least 20 varying replicates nothing is pooled, and
/// points with fewer replicates are left as they are; if no point has 20, those with 8 are pooled,
/// which guard_scale uses for more replicates only
void pool_skewness(std::span<SampleSummary* const> series);

/// @brief first - second, replicate by replicate, of as many as both have.
std::vector<double> differences(std::span<const double> first, std::span<const double> second);

/// @brief The guard's scale for samples like this one with n replicates in all; zero for normal
/// tails.
/// @param n  decides between the weights for few and for many replicates
GuardScale guard_scale(const SampleSummary& sample, Tails tails, std::size_t n);

/// The factors of a half width that depend on n and the one-sided level only.
struct CriticalValue {
  double t = 0;            ///< quantile of Student's t with n - 1 degrees of freedom
  double guard = 0;        ///< (1 - alpha^(1/n)) kappa_n
  double other_guard = 0;  ///< the same for the replicates on the other side of a difference
};

/// @param n      replicates, n >= 2
/// @param alpha  one-sided level, 0 < alpha < 1
CriticalValue critical_value(std::size_t n, double alpha);
/// @brief The same for a sample, whose mean may be one of two.
CriticalValue critical_value(const SampleSummary& sample, double alpha);

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
