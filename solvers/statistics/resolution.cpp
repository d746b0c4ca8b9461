#include "attica/solvers/statistics/resolution.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "attica/solvers/statistics/fractions.hpp"
#include "attica/solvers/statistics/power.hpp"

namespace attica {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Half widths below and above the mean.
struct HalfWidths {
  double below = 0;
  double above = 0;
};

/// @param level a one-sided level, or the critical value of a look
template <class Level>
HalfWidths half_widths(const PointVerdict& v, const Level& level) {
  if (!v.z) return {};  // identical replicates
  return {half_width(v.sample, Side::lower, level, v.tails),
          half_width(v.sample, Side::upper, level, v.tails)};
}

/// Factors u of the theory with |mean - t u| inside the margin by h on both sides ...
Interval agreeing_factors(const PointVerdict& v, const HalfWidths& h) {
  const double r = v.margin_terms.relative;
  const double fixed = v.margin - r * std::abs(v.theory);
  const bool positive = v.theory > 0;
  const double t = std::abs(v.theory);
  const double mean = positive ? v.sample.mean : -v.sample.mean;
  const double above = positive ? h.above : h.below;
  const double below = positive ? h.below : h.above;
  const double low = (mean + above - fixed) / (t * (1 + r));
  const double high = r < 1 ? (mean - below + fixed) / (t * (1 - r)) : kInfinity;
  return {low, high};
}

/// ... and those between which it does not lie outside by h.
Interval tolerated_factors(const PointVerdict& v, const HalfWidths& h) {
  return agreeing_factors(v, {-h.above, -h.below});
}

std::optional<double> below_one(double x) {
  if (!(x < 1)) return std::nullopt;
  return std::max(x, 0.0);
}

/// The steps from factor 1 out of the interval, down and up; 0 if 1 is not inside.
Detection ways_out(const Interval& factors) {
  if (factors.low >= 1 || factors.high <= 1) return {0.0, 0.0};
  return {below_one(1 - factors.low), below_one(factors.high - 1)};
}

/// The same for verdicts known only by asking: bisection on both sides.
template <class Holds>
Detection ways_out(const Holds& holds) {
  if (!holds(1.0)) return {0.0, 0.0};
  const auto way = [&](double sign) {
    constexpr int kSteps = 50;
    double inside = 0;
    double outside = kInfinity;
    for (double x = 1.0 / (1 << 20); x <= 1; x *= 2) {
      if (!holds(1 + sign * x)) {
        outside = x;
        break;
      }
      inside = x;
    }
    if (outside > 1) return std::optional<double>();
    for (int k = 0; k < kSteps; ++k) {
      const double middle = 0.5 * (inside + outside);
      (holds(1 + sign * middle) ? inside : outside) = middle;
    }
    return below_one(outside);
  };
  return {way(-1.0), way(1.0)};
}

bool tested(const PointVerdict& v) {
  return v.status == PointStatus::compared && v.sample.n >= kFewestReplicates && v.interval;
}

/// What can be said without any level: nothing of a theory of 0, and that nothing was tested.
std::optional<Resolution> untested(const ComparedPoint& point, const PointVerdict& verdict) {
  if (verdict.status == PointStatus::no_theory || verdict.theory == 0) return Resolution();
  const bool exact = !verdict.z && point.deterministic;
  if (!tested(verdict) || (!verdict.z && !exact && !point.success_fraction))
    return Resolution{.not_agree = {0.0, 0.0}, .disagree = {}};
  return std::nullopt;
}

/// The verdict with the mean and spread seen, of another number of replicates.
PointVerdict planned(PointVerdict verdict, std::size_t n) {
  verdict.sample.n = n;
  verdict.sample.sem = verdict.sample.sd / std::sqrt(static_cast<double>(n));
  return verdict;
}

/// The bluntest third of the points by one of their two errors.
template <class Error>
Detection coarsest(std::span<const Resolution> points, const Error& error) {
  std::vector<Resolution> sorted(points.begin(), points.end());
  const auto size = [&](const Resolution& r) { return error(r).both().value_or(kInfinity); };
  std::ranges::stable_sort(sorted, std::greater<>(), size);
  sorted.resize((points.size() + 2) / 3);
  return error(joint(sorted));
}

}  // namespace

