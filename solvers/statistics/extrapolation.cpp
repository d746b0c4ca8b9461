#include "attica/solvers/statistics/extrapolation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/solvers/statistics/distributions.hpp"
#include "attica/solvers/statistics/power.hpp"

namespace attica {
namespace {

constexpr std::size_t kFewestExtrapolated = 3;
constexpr double kPoorFit = 0.01;

LimitFit fit_by_replicates(std::span<const SizePoint> points, double power) {
  std::vector<double> weights;
  for (const SizePoint& p : points) weights.push_back(static_cast<double>(p.n));
  return fit_limit(points, power, weights);
}

}  // namespace

LimitFit fit_limit(std::span<const SizePoint> points,
                   double power,
                   std::span<const double> weights) {
  const std::size_t count = points.size();
  require(count >= kFewestExtrapolated, "sizes", static_cast<double>(count), "3 or more");
  require(std::isfinite(power) && power > 0, "power", power, "a finite number > 0");
  std::vector<double> x(count);
  double s0 = 0;
  double s1 = 0;
  double s2 = 0;
  double t0 = 0;  // sums with the differences
  double t1 = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const SizePoint& p = points[i];
    require(std::isfinite(p.size) && p.size > 0, "size", p.size, "a finite number > 0");
    require(std::isfinite(p.difference), "difference", p.difference, "a finite number");
    require(std::isfinite(p.sem) && p.sem > 0, "sem", p.sem, "a finite number > 0");
    require(p.n >= 2, "replicates", static_cast<double>(p.n), "2 or more");
    require(weights[i] > 0, "weights", weights[i], "numbers > 0");
    x[i] = std::pow(p.size, -power);
    s0 += weights[i];
    s1 += weights[i] * x[i];
    s2 += weights[i] * x[i] * x[i];
    t0 += weights[i] * p.difference;
    t1 += weights[i] * x[i] * p.difference;
  }
  const auto [smallest, largest] = std::ranges::minmax(points, {}, &SizePoint::size);
  require(smallest.size < largest.size, "size", smallest.size, "different sizes");
  const double determinant = s0 * s2 - s1 * s1;
  LimitFit fit;
  fit.limit = (s2 * t0 - s1 * t1) / determinant;
  fit.slope = (s0 * t1 - s1 * t0) / determinant;
  double variance = 0;
  double variance_of_variance = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const SizePoint& p = points[i];
    const double part = std::pow(weights[i] * (s2 - s1 * x[i]) / determinant * p.sem, 2);
    variance += part;
    variance_of_variance += part * part / static_cast<double>(p.n - 1);
    fit.lack_of_fit += std::pow((p.difference - fit.limit - fit.slope * x[i]) / p.sem, 2);
  }
  fit.standard_error = std::sqrt(variance);
  fit.degrees_of_freedom = variance * variance / variance_of_variance;
  fit.p_fit = chi_square_tail(fit.lack_of_fit, static_cast<double>(count - 2));
  return fit;
}

LimitVerdict judge_limit(std::vector<SizePoint> points, double power, double margin) {
  require(std::isfinite(margin) && margin > 0, "margin", margin, "a finite number > 0");
  std::ranges::sort(points, {}, &SizePoint::size);
  LimitVerdict v;
  v.fit = fit_by_replicates(points, power);
  if (v.fit.p_fit < kPoorFit && points.size() > kFewestExtrapolated) {
    v.reason = fmt::format("size {} dropped for lack of fit", points.front().size);
    points.erase(points.begin());
    v.fit = fit_by_replicates(points, power);
  }
  const LimitFit& fit = v.fit;
  auto p_value = [&](double gap) {
    return std::max(kSmallestPValue,
                    student_tail(gap / fit.standard_error, fit.degrees_of_freedom));
  };
  const double h = student_quantile(kAgreeLevel, fit.degrees_of_freedom) * fit.standard_error;
  v.interval = {fit.limit - h, fit.limit + h};
  v.p_agree = std::max(p_value(margin - fit.limit), p_value(margin + fit.limit));
  v.p_disagree = std::min(1.0, 2 * p_value(std::abs(fit.limit) - margin));
  const auto fewest = std::ranges::min(points, {}, &SizePoint::n).n;
  if (fit.p_fit < kPoorFit) {
    v.reason = "not in the scaling range";
  } else if (fewest < kFewestReplicates) {
    v.reason = fmt::format("{} replicates, fewer than {}", fewest, kFewestReplicates);
  } else if (v.p_disagree <= kDisagreeLevel) {
    v.verdict = Verdict::disagree;
  } else if (v.p_agree <= kAgreeLevel) {
    v.verdict = Verdict::agree;
  }
  return v;
}

}  // namespace attica
