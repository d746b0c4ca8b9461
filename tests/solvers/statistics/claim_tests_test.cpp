#include "attica/solvers/statistics/claim_tests.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/core/random.hpp"

using namespace attica;
using Catch::WithinAbs;
using Catch::WithinRel;

namespace statistics_claim_tests_test {

std::vector<bool> outcomes(std::size_t yes, std::size_t no) {
  std::vector<bool> all(yes, true);
  all.resize(yes + no, false);
  return all;
}

/// P(at least `k` of n), term by term.
double tail(std::size_t k, std::size_t n, double p) {
  double sum = 0;
  for (std::size_t j = k; j <= n; ++j) {
    const double m = static_cast<double>(n);
    const double i = static_cast<double>(j);
    sum += std::exp(std::lgamma(m + 1) - std::lgamma(i + 1) - std::lgamma(m - i + 1) +
                    i * std::log(p) + (m - i) * std::log1p(-p));
  }
  return sum;
}

TEST_CASE("claim_tests: n replicates that all hold show 0.05^(1/n), no more",
          "[solvers][claim_tests]") {
  // Three runs without an exception are no verdict on 80 %, thirteen neither, fourteen are.
  CHECK(rate_at_least(outcomes(3, 0), 0.8).verdict() == Verdict::inconclusive);
  CHECK(rate_at_least(outcomes(3, 0), 0.8).needed == 14);
  CHECK(rate_at_least(outcomes(13, 0), 0.8).verdict() == Verdict::inconclusive);
  CHECK(rate_at_least(outcomes(14, 0), 0.8).verdict() == Verdict::agree);
  CHECK(rate_at_least(outcomes(4, 0), 0.5).verdict() == Verdict::inconclusive);
  CHECK(rate_at_least(outcomes(5, 0), 0.5).verdict() == Verdict::agree);
  CHECK(rate_at_least(outcomes(0, 5), 0.5).verdict() == Verdict::disagree);
  CHECK(rate_at_least({}, 0.5).verdict() == Verdict::inconclusive);
  for (const std::size_t n : {1, 5, 14}) {
    const auto interval = rate_at_least(outcomes(n, 0), 0.8).interval;
    REQUIRE(interval);
    CHECK_THAT(interval->low, WithinRel(std::pow(0.05, 1.0 / static_cast<double>(n)), 1e-12));
    CHECK(interval->high == 1);
  }
}

TEST_CASE("claim_tests: p-values of rates are binomial tails", "[solvers][claim_tests]") {
  for (const double rate : {0.3, 0.5, 0.8}) {
    for (const std::size_t k : {0, 3, 7, 10}) {
      const ClaimTest test = rate_at_least(outcomes(k, 10 - k), rate);
      CHECK_THAT(test.p_agree, WithinRel(tail(k, 10, rate), 1e-10));
      CHECK_THAT(test.p_disagree, WithinAbs(1 - (k < 10 ? tail(k + 1, 10, rate) : 0), 1e-10));
      CHECK(test.estimate == static_cast<double>(k) / 10);
    }
  }
  for (const double rate : {0.0, 1.0, -1.0, std::nan("")}) {
    CHECK_THROWS_AS(rate_at_least(outcomes(1, 0), rate), Error);
  }
}

TEST_CASE("claim_tests: at the edge of the claim each error has its rate",
          "[solvers][claim_tests]") {
  // The worst case of both errors is a truth that lies at the bound.
  RandomStream stream({.seed = 5, .id = StreamId::data});
  constexpr int kRuns = 4000;
  int agree_rate = 0;
  int disagree_rate = 0;
  int agree_mean = 0;
  int disagree_mean = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<bool> holds;
    std::vector<double> values;
    for (int r = 0; r < 40; ++r) {
      holds.push_back(stream.uniform() < 0.8);
      values.push_back(stream.normal());
    }
    const Verdict by_rate = rate_at_least(holds, 0.8).verdict();
    const Verdict by_mean = mean_above(values, 0).verdict();
    agree_rate += by_rate == Verdict::agree ? 1 : 0;
    disagree_rate += by_rate == Verdict::disagree ? 1 : 0;
    agree_mean += by_mean == Verdict::agree ? 1 : 0;
    disagree_mean += by_mean == Verdict::disagree ? 1 : 0;
  }
  // 5 % and four standard errors of 4000 draws.
  constexpr double kMost = kRuns * (0.05 + 4 * 0.0035);
  CHECK(agree_rate < kMost);
  CHECK(disagree_rate < kMost);
  CHECK(agree_mean < kMost);
  CHECK(disagree_mean < kMost);
  CHECK(agree_mean > kRuns / 100);  // and it is not idle
}

