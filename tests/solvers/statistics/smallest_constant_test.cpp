#include "attica/solvers/statistics/smallest_constant.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/core/random.hpp"
#include "attica/solvers/statistics/distributions.hpp"
#include "attica/solvers/statistics/order_statistics.hpp"
#include "attica/solvers/statistics/quantile_limits.hpp"

using namespace attica;
using Catch::WithinRel;

namespace statistics_smallest_constant_test {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

TEST_CASE("quantile_limit_ranks: by the binomial distribution", "[solvers][bounds]") {
  for (const std::size_t n : {6U, 7U, 20U, 101U}) {
    const QuantileRanks ranks = quantile_limit_ranks(n, 0.5, 0.025);
    const auto k = median_limit_rank(n, 0.025);
    REQUIRE(k);
    CHECK(ranks.below == k);
    CHECK(ranks.above == n + 1 - *k);
  }
  // The largest of n is above the 0.9-quantile with probability 1 - 0.9^n: 36 for 97.5 %.
  CHECK_FALSE(quantile_limit_ranks(35, 0.9, 0.025).above);
  CHECK(quantile_limit_ranks(36, 0.9, 0.025).above == 36U);
  CHECK_FALSE(quantile_limit_ranks(1, 0.9, 0.025).below);
  for (const std::size_t n : {40U, 200U}) {
    const QuantileRanks ranks = quantile_limit_ranks(n, 0.9, 0.025);
    CHECK(binomial_lower_tail(*ranks.below - 1, 0.9, n) <= 0.025);
    CHECK(binomial_lower_tail(*ranks.below, 0.9, n) > 0.025);
    CHECK(binomial_tail(*ranks.above, 0.9, n) <= 0.025);
    CHECK(binomial_tail(*ranks.above - 1, 0.9, n) > 0.025);
  }
}

TEST_CASE("censored_quantile: that of sorted values, infinite ones among them",
          "[solvers][bounds]") {
  const std::vector<double> sorted{1, 2, 4, 8, 9};
  for (const double p : {0.1, 0.25, 0.5, 0.6, 0.9, 0.99})
    CHECK_THAT(censored_quantile({8, 1, 9, 4, 2}, p), WithinRel(quantile(sorted, p), 1e-14));
  CHECK(censored_quantile({kInfinite, 1, 2, 3, 4}, 0.75) == 4);
  CHECK(censored_quantile({kInfinite, 1, 2, 3, 4}, 0.76) == kInfinite);
  CHECK(censored_quantile({3}, 0.9) == 3);
}

TEST_CASE("smallest_constant: its 95 % interval holds the largest quantile", "[solvers][bounds]") {
  // 12 places of 200 lognormal values: equal quantiles, and one place that is above the others. At
  // 95 % at least 376 of 400 (3 standard errors below 380 are 367).
  for (const bool equal : {true, false}) {
    const double truth = std::exp(0.2 * 1.2815515655) * (equal ? 1 : 1.3);
    int held = 0;
    std::vector<double> widths;
    for (std::uint64_t run = 0; run < 400; ++run) {
      RandomStream stream({.seed = 3, .id = StreamId::self_test, .replicate = run});
      std::vector<std::vector<double>> needed(12);
      for (std::size_t k = 0; k < needed.size(); ++k) {
        for (int r = 0; r < 200; ++r)
          needed[k].push_back((!equal && k == 4 ? 1.3 : 1) * std::exp(0.2 * stream.normal()));
      }
      const SmallestConstant c = smallest_constant(needed, 0.9);
      held += c.interval95.contains(truth) ? 1 : 0;
      CHECK(c.interval95.contains(c.value));
      if (!equal) CHECK(c.place == 4);
      widths.push_back(c.interval95.width() / truth);
    }
    std::ranges::nth_element(widths, widths.begin() + 200);
    CAPTURE(equal, held, widths[200]);
    CHECK(held >= 376);
    CHECK(widths[200] < 0.2);
  }
}

TEST_CASE("smallest_constant: lower bounds, infinite values, always", "[solvers][bounds]") {
  std::vector<double> values;
  for (int k = 1; k <= 100; ++k) values.push_back(k);
  const SmallestConstant upper = smallest_constant({values}, 0.9);
  CHECK_THAT(upper.value, WithinRel(90.1, 1e-12));
  const SmallestConstant lower = largest_constant({values}, 0.9);
  CHECK_THAT(lower.value, WithinRel(10.9, 1e-12));
  CHECK(lower.interval95.low == 101 - upper.interval95.high);
  CHECK(lower.interval95.high == 101 - upper.interval95.low);
  CHECK(smallest_constant({values}, 1).value == 100);
  CHECK(smallest_constant({values}, 1).interval95.high == kInfinite);
  // Never reached in one of ten: no constant is known to be enough; in few of a hundred, one is.
  std::vector<double> tenth = values;
  std::fill(tenth.begin(), tenth.begin() + 11, kInfinite);
  CHECK(smallest_constant({values, tenth}, 0.9).value == kInfinite);
  std::fill(tenth.begin() + 2, tenth.begin() + 11, 1.0);
  CHECK(std::isfinite(smallest_constant({tenth}, 0.9).interval95.high));
  // At most 16 of 100 lie below the tenth part, with 97.5 %: the 17th value, of which nine are 1.
  CHECK(largest_constant({tenth}, 0.9).interval95.high == 19);
  // Too few replicates leave the interval open.
  CHECK(smallest_constant({{1, 2, 3}}, 0.9).interval95.high == kInfinite);
  CHECK_THROWS_AS(smallest_constant({}, 0.9), Error);
  CHECK_THROWS_AS(smallest_constant({{}}, 0.9), Error);
  CHECK_THROWS_AS(smallest_constant({{NAN}}, 0.9), Error);
  CHECK_THROWS_AS(smallest_constant({{1}}, 0), Error);
}

}  // namespace statistics_smallest_constant_test
