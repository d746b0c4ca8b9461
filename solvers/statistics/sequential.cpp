#include "attica/solvers/statistics/sequential.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "attica/core/error.hpp"
#include "attica/solvers/gauss_legendre.hpp"
#include "attica/solvers/statistics/distributions.hpp"
#include "attica/solvers/statistics/fractions.hpp"
#include "attica/solvers/statistics/power.hpp"

namespace attica {
namespace {

constexpr std::size_t kFewestAtALook = 30;
constexpr std::size_t kMostLooks = 5;
constexpr double kFarBelow = -9;         // P(Z < -9) = 1e-19
constexpr std::size_t kLookNodes = 200;  // the densities are analytic: 1e-13 needs about 60

double spent(double alpha, double tau) { return alpha * std::log1p((std::numbers::e - 1) * tau); }

// The level of Student's t that corresponds to a boundary of the score.
LookLevel at_boundary(std::size_t n, double z) {
  const double alpha = normal_tail(z);
  return {.critical = critical_value(n, alpha), .alpha = alpha};
}

double per_point(std::size_t points) {
  require(points >= 1, "points", static_cast<double>(points), "at least one");
  return kDisagreeLevel / static_cast<double>(points);
}

}  // namespace

std::vector<double> group_sequential_boundaries(double alpha, std::size_t looks) {
  require(alpha > 0 && alpha < 0.5, "alpha", alpha, "0 < alpha < 1/2");
  require(looks >= 1, "looks", static_cast<double>(looks), "at least one");
  const auto count = static_cast<double>(looks);
  std::vector<double> z{normal_quantile(spent(alpha, 1 / count))};
  // Density of the score on the quadrature nodes below the last boundary, weights included.
  std::vector<QuadratureNode> density = gauss_legendre(kLookNodes, {kFarBelow, z[0]});
  for (auto& [x, weight] : density) weight *= normal_density(x);
  for (std::size_t k = 2; k <= looks; ++k) {
    const auto now = static_cast<double>(k);
    const double r = std::sqrt((now - 1) / now);  // correlation of successive scores
    const double spread = std::sqrt(1 - r * r);
    const double spend = spent(alpha, now / count) - spent(alpha, (now - 1) / count);
    auto crossing = [&](double boundary) {
      double sum = 0;
      for (const auto& [x, weight] : density)
        sum += weight * normal_tail((boundary - r * x) / spread);
      return sum;
    };
    double low = 0;
    double high = -kFarBelow;
    while (high - low > 1e-14 * high) {
      const double middle = 0.5 * (low + high);
      if (middle <= low || middle >= high) break;
      (crossing(middle) > spend ? low : high) = middle;
    }
    z.push_back(high);
    std::vector<QuadratureNode> next = gauss_legendre(kLookNodes, {kFarBelow, high});
    for (auto& [y, next_weight] : next) {
      double value = 0;
      for (const auto& [x, weight] : density)
        value += weight * normal_density((y - r * x) / spread);
      next_weight *= value / spread;
    }
    density = std::move(next);
  }
  return z;
}

double confidence_sequence_radius(double alpha, std::size_t n, std::size_t n_tight, Sided sided) {
  require(alpha > 0 && alpha < 0.5, "alpha", alpha, "0 < alpha < 1/2");
  const double ln = -2 * std::log(alpha);
  const double rho2 = (ln + std::log(ln) + 1) / static_cast<double>(n_tight);
  const auto t = static_cast<double>(n);
  const double ratio = std::sqrt(t * rho2 + 1) / alpha;
  const double log_term = sided == Sided::two ? std::log(ratio) : std::log1p(ratio);
  return std::sqrt(2 * (t * rho2 + 1) / (t * t * rho2) * log_term);
}

GroupSequentialRule::GroupSequentialRule(std::size_t cap, std::size_t points) {
  require(cap >= kFewestAtALook, "replicates", static_cast<double>(cap), "a cap of at least 30");
  const std::size_t looks = std::min(kMostLooks, cap / kFewestAtALook);
  for (std::size_t k = 1; k <= looks; ++k) replicates_.push_back(cap * k / looks);
  agree_ = group_sequential_boundaries(kAgreeLevel, looks);
  disagree_ = group_sequential_boundaries(per_point(points) / 2, looks);
}

LookLevels GroupSequentialRule::levels(std::size_t look) const {
  const std::size_t n = replicates_.at(look);
  return {.agree = at_boundary(n, agree_[look]), .disagree = at_boundary(n, disagree_[look])};
}

LookLevels confidence_sequence_levels(std::size_t n, std::size_t points, std::size_t n_tight) {
  require(n >= kFewestAtALook, "replicates", static_cast<double>(n), "at least 30 at a look");
  auto level = [&](double alpha) {
    const double root_n = std::sqrt(static_cast<double>(n));
    const double z = confidence_sequence_radius(alpha, n, n_tight, Sided::one) * root_n;
    return LookLevel{.critical = {.t = z, .guard = critical_value(n, alpha / 2).guard},
                     .alpha = normal_tail(z)};
  };
  return {.agree = level(2 * kAgreeLevel), .disagree = level(per_point(points))};
}

RunVerdict judge_look(std::span<const ComparedPoint> points,
                      const LookLevels& levels,
                      const RunVerdict& before) {
  RunVerdict run = judge(points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    PointVerdict& v = run.points[i];
    if (i < before.points.size() && (before.points[i].verdict == Verdict::agree ||
                                     before.points[i].verdict == Verdict::disagree)) {
      v = before.points[i];
      continue;
    }
    // Identical replicates are compared exactly or not at all, at every look.
    if (v.status != PointStatus::compared || (!v.z && !points[i].success_fraction)) continue;
    auto interval = [&](const LookLevel& level) -> Interval {
      if (points[i].success_fraction) {
        const Interval pi = clopper_pearson(count_successes(points[i].replicates), level.alpha);
        return {pi.low - v.theory, pi.high - v.theory};
      }
      return {v.difference - half_width(v.sample, Side::lower, level.critical, v.tails),
              v.difference + half_width(v.sample, Side::upper, level.critical, v.tails)};
    };
    v.interval = interval(levels.agree);
    const Interval wide = interval(levels.disagree);
    v.verdict = Verdict::inconclusive;
    if (-v.margin < v.interval->low && v.interval->high < v.margin) v.verdict = Verdict::agree;
    if (wide.low > v.margin || wide.high < -v.margin) v.verdict = Verdict::disagree;
    v.reason = v.verdict == Verdict::inconclusive ? "not decided at this look" : "";
  }
  summarise(run);
  return run;
}

}  // namespace attica
