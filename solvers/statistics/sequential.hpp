#pragma once
/// @file
/// @brief Stopping as soon as a run is decided, without spoiling the error rates.
///
/// Looking after every batch with fixed-sample levels is invalid. Two rules replace Student's
/// quantile by a larger one:
/// - with a cap on the replicates, a group-sequential rule of at most five equal looks that spends
/// the level as
///   alpha(tau) = alpha ln(1 + (e - 1) tau) (Lan and DeMets 1983, of Pocock's kind), its boundaries
///   by recursive integration (Armitage, McPherson and Rowe 1969);
/// - without a cap, an asymptotic confidence sequence (Waudby-Smith, Arbour, Sinha, Kennedy and
/// Ramdas 2024). Agreement is tested at 5 % per side, disagreement at 2.5 %/P per side (Bonferroni
/// over points: Holm's step-down does not commute with stopping). The first look has 30 replicates
/// or more. A point that is decided stays so. Looks must be at replicate counts fixed in advance
/// and take replicates in their order, never "when a thread is free".

#include <cstddef>
#include <span>
#include <vector>

#include "attica/solvers/statistics/agreement.hpp"
#include "attica/solvers/statistics/replicates.hpp"

namespace attica {

/// @brief z_1..z_K: a standard normal score observed at equal information steps crosses none of
/// them with probability
///        1 - alpha, the levels being spent as stated above.
/// @param alpha  one-sided, 0 < alpha < 1/2
/// @param looks  K >= 1
std::vector<double> group_sequential_boundaries(double alpha, std::size_t looks);

/// How far simultaneous errors are counted.
enum class Sided { one, two };

/// @brief Half width of the confidence sequence at n replicates, in units of their standard
/// deviation.
///
/// With rho^2 = (-2 ln alpha + ln(-2 ln alpha) + 1) / n_tight: sqrt(2 (n rho^2 + 1) / (n rho)^2 L),
/// where L = ln(sqrt(n rho^2 + 1) / alpha) two-sided at alpha, and ln(1 + sqrt(n rho^2 + 1) /
/// alpha) one-sided at alpha / 2.
/// @param n_tight  n at which the sequence shall be narrowest
double confidence_sequence_radius(double alpha, std::size_t n, std::size_t n_tight, Sided sided);

/// What a test at one look uses in place of its fixed-sample level.
struct LookLevel {
  CriticalValue critical;
  double alpha = 0;  ///< nominal one-sided level, for success fractions
};

struct LookLevels {
  LookLevel agree;
  LookLevel disagree;
};

/// @brief The capped rule for a run of P points.
class GroupSequentialRule {
 public:
  /// @param cap     largest number of replicates, >= 30; 1.25 times the planned number is a good
  /// choice
  /// @param points  P >= 1
  GroupSequentialRule(std::size_t cap, std::size_t points);

  /// @brief Replicates at each look; the last is the cap. Five looks if each has 30 replicates
  /// more, else fewer.
  const std::vector<std::size_t>& replicates() const { return replicates_; }
  /// @brief Levels at a look, 0 <= look < replicates().size().
  LookLevels levels(std::size_t look) const;

 private:
  std::vector<std::size_t> replicates_;
  std::vector<double> agree_;
  std::vector<double> disagree_;
};

/// @brief The open-ended rule for a run of P points at n >= 30 replicates; looks may come as often
/// as wanted.
/// @param n_tight  the planned number of replicates, or 100
LookLevels confidence_sequence_levels(std::size_t n, std::size_t points, std::size_t n_tight);

/// @brief The verdict at a look. Points that `before` has decided keep their verdict; intervals are
/// those of the rule;
///        p-values and replicates_needed are those of a fixed sample, for orientation.
/// @param points  with the look's replicates
/// @param before  the previous look's verdict; empty points at the first look
RunVerdict judge_look(std::span<const ComparedPoint> points,
                      const LookLevels& levels,
                      const RunVerdict& before);

}  // namespace attica
