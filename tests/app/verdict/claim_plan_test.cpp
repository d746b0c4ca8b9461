#include "attica/app/verdict/claim_plan.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/studies/claims.hpp"

using namespace attica;
using namespace attica::app;

namespace claim_plan_test {

/// Claims that the coin shows 1 in at least 80 % of runs.
Study coin_study() {
  Study study{.name = "coin", .question = "", .approximation = ""};
  study.claims = [](const Configuration&, const Observed& observed) {
    std::vector<bool> holds;
    for (const double value : observed.last("coin")) holds.push_back(value > 0.5);
    return std::vector<ClaimResult>{claim_rate("ones", "the coin shows 1", holds, "")};
  };
  return study;
}

/// Thirty throws, `ones` of them 1.
Observed throws(int ones) {
  ObservedCurve curve{.mean = {.name = "coin", .point = {}, .x_name = "none", .x = {0}, .y = {0}},
                      .values = {{}},
                      .replicates = {{}}};
  for (int r = 0; r < 30; ++r) {
    curve.values[0].push_back(r < ones ? 1 : 0);
    curve.replicates[0].push_back(static_cast<std::uint64_t>(r));
  }
  return {.theory = {}, .simulation = {curve}};
}

/// The plan from a pilot of which so many replicates hold.
ClaimPlan planned(const Study& study, int ones) {
  CheckedConfiguration configuration;
  configuration.study = &study;
  return plan_claims(configuration, throws(ones), 30, 0.9, 1);
}

/// P(Bin(n, p) >= k), added up.
double tail(std::size_t k, double p, std::size_t n) {
  double sum = 0;
  for (std::size_t j = k; j <= n; ++j) {
    const auto x = static_cast<double>(j);
    const auto m = static_cast<double>(n);
    sum += std::exp(std::lgamma(m + 1) - std::lgamma(x + 1) - std::lgamma(m - x + 1) +
                    x * std::log(p) + (m - x) * std::log1p(-p));
  }
  return sum;
}

/// Power of the exact test of "0.8 or more" at level 5 % where the truth is `p`.
double power_at(std::size_t n, double p) {
  std::size_t k = n + 1;
  while (k > 0 && tail(k - 1, 0.8, n) <= 0.05) --k;
  return k > n ? 0 : tail(k, p, n);
}

TEST_CASE("plan_claims: as many replicates as the exact power of a share asks for",
          "[app][claim_plan]") {
  const ClaimPlan plan = planned(coin_study(), 27);
  CHECK(plan.claims == 1);
  CHECK(plan.shown == 0);  // 27 of 30: p = 0.12
  CHECK(plan.hardest == "ones");
  REQUIRE(plan.replicates);
  // The share of 200 draws scatters by 0.02: so does the power at what was found.
  CHECK(power_at(*plan.replicates, 0.9) > 0.82);
  CHECK(power_at(*plan.replicates, 0.9) < 0.97);
}

TEST_CASE("plan_claims: what always holds is shown by the pilot, what fails by no number",
          "[app][claim_plan]") {
  const ClaimPlan sure = planned(coin_study(), 30);
  CHECK(sure.shown == 1);
  CHECK(sure.replicates == 30u);
  CHECK(sure.hardest.empty());
  const ClaimPlan wrong = planned(coin_study(), 21);
  CHECK_FALSE(wrong.replicates);
  CHECK(wrong.hardest == "ones");
  CHECK(planned({.name = "silent", .question = "", .approximation = ""}, 30).claims == 0);
}

}  // namespace claim_plan_test