std::optional<double> Detection::both() const {
  if (!lower || !higher) return std::nullopt;
  return std::max(*lower, *higher);
}

Resolution resolution(const ComparedPoint& point, const PointVerdict& verdict, std::size_t family) {
  if (const auto known = untested(point, verdict)) return *known;
  const double level = kDisagreeLevel / static_cast<double>(std::max<std::size_t>(family, 1));
  if (point.success_fraction) {
    const Count count = count_successes(point.replicates);
    const auto margin = [&](double u) { return point.margin.total(u * verdict.theory); };
    return {.not_agree = ways_out([&](double u) {
              return fraction_agree_p_value(count, u * verdict.theory, margin(u)) <= kAgreeLevel;
            }),
            .disagree = ways_out([&](double u) {
              return fraction_disagree_p_value(count, u * verdict.theory, margin(u)) > level;
            })};
  }
  return {.not_agree = ways_out(agreeing_factors(verdict, half_widths(verdict, kAgreeLevel))),
          .disagree = ways_out(tolerated_factors(verdict, half_widths(verdict, 0.5 * level)))};
}

Resolution resolution_by_cap(const ComparedPoint& point,
                             const PointVerdict& verdict,
                             const LookLevels& last,
                             std::size_t cap) {
  if (const auto known = untested(point, verdict)) return *known;
  if (point.success_fraction) {
    const double share = count_successes(point.replicates).fraction();
    const Count count{static_cast<std::size_t>(std::lround(share * static_cast<double>(cap))), cap};
    const Interval near = clopper_pearson(count, last.agree.alpha);
    const Interval wide = clopper_pearson(count, last.disagree.alpha);
    const auto margin = [&](double u) { return point.margin.total(u * verdict.theory); };
    return {.not_agree = ways_out([&](double u) {
              const double t = u * verdict.theory;
              return t - margin(u) < near.low && near.high < t + margin(u);
            }),
            .disagree = ways_out([&](double u) {
              const double t = u * verdict.theory;
              return wide.low <= t + margin(u) && t - margin(u) <= wide.high;
            })};
  }
  const PointVerdict at_cap = planned(verdict, cap);
  return {
      .not_agree = ways_out(agreeing_factors(at_cap, half_widths(at_cap, last.agree.critical))),
      .disagree = ways_out(tolerated_factors(at_cap, half_widths(at_cap, last.disagree.critical)))};
}

Resolution joint(std::span<const Resolution> points) {
  Resolution all;
  const auto least = [](std::optional<double>& to, const std::optional<double>& x) {
    if (x && (!to || *x < *to)) to = x;
  };
  for (const Resolution& point : points) {
    least(all.not_agree.lower, point.not_agree.lower);
    least(all.not_agree.higher, point.not_agree.higher);
    least(all.disagree.lower, point.disagree.lower);
    least(all.disagree.higher, point.disagree.higher);
  }
  return all;
}

Resolution coarsest_third(std::span<const Resolution> points) {
  return {.not_agree = coarsest(points, [](const Resolution& r) { return r.not_agree; }),
          .disagree = coarsest(points, [](const Resolution& r) { return r.disagree; })};
}

std::optional<std::size_t> replicates_to_resolve(const ComparedPoint& point,
                                                 const PointVerdict& verdict,
                                                 double x,
                                                 std::size_t family) {
  if (verdict.status != PointStatus::compared || verdict.theory == 0 || !verdict.z ||
      point.success_fraction) {
    return std::nullopt;
  }
  const double level = 0.5 * kDisagreeLevel / static_cast<double>(std::max<std::size_t>(family, 1));
  const auto resolved = [&](std::size_t n) {
    const PointVerdict then = planned(verdict, n);
    const Interval factors = tolerated_factors(then, half_widths(then, level));
    return factors.low < 1 && factors.high > 1 && std::max(1 - factors.low, factors.high - 1) <= x;
  };
  constexpr std::size_t kMost = std::size_t{1} << 30;
  if (!resolved(kMost)) return std::nullopt;
  std::size_t low = kFewestReplicates - 1;
  std::size_t high = kMost;
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (resolved(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace attica
