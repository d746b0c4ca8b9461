#include "attica/studies/claims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attica {

namespace {

ClaimResult of_mean(const std::string& name,
                    const std::string& statement,
                    const ClaimTest& test,
                    const std::string& detail) {
  std::string found = detail.empty() ? "" : detail + "; ";
  found += fmt::format("mean {:.4g}", test.estimate);
  if (test.interval) {
    found +=
        fmt::format(", 90 % interval {:.4g} to {:.4g}", test.interval->low, test.interval->high);
  }
  return claim_tested(name, statement, test, found);
}

}  // namespace

ClaimResult claim_tested(const std::string& name,
                         const std::string& statement,
                         const ClaimTest& test,
                         const std::string& detail) {
  return {.name = name,
          .statement = statement,
          .verdict = test.verdict(),
          .detail = detail,
          .p_agree = test.p_agree,
          .p_disagree = test.p_disagree,
          .replicates_needed = test.needed};
}

ClaimResult claim_rate(const std::string& name,
                       const std::string& statement,
                       const std::vector<bool>& holds,
                       const std::string& detail,
                       double rate) {
  const ClaimTest test = rate_at_least(holds, rate);
  std::string found = detail.empty() ? "" : detail + "; ";
  found +=
      fmt::format("in {} of {}", std::count(holds.begin(), holds.end(), true), std::ssize(holds));
  if (test.interval) {
    found +=
        fmt::format(", 90 % interval {:.2f} to {:.2f}", test.interval->low, test.interval->high);
  }
  return claim_tested(
      name, fmt::format("{}, in at least {:g} % of runs", statement, 100 * rate), test, found);
}

ClaimResult claim_above(const std::string& name,
                        const std::string& statement,
                        const std::vector<double>& values,
                        double bound,
                        const std::string& detail) {
  return of_mean(name, statement, mean_above(values, bound), detail);
}

ClaimResult claim_below(const std::string& name,
                        const std::string& statement,
                        const std::vector<double>& values,
                        double bound,
                        const std::string& detail) {
  return of_mean(name, statement, mean_below(values, bound), detail);
}

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
    results[k].detail = fmt::format("mean {:.3g} +- {:.2g}", v.sample.mean, v.sample.sem);
  }
  return results;
}

std::vector<ClaimResult> claims_on_average(const Observed& observed,
                                           const std::vector<AgreementRule>& rules) {
  constexpr double kShare = 0.1;
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
      const double unit = kShare * rule->relative * std::abs(told.y[at]) + allowance;
      if (!compared || !std::isfinite(told.y[at]) || !(unit > 0)) continue;
      const double scatter = summarise(curve->values[k]).sem / unit;
      points.push_back({k, told.y[at], unit, 1 / (1 + scatter * scatter)});
      weights += points.back().weight;
    }
    if (points.size() < 2) continue;
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
                                  "and its allowance",
                                  told.x_name,
                                  told.name,
                                  100 * kShare * rule->relative),
         .point = {.theory = 0.0, .replicates = std::move(means), .margin = {.absolute = 1}}});
  }
  return claims_within(std::move(claims));
}

ClaimResult claim_certain(const std::string& name,
                          const std::string& statement,
                          bool holds,
                          const std::string& detail) {
  return {.name = name,
          .statement = statement,
          .verdict = holds ? Verdict::agree : Verdict::disagree,
          .detail = detail};
}

ClaimResult claim_open(const std::string& name,
                       const std::string& statement,
                       const std::string& reason) {
  return {.name = name, .statement = statement, .detail = reason};
}

std::vector<std::pair<double, double>> last_of_both(const Observed& observed,
                                                    std::string_view first,
                                                    const Point& first_point,
                                                    std::string_view second,
                                                    const Point& second_point) {
  const ObservedCurve* a = observed.curve(first, first_point);
  const ObservedCurve* b = observed.curve(second, second_point);
  std::vector<std::pair<double, double>> pairs;
  if (a == nullptr || b == nullptr || a->values.empty() || b->values.empty()) return pairs;
  const std::vector<std::uint64_t>& who = b->replicates.back();
  for (std::size_t k = 0; k < a->values.back().size(); ++k) {
    const auto at = std::lower_bound(who.begin(), who.end(), a->replicates.back()[k]);
    if (at == who.end() || *at != a->replicates.back()[k]) continue;
    pairs.emplace_back(a->values.back()[k],
                       b->values.back()[static_cast<std::size_t>(at - who.begin())]);
  }
  return pairs;
}

std::vector<AgreementRule> rules(const std::vector<std::string>& series,
                                 const AgreementRule& rule) {
  std::vector<AgreementRule> all;
  for (const std::string& name : series) {
    all.push_back(rule);
    all.back().series = name;
  }
  return all;
}

}  // namespace attica
