#pragma once
/// @file
/// @brief How wrong a theory could be and still agree: the resolution of a verdict.
///
/// A verdict AGREE says no more than its margins and error bars allow. The resolution says it in
/// the units of the theory: the smallest relative error x at which the recorded replicates would no
/// longer yield AGREE, and at which they would yield DISAGREE, whether the theory is multiplied by
/// 1 + x or by 1 - x. The data lie on one side of the theory, so that one sign is noticed earlier
/// than the other: both are computed, and the larger x counts. Nothing is simulated: for one point
/// the scaled theory agrees on an interval of factors,
///
///     (mean + h - A) / (t (1 + r)) < factor < (mean - h + A) / (t (1 - r)),
///
/// with the margin m = A + r |t factor| and the half widths h of the 90 % interval, and disagrees
/// outside a wider one, whose half widths belong to the family-wise level.

#include <cstddef>
#include <optional>
#include <span>

#include "attica/solvers/statistics/agreement.hpp"
#include "attica/solvers/statistics/sequential.hpp"

namespace attica {

/// Smallest relative errors of a theory that are noticed; empty where none below 1 is.
struct Detection {
  std::optional<double> lower;   ///< x of a theory times 1 - x
  std::optional<double> higher;  ///< x of a theory times 1 + x

  /// @brief That of the harder sign: an error so large is noticed whatever its sign.
  std::optional<double> both() const;
};

/// What the recorded replicates would have noticed.
struct Resolution {
  Detection not_agree;  ///< the verdict would no longer be AGREE
  Detection disagree;   ///< the verdict would be DISAGREE
};

/// @brief The resolution at one point. 0 where the point does not agree (or does disagree) as it
/// is; empty where the theory is 0 or missing, which no factor changes.
/// @param verdict  of that point, from judge
/// @param family   number of compared points of the run, which shares the level of disagreement
Resolution resolution(const ComparedPoint& point, const PointVerdict& verdict, std::size_t family);

/// @brief The resolution of a rule that stops early. With a wrong theory it would have gone on to
/// its cap: its last look, were mean and spread there what they are now.
/// @param verdict  of that point, at the look that decided it
/// @param last     levels of the look at `cap`
/// @param cap      most replicates
Resolution resolution_by_cap(const ComparedPoint& point,
                             const PointVerdict& verdict,
                             const LookLevels& last,
                             std::size_t cap);

/// @brief If the theory were wrong by the same factor on all these points: the first that notices,
/// sign by sign.
Resolution joint(std::span<const Resolution> points);

/// @brief If it were wrong on the bluntest third of the points alone (rounded up, at least one):
/// those whose own `not_agree` (and, for `disagree`, whose own `disagree`) are the largest.
Resolution coarsest_third(std::span<const Resolution> points);

/// @brief The least number of replicates at which a relative error x of the theory, of either sign,
/// would yield DISAGREE at this point, its mean and spread being those seen; empty if no number
/// does: the
/// margin itself is wider, or the point disagrees as it is.
/// @param x  relative error, > 0
std::optional<std::size_t> replicates_to_resolve(const ComparedPoint& point,
                                                 const PointVerdict& verdict,
                                                 double x,
                                                 std::size_t family);

}  // namespace attica
