#pragma once
/// @file
/// @brief Bounds that users state, against what was measured: does y <= B(x) hold, always or with
/// probability 1 - delta, and how far is it from what happens?
///
/// At each point k of n replicates violate the bound. Their probability has the exact interval of
/// Clopper and Pearson (1934), 5 % a side. With p the probability with which the bound is stated, a
/// point
///     is VIOLATED  if the lower limit at level 0.05 / points is above 1 - p (for p = 1, if k > 0),
///     HOLDS        if the upper limit is at most 1 - p (for p = 1, at most 0.05 with k = 0, which
///                  59 replicates can show),
/// and is UNDECIDED otherwise. The bound holds if it does at every point, and is violated if it is
/// at one. It is loose if it would still hold at every point by the stated factor tighter.
/// A replicate of +infinity never reached its target: it violates every upper bound. The slack of a
/// bound is its distance from the quantile that it bounds, not from the mean: of y <= B with
/// probability p from the p-quantile of y, of one that is meant always from the largest y seen.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attica/solvers/statistics/interval.hpp"
#include "attica/studies/study.hpp"

namespace attica::sources {

class Expression;

enum class BoundVerdict { holds, loose, violated, undecided };

/// @brief "HOLDS", "HOLDS BUT LOOSE", "VIOLATED" or "UNDECIDED".
std::string_view describe(BoundVerdict verdict);
using attica::describe;

/// The bound at one x of one curve.
struct BoundPoint {
  Point point;
  std::string x_name;
  double x = 0;
  double bound = 0;
  double mean = 0;  ///< over replicates; infinite if one is
  /// What the bound is compared with: the p-quantile of the replicates, of a lower bound the (1 -
  /// p)-quantile; for p = 1 the largest, or smallest.
  double quantile = 0;
  std::size_t n = 0;
  std::size_t failed = 0;      ///< replicates without a value: nothing holds of them
  std::size_t violations = 0;  ///< among the n
  Interval rate;               ///< of violations, 5 % a side
  double slack = 0;  ///< bound / quantile, or quantile / bound of a lower one; 0: a sign changes
  /// 90 %, from order statistics; empty if too few replicates limit the quantile, or for p = 1.
  std::optional<Interval> slack_interval;
  BoundVerdict verdict = BoundVerdict::undecided;
};

struct BoundResult {
  std::string name;
  std::string series;
  std::string formula;
  bool upper = true;
  double probability = 1;
  double loose = 2;  ///< factor from which on a bound is called loose
  BoundVerdict verdict = BoundVerdict::undecided;
  std::vector<BoundPoint> points;             ///< by curve, and by rising x on it
  std::optional<std::size_t> first_violated;  ///< of points: the smallest x
  std::optional<std::size_t> tightest;        ///< of points: the smallest slack
  std::string reason;                         ///< why it is undecided
};

/// A bound as it is stated.
struct StatedBound {
  std::string name;
  std::string series = "y";
  std::string formula;
  bool upper = true;
  double probability = 1;
  double loose = 2;
  std::string key = {};   ///< of a configuration, before "expression", for messages
  std::string x = {};     ///< name of x in the formula; empty: the curves' own
  std::string only = {};  ///< curves, as "mode=scratch"; empty: all
  std::vector<std::pair<std::string, double>> numbers = {};  ///< further names of the formula
  bool deterministic = false;                                ///< replicates are identical by design
  std::string ends = {};  ///< series that says how far those were watched that are infinite
};

/// @brief Refuses a formula of delta at places that have a coordinate of this name while the bound
/// is one with probability 1 - delta: the two may differ. @throws Error of kind input
void require_one_delta(const StatedBound& stated, const Expression& formula, const Point& place);

/// @brief How far each replicate of a curve was watched at its k-th place, by `stated.ends`; null:
/// nothing is said of it.
const std::vector<double>* ends_of(const StatedBound& stated,
                                   const std::vector<ObservedCurve>& simulation,
                                   const ObservedCurve& curve,
                                   std::size_t k);

/// @brief The verdict on a bound. An infinite replicate that was watched up to less than the bound
/// has no value. NaN is a replicate without a value: nothing holds of it.
/// @throws Error of kind input for a series that was not recorded, or a formula with unknown names;
/// numerical for a bound that is not finite
BoundResult judge_stated_bound(const StatedBound& stated, const Observed& observed);

/// @brief The verdict on one point. @param deterministic replicates are identical by design
/// @param points among how many a violation is looked for
BoundVerdict judge_bound_point(std::size_t violations,
                               std::size_t n,
                               double probability,
                               std::size_t points,
                               bool deterministic);

/// @brief All bounds of a configuration of study `own`, on one problem of its sweep.
/// @throws Error of kind input for a series that was not recorded, or a formula with unknown names
std::vector<BoundResult> judge_bounds(const Configuration& c, const Observed& observed);

}  // namespace attica::sources
