#include "attica/sources/bounds.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/core/random.hpp"
#include "attica/sources/study.hpp"

using namespace attica;
using namespace attica::sources;
using Catch::Contains;

namespace own_bounds_test {

Configuration configured(const std::string& formula,
                         double probability,
                         const std::string& direction = "upper") {
  const Table entries{{"x", "n"},
                      {"model.c", 2.0},
                      {"simulation.command", List{"true"}},
                      {"bound.b.series", "y"},
                      {"bound.b.expression", formula},
                      {"bound.b.probability", probability},
                      {"bound.b.direction", direction}};
  Configuration c("own", sources::defined_study(entries).parameters);
  for (const auto& [key, value] : entries) c.set(key, value, true);
  return c;
}

/// y uniform on (0, 1), n replicates at x = 1 and at x = 2.
Observed uniform(std::size_t n) {
  ObservedCurve curve{
      .mean = {"y", {}, "n", {1, 2}, {0.5, 0.5}}, .values = {{}, {}}, .replicates = {{}, {}}};
  RandomStream stream({.seed = 5});
  for (std::size_t k = 0; k < 2; ++k) {
    for (std::size_t r = 0; r < n; ++r) {
      curve.values[k].push_back(stream.uniform());
      curve.replicates[k].push_back(r);
    }
  }
  return {.theory = {}, .simulation = {curve}};
}

BoundResult judged(const std::string& formula,
                   double probability,
                   std::size_t n = 400,
                   const std::string& direction = "upper") {
  return judge_bounds(configured(formula, probability, direction), uniform(n)).at(0);
}

TEST_CASE("judge_bound_point: by Clopper and Pearson's limits", "[studies][own]") {
  using enum BoundVerdict;
  // Without a violation the upper limit is 1 - 0.05^(1/n): 0.05 or below from n = 59 on, 0.1
  // from 29.
  CHECK(judge_bound_point(0, 58, 1, 1, false) == undecided);
  CHECK(judge_bound_point(0, 59, 1, 1, false) == holds);
  CHECK(judge_bound_point(1, 1000, 1, 1, false) == violated);
  CHECK(judge_bound_point(0, 28, 0.9, 1, false) == undecided);
  CHECK(judge_bound_point(0, 29, 0.9, 1, false) == holds);
  // 10 of 10: the lower limit is 0.05^(1/10) = 0.741 alone, 0.005^(1/10) = 0.589 among ten points.
  CHECK(judge_bound_point(10, 10, 0.27, 1, false) == violated);
  CHECK(judge_bound_point(10, 10, 0.35, 10, false) == undecided);
  CHECK(judge_bound_point(10, 10, 0.42, 10, false) == violated);
  CHECK(judge_bound_point(0, 0, 0.5, 1, false) == undecided);
  CHECK(judge_bound_point(0, 1, 1, 1, true) == holds);
  CHECK(judge_bound_point(1, 1, 1, 1, true) == violated);
}

TEST_CASE("judge_bounds: holds, loose, violated, undecided", "[studies][own]") {
  CHECK(judged("1", 1).verdict == BoundVerdict::holds);
  CHECK(judged("2*c", 1).verdict == BoundVerdict::loose);
  CHECK(judged("0.95 + 0*n", 0.9).verdict == BoundVerdict::holds);
  CHECK(judged("0.9", 0.9).verdict == BoundVerdict::undecided);
  const BoundResult corner = judged("n == 2 ? 0.5 : 1", 0.9);
  CHECK(corner.verdict == BoundVerdict::violated);
  REQUIRE(corner.first_violated);
  CHECK(corner.points[*corner.first_violated].x == 2);
  CHECK(corner.points[0].verdict == BoundVerdict::holds);
  CHECK(judged("1", 1, 30).verdict == BoundVerdict::undecided);
  CHECK_THAT(judged("1", 1, 30).reason, Contains("59 replicates"));
  CHECK(judged("0.0001", 0.9, 400, "lower").verdict == BoundVerdict::loose);
  CHECK(judged("0.5", 0.9, 400, "lower").verdict == BoundVerdict::violated);
  CHECK(judged("1 - delta/2", 0.9).points[0].bound == Approx(0.95));
}

TEST_CASE("judge_bounds: `only` meets numbers however they are written", "[studies][own]") {
  const auto judged_only = [](const std::string& only) {
    Observed observed = uniform(100);
    observed.simulation[0].mean.point = {{"alpha", 0.5}, {"mode", std::string("scratch")}};
    observed.simulation.push_back(observed.simulation[0]);
    observed.simulation[1].mean.point[0].second = 1.0 / 6;
    Configuration c = configured("1", 1);
    c.set("bound.b.only", only, true);
    return judge_bounds(c, observed).at(0).points.size();
  };
  for (const char* half : {"alpha=0.5", "alpha=.5", "alpha = 0.50", "alpha=5e-1", "alpha=5E-1"})
    CHECK(judged_only(half) == 2);
  for (const char* sixth : {"alpha=0.1666666666666666", "alpha=0.166667", "alpha=0.16666667"})
    CHECK(judged_only(sixth) == 2);
  CHECK(judged_only("mode=scratch") == 4);
  CHECK(judged_only("mode = scratch , alpha = +0.5") == 2);
  CHECK_THROWS_WITH(judged_only("alpha=0.25"),
                    Contains("alpha=0.25") && Contains("alpha=0.5, mode=scratch"));
  CHECK_THROWS_WITH(judged_only("alpha=0.17"), Contains("it has"));
  CHECK_THROWS_WITH(judged_only("alpha"), Contains("bound.b.only") && Contains("name=value"));
}

TEST_CASE("judge_bounds: what an undecided bound says would decide it does", "[studies][own]") {
  // Of n replicates so many violate y <= 1.
  const auto of = [](std::size_t violations, std::size_t n, double probability) {
    ObservedCurve curve{.mean = {"y", {}, "n", {1}, {0.5}}, .values = {{}}, .replicates = {{}}};
    for (std::size_t r = 0; r < n; ++r) {
      curve.values[0].push_back(r < violations ? 2.0 : 0.8);
      curve.replicates[0].push_back(r);
    }
    return judge_bounds(configured("1", probability), {.theory = {}, .simulation = {curve}}).at(0);
  };
  const std::vector<std::pair<std::size_t, std::size_t>> seen = {
      {5, 100}, {1, 20}, {0, 10}, {2, 30}, {8, 60}, {12, 100}};
  for (const auto& [violations, n] : seen) {
    const BoundResult b = of(violations, n, 0.9);
    REQUIRE(b.verdict == BoundVerdict::undecided);
    INFO(b.reason);
    std::size_t told = 0;
    const bool about = b.reason.find("about ") != std::string::npos;
    REQUIRE(std::sscanf(
                b.reason.c_str() + (about ? b.reason.find("about ") + 6 : 0), "%zu", &told) == 1);
    CHECK(told > n);
    // With a third more, whatever the last whole number of violations is.
    const double rate = static_cast<double>(violations) / static_cast<double>(n);
    const std::size_t more = told + told / 3;
    const BoundResult decided =
        of(static_cast<std::size_t>(std::lround(rate * static_cast<double>(more))), more, 0.9);
    CHECK((rate < 0.1 ? decided.verdict == BoundVerdict::holds
                      : decided.verdict == BoundVerdict::violated));
  }
  CHECK_THAT(of(10, 100, 0.9).reason, Contains("too near"));
}

TEST_CASE("judge_bounds: the slack is the bound over the quantile that it bounds",
          "[studies][own]") {
  // The 0.9-quantile of uniform numbers is 0.9, the 0.1-quantile 0.1; the largest is about 1.
  for (const BoundPoint& p : judged("2.7", 0.9).points) {
    CHECK(p.slack == Approx(3).epsilon(0.05));
    REQUIRE(p.slack_interval);
    CHECK(p.slack_interval->contains(p.slack));
    CHECK(p.slack_interval->contains(3));
    CHECK(p.slack_interval->width() < 0.3);
    CHECK(p.mean == Approx(0.5).epsilon(0.1));
  }
  for (const BoundPoint& p : judged("0.025", 0.9, 400, "lower").points) {
    CHECK(p.slack == Approx(4).epsilon(0.5));
    REQUIRE(p.slack_interval);
    CHECK(p.slack_interval->contains(p.slack));
  }
  for (const BoundPoint& p : judged("3", 1).points) {
    CHECK(p.slack == Approx(3).epsilon(0.02));
    CHECK_FALSE(p.slack_interval);
  }
  // Few replicates do not limit the 0.9-quantile from above: 1 - 0.9^28 < 0.95.
  for (const BoundPoint& p : judged("3", 0.9, 28).points) CHECK_FALSE(p.slack_interval);
}

TEST_CASE("judge_bounds: a replicate that never reached its target violates an upper bound",
          "[studies][own]") {
  Observed observed = uniform(200);
  for (std::size_t r = 0; r < 60; ++r)
    observed.simulation[0].values[1][r] = std::numeric_limits<double>::infinity();
  const BoundResult upper = judge_bounds(configured("5", 0.9), observed).at(0);
  CHECK(upper.verdict == BoundVerdict::violated);
  CHECK(upper.points[1].violations == 60);
  CHECK(upper.points[1].failed == 0);
  CHECK(upper.points[1].slack == 0);
  CHECK(judge_bounds(configured("0.01", 0.9, "lower"), observed).at(0).points[1].violations < 10);
}

TEST_CASE("judge_bounds: the stated error rate", "[studies][own]") {
  // A bound that is violated with probability exactly 1 - p is called so in at most 5 % of runs,
  // and said to hold in at most 5 %: of 400 runs more than 34 (0.05 + 3.2 standard errors) would
  // show otherwise.
  int violated = 0;
  int holds = 0;
  for (std::uint64_t run = 0; run < 400; ++run) {
    RandomStream stream({.seed = 9, .replicate = run});
    std::size_t k = 0;
    for (int r = 0; r < 100; ++r) k += stream.uniform() > 0.9 ? 1 : 0;
    const BoundVerdict verdict = judge_bound_point(k, 100, 0.9, 1, false);
    violated += verdict == BoundVerdict::violated ? 1 : 0;
    holds += verdict == BoundVerdict::holds ? 1 : 0;
  }
  CHECK(violated <= 34);
  CHECK(holds <= 34);
}

TEST_CASE("judge_bounds: bad input", "[studies][own]") {
  CHECK_THROWS_WITH(judged("m", 1), Contains("no name 'm'"));
  Configuration c = configured("1", 1);
  c.set("bound.b.series", Value("z"), true);
  CHECK_THROWS_WITH(judge_bounds(c, uniform(10)), Contains("no series 'z'"));
  CHECK_THROWS_AS(judged("1/0*n", 1), Error);
}

}  // namespace own_bounds_test
