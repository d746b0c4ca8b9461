#include "attica/solvers/statistics/planning.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/core/random.hpp"
#include "solvers/statistics/reference.hpp"

using namespace attica;
using namespace attica::testing;
using Catch::WithinAbs;

TEST_CASE("planned_replicates: reference values", "[solvers][planning]") {
  for (const auto row : reference_values("statistics")
           ["plan_n sigma/m,P -> n at delta 0, n at delta m/2 (power .9, tails normal)"]) {
    const double sigma = row[0];
    const PlanGoal goal{.points = row[1]};
    INFO(sigma << " " << goal.points);
    CHECK(planned_replicates(1, 0, sigma, goal, 2) == row[2].get<std::size_t>());
    CHECK(planned_replicates(1, 0.5, sigma, goal, 2) == row[3].get<std::size_t>());
    CHECK(planned_replicates(1, 0, sigma, goal) == std::max<std::size_t>(8, row[2]));
  }
  CHECK_FALSE(planned_replicates(1, -1, 0.1, {}));
}

TEST_CASE("stein_replicates: reference values", "[solvers][planning]") {
  for (const auto row : reference_values("statistics")["stein [n0,s0/m,P,power,N]"]) {
    CHECK(stein_replicates(row[0], row[1], 1, 0, {.power = row[3], .points = row[2]}) ==
          row[4].get<std::size_t>());
  }
  CHECK_FALSE(stein_replicates(30, 1, 0.5, 0.5, {}));
}

TEST_CASE("point_power: shared replicates need no less than independent ones",
          "[solvers][planning]") {
  CHECK_THAT(std::pow(point_power({.points = 24}), 24), WithinAbs(0.9, 1e-12));
  CHECK_THAT(point_power({.points = 24, .shared = true}), WithinAbs(1 - 0.1 / 24, 1e-12));
  CHECK(point_power({.points = 24, .shared = true}) > point_power({.points = 24}));
  CHECK_THROWS_AS(point_power({.power = 1}), Error);
}

TEST_CASE("stein: two-stage runs agree with the power promised", "[solvers][planning]") {
  // One point, sigma/m = 2, pilot 20: power 0.9, false agreement 5 % at the margin.
  constexpr int trials = 2000;
  constexpr double sigma = 2;
  int agree = 0, false_agree = 0;
  for (int i = 0; i < trials; ++i) {
    RandomStream stream({.seed = 4, .id = StreamId::self_test, .replicate = std::uint64_t(i)});
    std::vector<double> d(20);
    stream.fill_normal(d);
    for (double& v : d) v *= sigma;
    const SampleSummary pilot = summarise(d);
    const std::size_t n = *stein_replicates(pilot.n, pilot.sd, 1, 0, {});
    double sum = pilot.mean * 20;
    for (std::size_t r = 20; r < n; ++r) sum += sigma * stream.normal();
    const Interval interval = stein_interval(pilot, sum / double(n), n, 0.05);
    agree += Interval{-1, 1}.contains(interval);
    false_agree += Interval{-2, 0}.contains(interval);  // the same data, true difference m
  }
  // Rounding N up gives a little more than 0.9. Four standard errors.
  CHECK(agree / double(trials) > 0.9 - 4 * std::sqrt(0.09 / trials));
  CHECK(agree / double(trials) < 0.95);
  CHECK_THAT(false_agree / double(trials), WithinAbs(0.05, 4 * std::sqrt(0.0475 / trials)));
}

TEST_CASE("guarded_replicates: least n that fits", "[solvers][planning]") {
  const SampleSummary pilot = summarise(reference_sample("skw(40)"));
  const std::size_t n = *guarded_replicates(pilot, 0.3, 0, {.points = 8});
  CHECK(n > *stein_replicates(pilot.n, pilot.sd, 0.3, 0, {.points = 8}));
  CHECK(guarded_replicates(pilot, 0.6, 0, {.points = 8}) < n);
  CHECK(guarded_replicates(summarise(reference_sample("sym(20)")), 1e3, 0, {}) == 30);
  // Points of a series need fewer.
  std::vector<ComparedPoint> series(
      4, {.theory = 0, .replicates = reference_sample("sym(20)"), .series = 0});
  const SampleSummary pooled = summarise(series).front();
  CHECK(guarded_replicates(pooled, 1e3, 0, {}) == 20);
  CHECK(guarded_replicates(pooled, 0.2, 0, {.points = 4}) <
        guarded_replicates(summarise(series[0].replicates), 0.2, 0, {.points = 4}));
  CHECK_FALSE(guarded_replicates(pilot, 0.3, 0.4, {}));
}

TEST_CASE("plan_run: largest point decides, time is that of the whole run", "[solvers][planning]") {
  const SampleSummary pilot = summarise(reference_sample("sym(40)"));
  std::vector<PilotPoint> points(
      3, {.sample = pilot, .margin = 0.1, .tails = Tails::normal, .seconds = 2});
  points[1].margin = 0.05;
  const Plan plan = plan_run(points, {}, 4);
  REQUIRE(plan.run_replicates);
  const auto expected = stein_replicates(40, pilot.sd, 0.05, 0, {.points = 3});
  CHECK(plan.replicates[1] == expected);
  CHECK(plan.run_replicates->expected == double(*expected));
  CHECK(plan.run_replicates->low < plan.run_replicates->expected);
  CHECK(plan.run_replicates->expected < plan.run_replicates->high);
  CHECK_THAT(plan.seconds->expected, WithinAbs(3 * 2 * double(*expected) / 4, 1e-9));
  points[0].tails = Tails::guarded;
  CHECK(*plan_run(points, {}, 4).replicates[0] > *plan.replicates[0]);
  points[2].delta = 0.2;
  CHECK_FALSE(plan_run(points, {}, 4).seconds);
  points[2].margin = 0;
  CHECK_THROWS_AS(plan_run(points, {}, 4), Error);
}
