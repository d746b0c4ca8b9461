#pragma once
/// @file
/// @brief Claims as statistics: a statement about a probability or a mean over replicates, its
/// interval and its error rates.
///
/// "The ordering holds in at least 80 % of runs" agrees if the replicates show at level 5 % that
/// the probability is not below 0.8 (exact binomial tail), and disagrees if they show that it is
/// not 0.8 or above. "The mean is above b" likewise with the one-sided bound on a mean of
/// replicates.hpp. So n replicates that all hold show no more than 0.05^(1/n): three show 0.37,
/// five 0.55, fourteen 0.81.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "attica/solvers/statistics/interval.hpp"
#include "attica/solvers/statistics/verdict.hpp"

namespace attica {

/// Level of both errors of a claim.
inline constexpr double kClaimLevel = 0.05;

struct ClaimTest {
  double estimate = 0;               ///< the fraction, or the mean; 0 without replicates
  std::optional<Interval> interval;  ///< 90 % interval; empty if there are too few replicates
  double p_agree = 1;                ///< of "the statement is wrong"
  double p_disagree = 1;             ///< of "the statement is right"
  /// The smallest p_disagree that so many replicates can come to, however wrong the statement is.
  double least_p_disagree = 0;
  /// Least number of replicates that decides if the estimate stays what it is; empty if the
  /// claim is decided, or none up to a million does.
  std::optional<std::size_t> needed = {};

  /// @brief One claim alone: AGREE, DISAGREE or INCONCLUSIVE at kClaimLevel.
  Verdict verdict() const;
};

/// @brief Claim: it holds with probability `rate` or more.
/// @param holds  one entry a replicate
/// @throws Error (input) unless 0 < rate < 1
ClaimTest rate_at_least(const std::vector<bool>& holds, double rate);

/// @brief Claim: the mean is above (or below) the bound.
/// @param values  one a replicate; non-finite ones count as failures, and then nothing is shown
/// @param tails   guarded by default, as everywhere
ClaimTest mean_above(std::span<const double> values, double bound, Tails tails = Tails::guarded);
ClaimTest mean_below(std::span<const double> values, double bound, Tails tails = Tails::guarded);

/// @brief Claim: the mean of some sample of the first group is above the means of all samples of
/// the second, e.g. a curve is highest inside its range. Which one is not chosen by the data for
/// free: Bonferroni over the first group.
/// @param first,second  samples of one value a replicate; samples are independent or matched by
/// replicate
ClaimTest some_above_all(std::span<const std::vector<double>> first,
                         std::span<const std::vector<double>> second,
                         Tails tails = Tails::guarded);

/// @brief Claim: all of these hold. Each has to be shown at level 5 %; one that is refuted at its
/// share of 5 % refutes all (Bonferroni).
ClaimTest all_of(std::span<const ClaimTest> tests);

/// @brief The verdicts of claims that are made at once: each agrees at its own level, as all must;
/// the disagreements share 5 % (Holm 1979).
/// @param p_agree,p_disagree  one a claim
std::vector<Verdict> claim_verdicts(std::span<const double> p_agree,
                                    std::span<const double> p_disagree);

}  // namespace attica