TEST_CASE("claim_tests: means", "[solvers][claim_tests]") {
  const std::vector<double> around_two = {1.9, 2.1, 2.0, 2.05, 1.95, 2.02, 1.98, 2.01, 1.99, 2.0};
  CHECK(mean_above(around_two, 1).verdict() == Verdict::agree);
  CHECK(mean_above(around_two, 3).verdict() == Verdict::disagree);
  CHECK(mean_below(around_two, 3).verdict() == Verdict::agree);
  CHECK(mean_below(around_two, 1).verdict() == Verdict::disagree);
  const ClaimTest open = mean_above(around_two, 1.99);
  CHECK(open.verdict() == Verdict::inconclusive);
  REQUIRE(open.needed);
  CHECK(*open.needed > around_two.size());
  // One value has no spread, and a run that failed shows nothing.
  CHECK(mean_above(std::vector{5.0}, 1).verdict() == Verdict::inconclusive);
  CHECK(mean_above(std::vector{5.0, 5.1, std::nan("")}, 1).verdict() == Verdict::inconclusive);
  CHECK(mean_above(std::vector{5.0, 5.0, 5.0}, 1).verdict() == Verdict::agree);
}

TEST_CASE("claim_tests: some of one group above all of another", "[solvers][claim_tests]") {
  RandomStream stream({.seed = 8, .id = StreamId::data});
  const auto sample = [&](double mean) {
    std::vector<double> values(40);
    for (double& y : values) y = mean + 0.1 * stream.normal();
    return values;
  };
  const std::vector<double> low = sample(1);
  const std::vector<double> high = sample(2);
  using Group = std::vector<std::vector<double>>;
  const Group inside = {low, high, sample(1)};
  const Group ends = {sample(1), sample(1)};
  CHECK(some_above_all(inside, ends).verdict() == Verdict::agree);
  CHECK(some_above_all(ends, Group{high}).verdict() == Verdict::disagree);
  CHECK(some_above_all(Group{low}, ends).verdict() == Verdict::inconclusive);
  CHECK(some_above_all({}, ends).verdict() == Verdict::inconclusive);
  // The best of three tries pays for the three.
  CHECK_THAT(some_above_all(inside, Group{low}).p_agree,
             WithinRel(3 * some_above_all(Group{high}, Group{low}).p_agree, 1e-12));
}

TEST_CASE("claim_tests: an undecided order or conjunction says how many replicates decide it",
          "[solvers][claim_tests]") {
  // The same 40 values around 0.1, over and over: what is said to suffice does, a tenth less not.
  const auto sample = [](double mean, std::size_t n) {
    std::vector<double> values;
    for (std::size_t r = 0; r < n; ++r) {
      values.push_back(mean +
                       ((r % 2 == 0) ? 1 : -1) * (0.8 + 0.1 * static_cast<double>(r / 2 % 5)));
    }
    return values;
  };
  using Group = std::vector<std::vector<double>>;
  const auto order = [&](double gap, std::size_t n) {
    return some_above_all(Group{sample(gap, n), sample(-2, n)}, Group{std::vector<double>(n, 0.0)});
  };
  for (const double gap : {0.1, -0.1}) {
    const ClaimTest open = order(gap, 40);
    REQUIRE(open.verdict() == Verdict::inconclusive);
    REQUIRE(open.needed);
    const std::size_t enough = (*open.needed + 39) / 40 * 40;  // whole rounds of the 40
    CHECK(order(gap, enough).verdict() == (gap > 0 ? Verdict::agree : Verdict::disagree));
    CHECK(order(gap, enough - 80).verdict() == Verdict::inconclusive);
    CHECK_FALSE(order(gap, enough).needed);
    const std::vector<ClaimTest> both{open, mean_above(sample(5, 40), 0)};
    CHECK(all_of(both).needed == open.needed);
    CHECK(all_of(both).p_agree == open.p_agree);
    CHECK(all_of(both).p_disagree == std::min(1.0, 2 * open.p_disagree));
  }
  CHECK(all_of({}).verdict() == Verdict::inconclusive);
}

TEST_CASE("claim_tests: what so few replicates can refute", "[solvers][claim_tests]") {
  // All fail: (1 - rate)^n.
  CHECK_THAT(rate_at_least(std::vector<bool>(5, true), 0.5).least_p_disagree,
             WithinRel(1.0 / 32, 1e-12));
  CHECK(rate_at_least({}, 0.5).least_p_disagree == 1);
  CHECK(all_of({}).least_p_disagree == 1);
  // A mean of eight can be as far off as one likes, one of two or none tells nothing of that.
  CHECK(mean_above(std::vector{1.0, 1.1, 0.9, 1.05, 0.95, 1.02, 0.98, 1.0}, 0).least_p_disagree <
        1e-6);
  CHECK(mean_above(std::vector{1.0}, 0).least_p_disagree == 1);
}

TEST_CASE("claim_tests: disagreements of many claims share one level", "[solvers][claim_tests]") {
  const auto found = claim_verdicts(std::vector{0.01, 0.5, 0.2}, std::vector{0.9, 0.03, 0.004});
  CHECK(found ==
        std::vector{Verdict::agree, Verdict::inconclusive, Verdict::disagree});  // 0.03 x 2 > 0.05
}

}  // namespace statistics_claim_tests_test
