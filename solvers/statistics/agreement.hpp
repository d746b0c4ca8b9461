#pragma once
/// @file
/// @brief Does the theory describe the simulation? AGREE, DISAGREE or INCONCLUSIVE, per point and
/// for the whole run.
///
/// A point agrees if two one-sided tests at 5 % each show the difference to lie inside the margin
/// (Schuirmann 1987), that is, if the 90 % interval of simulation - theory is inside (-m, m). It
/// disagrees if the difference lies beyond the margin at the family-wise level 5 % over all points
/// of the run (Holm 1979). Otherwise the data do not decide. A run agrees if every point does,
/// which needs no correction (Berger 1982), and disagrees if one point does. The independent unit
/// is the replicate: whatever is averaged inside one does not count towards n.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attica/solvers/statistics/interval.hpp"
#include "attica/solvers/statistics/replicates.hpp"
#include "attica/solvers/statistics/verdict.hpp"

namespace attica {

/// How far simulation and theory may differ and still agree; declared before the data are seen.
struct Margin {
  double absolute = 0;         ///< in the units of the quantity
  double relative = 0;         ///< times |theory|
  double finite_size = 0;      ///< absolute allowance for what the theory neglects
  double numerical_error = 0;  ///< absolute error of the theory's own numbers

  /// m = absolute + relative |theory| + finite_size + numerical_error
  double total(double theory) const;
  /// False if there is nothing to agree within: no term but the numerical error, or a relative
  /// margin of the theory value 0 without an absolute one.
  bool declared(double theory) const;
};

/// @brief Throws Error (input, parameter `margin`) if a term is negative or not finite.
void validate(const Margin& margin);

/// One x of one series: what theory says and what every replicate gave.
struct ComparedPoint {
  std::optional<double>
      theory;  ///< empty or not finite: the theory has no value here, nothing is compared
  std::vector<double> replicates = {};  ///< one value per replicate; non-finite = failed
  Margin margin = {};
  Tails tails = Tails::guarded;
  bool deterministic = false;  ///< replicates are meant to be identical: compare exactly
  /// Replicates are successes (1) and failures (0), the theory is their probability: exact binomial
  /// tests.
  bool success_fraction = false;
  /// Points of one number belong to one series: the guard pools their skewness (pool_skewness).
  std::optional<std::size_t> series = std::nullopt;
  /// Replicates of a second simulation, of which `theory` is the mean: both means are uncertain,
  /// and their difference is judged by Welch's t. Empty: the theory is exact.
  std::vector<double> theory_replicates = {};
};

/// What became of a point besides its verdict.
enum class PointStatus {
  compared,
  no_theory,  ///< not counted among the points of the run
  no_margin,  ///< z is reported, agreement refused
  failed,     ///< some replicates are not finite; moments are those of the finite ones
};

struct PointVerdict {
  Verdict verdict = Verdict::none;
  PointStatus status = PointStatus::compared;
  std::string reason;   ///< why there is no decision; empty for AGREE and DISAGREE
  std::string warning;  ///< empty if none
  double theory = 0;    ///< 0 if there is none
  SampleSummary sample;
  double difference = 0;  ///< mean - theory
  double margin = 0;      ///< total, absolute
  Margin margin_terms;
  Tails tails = Tails::guarded;
  bool success_fraction = false;     ///< exact binomial tests
  std::optional<Interval> interval;  ///< 90 % interval of the difference; needs two replicates
  std::optional<double> z;           ///< difference / SEM; needs SEM > 0
  double p_agree = 1;
  double p_disagree = 1;
  double p_disagree_adjusted = 1;  ///< over all points of the run
  double guard_share = 0;          ///< share of the tail guard in the interval's width
  /// INCONCLUSIVE, and AGREE with normal tails: only the guard stands between.
  bool guard_alone = false;
  /// INCONCLUSIVE only: replicates that decide with probability 0.9 if the true difference and
  /// spread are those seen; empty if none do, the difference being too close to the margin.
  std::optional<std::size_t> replicates_needed;
  /// Smallest |difference| found with probability 0.9 at this n and spread.
  std::optional<double> detectable_gap;
};

/// How the disagreement tests of a run are combined.
enum class Family {
  holm,           ///< valid under any dependence
  max_statistic,  ///< sign flips of shared replicates; normal tails and equal n only
};

struct JudgeOptions {
  Family family = Family::holm;
  std::uint64_t seed = 0;  ///< of the sign flips
  bool details = true;     ///< intervals, gaps that could be found, replicates that would decide
};

struct RunVerdict {
  Verdict verdict = Verdict::none;   ///< none: nothing was compared
  std::vector<PointVerdict> points;  ///< in the order given
  std::size_t compared = 0;          ///< P: points with a theory value
  std::size_t agree = 0;             ///< of P
  std::size_t disagree = 0;
  std::size_t inconclusive = 0;
  std::size_t no_theory = 0;
  std::size_t no_margin = 0;  ///< among the inconclusive
  std::size_t failed =
      0;  ///< among the inconclusive; a run with failures ends as a numerical failure
  /// Index of the point most at odds with the theory: smallest adjusted p of disagreement, then
  /// largest p of agreement.
  std::optional<std::size_t> worst;
  std::optional<double> largest_detectable_gap;  ///< over the points
};

/// @brief Moments of the replicates of every point, in the order given; points of one series share
/// what they tell of tails (pool_skewness).
std::vector<SampleSummary> summarise(std::span<const ComparedPoint> points);

/// @brief The verdict on a run.
/// @param points  all compared points of all series, fixed before looking at the data
/// @throws Error (input) for a bad margin, successes other than 0 and 1, or data that
/// Family::max_statistic cannot treat
RunVerdict judge(std::span<const ComparedPoint> points, const JudgeOptions& options = {});

/// @brief Sets the counts, the worst point and the verdict of a run from its points.
void summarise(RunVerdict& run);

}  // namespace attica
