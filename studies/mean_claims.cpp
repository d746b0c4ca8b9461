#include "attica/studies/mean_claims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace attica {

std::vector<ClaimResult> claims_within(std::vector<MeanClaim> claims) {
  std::vector<ClaimResult> results;
  std::vector<ComparedPoint> points;
  for (MeanClaim& claim : claims) {
    results.push_back({.name = claim.name, .statement = claim.statement, .detail = {}});
    points.push_back(std::move(claim.point));
  }
  const RunVerdict verdict = judge(points);
  for (std::size_t k = 0; k < results.size(); ++k) {
    const PointVerdict& v = verdict.points[k];
    results[k].verdict = v.verdict;
    results[k].p_agree = v.p_agree;
    results[k].p_disagree = v.p_disagree;
    results[k].replicates_needed = v.replicates_needed;
    results[k].detail = fmt::format("mean {:.3g} +- {:.2g}", v.sample.mean, v.sample.sem);
  }
  return results;
}

std::vector<ClaimResult> claims_on_average(const Observed& observed,
                                           const std::vector<AgreementRule>& rules) {
  constexpr double kShare = 0.1;
  constexpr std::size_t kFewest = 8;  // their average scatters a third as much as one of them
  std::vector<MeanClaim> claims;
  for (const Prediction& theory : observed.theory) {
    const Series& told = theory.series;
    const auto rule = std::ranges::find(rules, told.name, &AgreementRule::series);
    const ObservedCurve* curve = observed.curve(told.name, told.point);
    if (rule == rules.end() || curve == nullptr) continue;
    // Of every point: where it stands among the simulated ones, theory and unit.
    struct Compared {
      std::size_t place;
      double theory;
      double unit;
      double weight;
    };
    std::vector<Compared> points;
    double weights = 0;
    for (std::size_t k = 0; k < curve->mean.x.size(); ++k) {
      const auto found = std::ranges::find(told.x, curve->mean.x[k]);
      if (found == told.x.end()) continue;
      const auto at = static_cast<std::size_t>(found - told.x.begin());
      const bool compared = theory.compared.empty() || theory.compared[at];
      const double allowance = theory.finite_size.empty() ? 0 : theory.finite_size[at];
      const double unit =
          kShare * (rule->relative * std::abs(told.y[at]) + rule->absolute) + allowance;
      if (!compared || !std::isfinite(told.y[at]) || !(unit > 0)) continue;
      const double scatter = summarise(curve->values[k]).sem / unit;
      points.push_back({k, told.y[at], unit, 1 / (1 + scatter * scatter)});
      weights += points.back().weight;
    }
    if (points.size() < kFewest) continue;
    std::vector<double> means;
    for (const std::vector<double>& path : observed.paths(told.name, told.point)) {
      if (path.size() != curve->mean.x.size()) continue;
      double sum = 0;
      for (const Compared& one : points)
        sum += one.weight * (path[one.place] - one.theory) / one.unit;
      means.push_back(sum / weights);
    }
    claims.push_back(
        {.name = fmt::format(
             "on_average[{}{}]", told.name, told.point.empty() ? "" : "," + describe(told.point)),
         .statement = fmt::format("on average over {} {} differs from theory by less than {:g} % "
                                  "and its tolerance",
                                  told.x_name,
                                  told.name,
                                  100 * kShare * rule->relative),
         .point = {.theory = 0.0, .replicates = std::move(means), .margin = {.absolute = 1}}});
  }
  return claims_within(std::move(claims));
}

}  // namespace attica
