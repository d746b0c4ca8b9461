#include "attica/solvers/statistics/fit_planning.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/core/random.hpp"
#include "attica/solvers/statistics/exponent_rules.hpp"
#include "attica/solvers/statistics/joint_exponents.hpp"
#include "attica/solvers/statistics/quantile_limits.hpp"
#include "attica/solvers/statistics/smallest_constant.hpp"

using namespace attica;
using Catch::WithinRel;

namespace statistics_fit_planning_test {

std::vector<ScalingCell> samples_needed(std::uint64_t replicate,
                                        std::size_t replicates,
                                        const std::vector<std::vector<double>>& sizes) {
  std::vector<ScalingCell> cells;
  RandomStream stream({.seed = 41, .id = StreamId::self_test, .replicate = replicate});
  for (const double d : sizes[0]) {
    for (const double e : sizes[1]) {
      ScalingCell cell{.x = {d, e}, .samples = {}};
      for (std::size_t r = 0; r < replicates; ++r)
        cell.samples.push_back(2 * d * e * e * std::exp(0.3 * stream.normal()));
      cells.push_back(std::move(cell));
    }
  }
  return cells;
}

TEST_CASE("replicates_for_width: as one over the square of the width", "[solvers][planning]") {
  // With the variance known n grows by the ratio of the widths squared.
  const PilotWidth known{.replicates = 10, .width = 0.4, .degrees = 1e7};
  CHECK(replicates_for_width(known, 0.4, 0.5) == 10U);
  CHECK(replicates_for_width(known, 0.2, 0.5) == 40U);
  CHECK(replicates_for_width(known, 0.8, 0.5) == 3U);
  // What a pilot says of the variance is worth its degrees of freedom: F of 40 and 10 is 2.13 at 10
  // %, and more replicates make it smaller.
  const auto n = replicates_for_width({.replicates = 10, .width = 0.4, .degrees = 10}, 0.4, 0.9);
  REQUIRE(n);
  CHECK((*n > 20 && *n < 25));
  CHECK(replicates_for_width(known, 1e-6, 0.9) == std::nullopt);
  CHECK_THROWS_AS(replicates_for_width(known, 0, 0.9), Error);
  CHECK_THROWS_AS(replicates_for_width(known, 0.1, 1), Error);
  CHECK_THROWS_AS(replicates_for_width({10, INFINITY, 9}, 0.1, 0.9), Error);
  CHECK_THROWS_AS(replicates_for_width({10, 0, 9}, 0.1, 0.9), Error);
}

TEST_CASE("degrees of freedom of a pilot's errors", "[solvers][planning]") {
  // Four sizes at equal ratios: parts 9, 1, 1, 9 of the variance, 20²/164.
  CHECK_THAT(effective_combinations({{4}, {8}, {16}, {32}}), WithinRel(400.0 / 164, 1e-12));
  // The variance of a resampled median of 15 normal numbers, over data sets: 2/nu.
  RandomStream stream({.seed = 47, .id = StreamId::self_test});
  std::vector<double> variances;
  for (int set = 0; set < 1000; ++set) {
    std::vector<double> y(15);
    for (double& each : y) each = stream.normal();
    double sum = 0;
    double square = 0;
    constexpr int kDraws = 300;
    for (int b = 0; b < kDraws; ++b) {
      std::vector<double> drawn(15);
      for (double& each : drawn) each = y[stream.below(15)];
      const double m = censored_quantile(drawn, 0.5);
      sum += m / kDraws;
      square += m * m / kDraws;
    }
    variances.push_back(square - sum * sum);
  }
  double mean = 0;
  double square = 0;
  for (const double v : variances) {
    mean += v / 1000;
    square += v * v / 1000;
  }
  CHECK_THAT(2 * mean * mean / (square - mean * mean), WithinRel(quantile_degrees(15, 0.5), 0.3));
}

TEST_CASE("plan_sizes: the pilot's own sizes, and wider ones", "[solvers][planning]") {
  const auto plans = plan_sizes({{4}, {8}, {16}, {32}});
  REQUIRE(plans.size() == 4);
  CHECK(plans[0].sizes[0] == std::vector<double>{4, 8, 16, 32});
  CHECK_THAT(plans[0].factors[0], WithinRel(1, 1e-12));
  // Twice as wide on the scale of logarithms at a factor 64: half the interval.
  CHECK_THAT(plans[3].sizes[0].back(), WithinRel(256, 1e-12));
  CHECK_THAT(plans[3].factors[0], WithinRel(0.5, 1e-12));
  // Whole sizes stay whole, others need not be.
  CHECK(plans[1].sizes[0] == std::vector<double>{4, 10, 25, 64});
  CHECK(plan_sizes({{1}, {2}, {4}, {8}, {16}, {32}})[1].sizes[0] ==
        std::vector<double>{1, 2, 5, 12, 28, 64});
  CHECK_THAT(plan_sizes({{0.5}, {1}, {2}, {4}})[1].sizes[0][1],
             WithinRel(0.5 * std::cbrt(16), 1e-12));
  // Three values over a factor 4 carry no verdict: four over a factor 8 are the first plan.
  const auto few = plan_sizes({{4}, {8}, {16}});
  CHECK(few[0].sizes[0].size() == 4);
  CHECK_THAT(few[0].sizes[0].back(), WithinRel(32, 1e-12));
  const auto two = plan_sizes({{4, 2}, {4, 4}, {8, 2}, {8, 4}});
  CHECK(two[0].combinations == 16);
}

TEST_CASE("a plan that is followed gives the width of the exponents in most data sets",
          "[solvers][planning]") {
  constexpr double kWidth = 0.1;
  constexpr double kPower = 0.9;
  const double z = 1.959963984540054;
  const std::vector<std::vector<double>> sizes = {{4, 8, 16, 32}, {2, 4, 8, 16}};
  std::vector<std::vector<double>> places;
  for (const ScalingCell& cell : samples_needed(0, 1, sizes)) places.push_back(cell.x);
  const double degrees = quantile_degrees(8, 0.5) * effective_combinations(places);
  int kept = 0;
  constexpr std::uint64_t kSets = 50;
  std::size_t most = 0;
  for (std::uint64_t set = 0; set < kSets; ++set) {
    const JointFit pilot = fit_joint_exponents(samples_needed(set, 8, sizes), {"d", "1/eps"});
    std::size_t n = 0;
    for (std::size_t k = 0; k < 2; ++k) {
      n = std::max(n,
                   replicates_for_width({.replicates = 8,
                                         .width = 2 * z * std::sqrt(pilot.covariance[k][k]),
                                         .degrees = degrees,
                                         .growth = 0.5},
                                        kWidth,
                                        1 - (1 - kPower) / 2)  // both with kPower
                       .value());
    }
    most = std::max(most, n);
    const JointFit fit = fit_joint_exponents(samples_needed(1000 + set, n, sizes), {"d", "1/eps"});
    kept += fit.exponents[0].interval95.width() <= kWidth &&
                    fit.exponents[1].interval95.width() <= kWidth
                ? 1
                : 0;
  }
  CAPTURE(kept, most);
  CHECK(kept >= 40);
  CHECK(most < 120);
}

TEST_CASE("a plan that is followed gives the width of a constant in most data sets",
          "[solvers][planning]") {
  constexpr double kShare = 0.15;
  const auto needed = [](std::uint64_t set, std::size_t n) {
    RandomStream stream({.seed = 43, .id = StreamId::self_test, .replicate = set});
    std::vector<std::vector<double>> all(6);
    for (std::size_t k = 0; k < all.size(); ++k) {
      for (std::size_t r = 0; r < n; ++r)
        all[k].push_back((1 + 0.1 * static_cast<double>(k)) * std::exp(0.3 * stream.normal()));
    }
    return all;
  };
  int kept = 0;
  for (std::uint64_t set = 0; set < 200; ++set) {
    const SmallestConstant pilot = smallest_constant(needed(set, 60), 0.9);
    const QuantileRanks ranks = quantile_limit_ranks(60, 0.9, kLevel95);
    const auto n =
        replicates_for_width({.replicates = 60,
                              .width = pilot.interval95.width() / pilot.value,
                              .degrees = static_cast<double>(*ranks.above - *ranks.below) / 2,
                              .growth = 0.5},
                             kShare,
                             0.9);
    REQUIRE(n);
    const SmallestConstant c = smallest_constant(needed(1000 + set, *n), 0.9);
    kept += c.interval95.width() <= kShare * c.value ? 1 : 0;
  }
  CAPTURE(kept);
  CHECK(kept >= 160);
}

}  // namespace statistics_fit_planning_test
