#include "attica/solvers/statistics/resolution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

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

HalfWidths half_widths(const PointVerdict& v, double level) {
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

/// The smaller step from factor 1 out of the interval; 0 if 1 is not inside.
std::optional<double> way_out(const Interval& factors) {
  return below_one(std::min(1 - factors.low, factors.high - 1));
}

/// The same for verdicts known only by asking: bisection on both sides.
template <class Holds>
std::optional<double> way_out(const Holds& holds) {
  if (!holds(1.0)) return 0.0;
  double least = kInfinity;
  for (const double sign : {-1.0, 1.0}) {
    constexpr int kSteps = 50;
    double inside = 0;
    double outside = kInfinity;
    for (double x = 1.0 / (1 << 20); x < 1; x *= 2) {
      if (!holds(1 + sign * x)) {
        outside = x;
        break;
      }
      inside = x;
    }
    if (outside > 1) continue;
    for (int k = 0; k < kSteps; ++k) {
      const double middle = 0.5 * (inside + outside);
      (holds(1 + sign * middle) ? inside : outside) = middle;
    }
    least = std::min(least, outside);
  }
  return below_one(least);
}

bool tested(const PointVerdict& v) {
  return v.status == PointStatus::compared && v.sample.n >= kFewestReplicates && v.interval;
}

}  // namespace

Resolution resolution(const ComparedPoint& point, const PointVerdict& verdict, std::size_t family) {
  if (verdict.status == PointStatus::no_theory || verdict.theory == 0) return {};
  const bool exact = !verdict.z && point.deterministic;
  if (!tested(verdict) || (!verdict.z && !exact && !point.success_fraction)) {
    return {.not_agree = 0.0, .disagree = std::nullopt};
  }
  const double level = kDisagreeLevel / static_cast<double>(std::max<std::size_t>(family, 1));
  if (point.success_fraction) {
    const Count count = count_successes(point.replicates);
    const auto margin = [&](double u) { return point.margin.total(u * verdict.theory); };
    return {.not_agree = way_out([&](double u) {
              return fraction_agree_p_value(count, u * verdict.theory, margin(u)) <= kAgreeLevel;
            }),
            .disagree = way_out([&](double u) {
              return fraction_disagree_p_value(count, u * verdict.theory, margin(u)) > level;
            })};
  }
  return {.not_agree = way_out(agreeing_factors(verdict, half_widths(verdict, kAgreeLevel))),
          .disagree = way_out(tolerated_factors(verdict, half_widths(verdict, 0.5 * level)))};
}

Resolution joint(std::span<const Resolution> points) {
  Resolution all;
  const auto least = [](std::optional<double>& to, const std::optional<double>& x) {
    if (x && (!to || *x < *to)) to = x;
  };
  for (const Resolution& point : points) {
    least(all.not_agree, point.not_agree);
    least(all.disagree, point.disagree);
  }
  return all;
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
    PointVerdict planned = verdict;
    planned.sample.n = n;
    planned.sample.sem = planned.sample.sd / std::sqrt(static_cast<double>(n));
    const Interval factors = tolerated_factors(planned, half_widths(planned, level));
    return factors.low < 1 && factors.high > 1 && std::min(1 - factors.low, factors.high - 1) <= x;
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
