#include "attica/studies/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attica/core/error.hpp"

namespace attica {
namespace {

const ObservedCurve* find_curve(std::span<const ObservedCurve> curves,
                                const ExponentClaim& claim,
                                const std::string& name) {
  const auto at = std::find_if(curves.begin(), curves.end(), [&](const ObservedCurve& c) {
    return c.mean.name == name && c.mean.x_name == claim.x_name &&
           same_place(c.mean.point, claim.only);
  });
  return at == curves.end() ? nullptr : &*at;
}

}  // namespace

double largest_finite(std::span<const double> values) {
  double largest = 0;
  for (const double y : values) {
    if (std::isfinite(y)) largest = std::max(largest, y);
  }
  return largest;
}

std::vector<ScalingPoint> scaling_points(const ExponentClaim& claim,
                                         std::span<const ObservedCurve> curves) {
  const ObservedCurve* values = find_curve(curves, claim, claim.series);
  // Every replicate states where it gives up, so this curve lists all sizes and replicates.
  const ObservedCurve* caps =
      claim.cap_series.empty() ? values : find_curve(curves, claim, claim.cap_series);
  if (caps == nullptr) {
    throw Error(ErrorKind::input,
                fmt::format("exponent '{}': the run has no series '{}' against {}",
                            claim.name,
                            claim.series,
                            claim.x_name));
  }
  std::vector<ScalingPoint> points;
  double anywhere = 0;
  for (const std::vector<double>& values_there : caps->values)
    anywhere = std::max(anywhere, largest_finite(values_there));
  for (std::size_t k = 0; k < caps->mean.x.size(); ++k) {
    const double x = caps->mean.x[k];
    ScalingPoint& point = points.emplace_back(ScalingPoint{.x = x});
    if (values != nullptr) {
      const auto at = std::find(values->mean.x.begin(), values->mean.x.end(), x);
      if (at != values->mean.x.end()) {
        point.samples = values->values[static_cast<std::size_t>(at - values->mean.x.begin())];
      }
    }
    point.cap = largest_finite(caps->values[k]);
    if (point.cap == 0) point.cap = anywhere;
    point.samples.resize(caps->values[k].size(), std::numeric_limits<double>::infinity());
  }
  return points;
}

ExponentResult judge_exponent(const ExponentClaim& claim,
                              std::span<const ObservedCurve> curves,
                              std::uint64_t seed) {
  const std::vector<ScalingPoint> points = scaling_points(claim, curves);
  ExponentResult result{.claim = claim, .fit = fit_exponent(points, {.seed = seed})};
  result.verdict = claim.upper_bound ? judge_upper_bound(result.fit, points, claim.exponent)
                                     : judge_predicted_exponent(result.fit, claim.exponent);
  return result;
}

ClaimResult exponent_claim(const ExponentResult& result) {
  const ExponentClaim& claim = result.claim;
  const ExponentFit& fit = result.fit;
  using enum ExponentVerdict;
  const bool holds =
      result.verdict == agrees || result.verdict == within_bound || result.verdict == vacuous;
  std::string detail = fit.fitted
                           ? fmt::format(
                                 "{:.3f}, 95 % [{:.3f}, {:.3f}]; without the first size {:.3f}, "
                                 "without the last {:.3f}",
                                 fit.slope,
                                 fit.interval95.low,
                                 fit.interval95.high,
                                 fit.without_first,
                                 fit.without_last)
                           : std::string();
  const auto add = [&](const std::string& text) { detail += (detail.empty() ? "" : "; ") + text; };
  if (!fit.weakness.empty()) add(fit.weakness);
  const auto unreached = std::count_if(
      fit.medians.begin(), fit.medians.end(), [](const ScalingMedian& m) { return !m.used; });
  if (unreached > 0) add(fmt::format("{} sizes are reached too seldom to be fitted", unreached));
  add(std::string(describe(result.verdict)));
  return {.name = "exponent-" + claim.name,
          .statement = fmt::format("exponent of {} in {} {} {} {} {}",
                                   claim.series,
                                   claim.x_name,
                                   claim.upper_bound ? "at most" : "is",
                                   claim.exponent,
                                   claim.upper_bound ? "+" : "+-",
                                   kExponentTolerance),
          .verdict = holds                        ? Verdict::agree
                     : result.verdict == violated ? Verdict::disagree
                                                  : Verdict::inconclusive,
          .detail = detail};
}

}  // namespace attica
