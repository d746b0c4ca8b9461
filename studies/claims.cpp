#include "attica/studies/claims.hpp"

#include <fmt/format.h>

#include <algorithm>

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
          .least_p_disagree = test.least_p_disagree,
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
