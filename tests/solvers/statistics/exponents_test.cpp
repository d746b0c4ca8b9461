#include "attica/solvers/statistics/exponents.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/core/random.hpp"
#include "attica/solvers/statistics/exponent_rules.hpp"
#include "attica/solvers/statistics/order_statistics.hpp"
#include "solvers/statistics/reference.hpp"

using namespace attica;
using namespace attica::testing;
using Catch::WithinAbs;
using Catch::WithinRel;

namespace statistics_exponents_test {

std::vector<ScalingPoint> reference_points() {
  std::vector<ScalingPoint> points;
  for (int k = 0; k < 5; ++k) {
    ScalingPoint p{.x = 100 * std::pow(2, k)};
    for (int s = 0; s < 8; ++s) {
      const double y =
          3 * std::pow(p.x, 1.5) * std::exp(0.5 * std::sin(2.1 * k + 1.7 * s + 0.6 * k * s));
      p.samples.push_back(std::round(y * 1e6) / 1e6);
    }
    points.push_back(p);
  }
  return points;
}

// Lognormal samples of exponent 2 with noise 0.4, runs stopped at the cap.
std::vector<ScalingPoint> planted(std::uint64_t replicate,
                                  double noise,
                                  std::size_t seeds,
                                  double cap = 1e300) {
  std::vector<ScalingPoint> points;
  RandomStream stream({.seed = 12, .id = StreamId::self_test, .replicate = replicate});
  for (double x : {10.0, 20.0, 40.0, 80.0, 160.0}) {
    ScalingPoint p{.x = x, .cap = cap};
    for (std::size_t s = 0; s < seeds; ++s) {
      const double y = 5 * x * x * std::exp(noise * stream.normal());
      p.samples.push_back(y > cap ? INFINITY : y);
    }
    points.push_back(p);
  }
  return points;
}

TEST_CASE("order statistics: medians, quantiles, limits of a median", "[solvers][exponents]") {
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 2, 3}) == 2.5);
  CHECK(std::isinf(median({1, 2, INFINITY, INFINITY})));
  const std::vector<double> sorted{1, 2, 4, 8};
  CHECK(quantile(sorted, 0) == 1);
  CHECK(quantile(sorted, 0.5) == 3);
  CHECK(quantile(sorted, 1) == 8);
  CHECK_THAT(quantile(sorted, 0.9), WithinAbs(6.8, 1e-14));
  CHECK_FALSE(median_limit_rank(5, 0.025));   // 1/32 > 0.025
  CHECK(median_limit_rank(6, 0.025) == 1U);   // 1/64
  CHECK(median_limit_rank(20, 0.025) == 6U);  // textbook: 6th and 15th of 20, coverage 95.9 %
}

TEST_CASE("fit_exponent: reference values", "[solvers][exponents]") {
  const auto reference = reference_values("statistics")["exponent"];
  const auto points = reference_points();
  const ExponentFit fit = fit_exponent(points);
  CHECK_THAT(fit.slope, WithinAbs(reference["slope"].get<double>(), 1e-12));
  CHECK_THAT(fit.without_first, WithinAbs(reference["drop_first"].get<double>(), 1e-12));
  CHECK_THAT(fit.without_last, WithinAbs(reference["drop_last"].get<double>(), 1e-12));
  for (std::size_t k = 0; k < 5; ++k) {
    CHECK_THAT(fit.medians[k].median, WithinRel(reference["medians"][k].get<double>(), 1e-12));
  }
  for (std::size_t k = 0; k < 4; ++k) {
    CHECK_THAT(fit.local_slopes[k], WithinAbs(reference["local_slopes"][k].get<double>(), 1e-12));
  }
  const auto slopes =
      bootstrap_slopes(points, 200, [](std::size_t b, std::size_t k, std::size_t s) {
        return (b * (2 * s + 1) + 3 * k + s * s + (b / 8) * (s + k)) % 8;
      });
  CHECK_THAT(quantile(slopes, 0.025), WithinAbs(reference["ci95"][0].get<double>(), 1e-12));
  CHECK_THAT(quantile(slopes, 0.975), WithinAbs(reference["ci95"][1].get<double>(), 1e-12));
}

TEST_CASE("fit_exponent: an exact power law has its exponent and a point interval",
          "[solvers][exponents]") {
  const ExponentFit fit = fit_exponent(planted(0, 0, 8));
  CHECK_THAT(fit.slope, WithinAbs(2, 1e-12));
  CHECK_THAT(fit.intercept, WithinAbs(std::log(5.0), 1e-12));
  CHECK(fit.interval95.width() < 1e-12);
}

TEST_CASE("fit_exponent: coverage of the interval, also with a censored end",
          "[solvers][exponents]") {
  constexpr int trials = 60;
  // A cap at twice the median of x = 80 leaves 4 % censored there and nearly all at x = 160.
  for (double cap : {1e300, 2 * 5 * 80.0 * 80.0}) {
    int covered = 0;
    for (int i = 0; i < trials; ++i) {
      const ExponentFit fit = fit_exponent(planted(std::uint64_t(i), 0.4, 9, cap));
      covered += fit.fitted && fit.interval95.contains(2);
      if (cap < 1e300) CHECK_FALSE(fit.medians.back().used);
    }
    // Nominal 95 %, measured 96-98 %; four standard errors of 60 trials below 95 %.
    CHECK(covered >= trials * (0.95 - 4 * std::sqrt(0.05 * 0.95 / trials)));
  }
}

TEST_CASE("fit_exponent: shared seeds are resampled together", "[solvers][exponents]") {
  // A factor per seed common to all sizes does not move the slope at all when resampled jointly.
  auto points = planted(0, 0, 9);
  for (auto& p : points) {
    for (std::size_t s = 0; s < 9; ++s) p.samples[s] *= std::exp(0.3 * static_cast<double>(s));
  }
  CHECK(fit_exponent(points, {.shared_seeds = true}).interval95.width() < 1e-10);
  CHECK(fit_exponent(points).interval95.width() > 0.1);
}

TEST_CASE("fit_exponent: weak data are named, bad data refused", "[solvers][exponents]") {
  auto points = planted(0, 0.1, 8);
  CHECK(fit_exponent(points).weakness.empty());
  CHECK(fit_exponent({points[0], points[2], points[4]}).weakness == "fewer than 4 sizes");
  CHECK_THROWS_AS(fit_exponent({points[0], points[1], points[2], points[1]}), Error);
  CHECK(fit_exponent(std::vector(points.begin(), points.begin() + 4)).weakness.empty());
  points[3].x = 79;
  CHECK(fit_exponent(std::vector(points.begin(), points.begin() + 4)).weakness ==
        "sizes span less than a factor 8");
  CHECK(fit_exponent(planted(0, 0.1, 7)).weakness == "fewer than 8 seeds at size 10");
  const ExponentFit few = fit_exponent(planted(0, 0.1, 8, 5 * 30.0 * 30.0));
  CHECK_FALSE(few.fitted);
  CHECK(few.medians[4].censored == 8);
  CHECK(few.medians[4].median == 5 * 30.0 * 30.0);
  CHECK(judge_predicted_exponent(few, 2) == ExponentVerdict::undecided);
  points[1].samples[0] = -1;
  CHECK_THROWS_AS(fit_exponent(points), Error);
  points[1].samples[0] = INFINITY;
  points[1].cap = 0;
  CHECK_THROWS_AS(fit_exponent(points), Error);
}

TEST_CASE("exponent verdicts", "[solvers][exponents]") {
  const auto points = planted(1, 0.05, 20);
  const ExponentFit fit = fit_exponent(points);
  REQUIRE(fit.interval95.width() < 0.1);
  REQUIRE_FALSE(fit.window_dependent);
  CHECK(judge_predicted_exponent(fit, 2) == ExponentVerdict::agrees);
  CHECK(judge_predicted_exponent(fit, 2.1) == ExponentVerdict::undecided);
  CHECK(judge_predicted_exponent(fit, 2.3) == ExponentVerdict::violated);
  CHECK(judge_upper_bound(fit, points, 2) == ExponentVerdict::within_bound);
  CHECK(judge_upper_bound(fit, points, 3) == ExponentVerdict::vacuous);
  CHECK(judge_upper_bound(fit, points, 1.5) == ExponentVerdict::violated);
  CHECK(judge_upper_bound(fit, points, 1.9) == ExponentVerdict::undecided);
  auto bound = [](double constant) { return [constant](double x) { return constant * x * x; }; };
  CHECK(judge_upper_bound(fit, points, 2, bound(6)) == ExponentVerdict::within_bound);
  CHECK(judge_upper_bound(fit, points, 2, bound(60)) == ExponentVerdict::vacuous);
  CHECK(judge_upper_bound(fit, points, 2, bound(4)) == ExponentVerdict::violated);
  ExponentFit moving = fit;
  moving.window_dependent = true;
  CHECK(judge_upper_bound(moving, points, 2, bound(4)) == ExponentVerdict::violated);
  // What depends on the window has the verdict that all windows give.
  CHECK(judge_upper_bound(moving, points, 2) == ExponentVerdict::within_bound);
  CHECK(judge_upper_bound(moving, points, 1.5) == ExponentVerdict::violated);
  CHECK(judge_predicted_exponent(moving, 2) == ExponentVerdict::agrees);
  CHECK(judge_predicted_exponent(moving, 2.3) == ExponentVerdict::violated);
  CHECK(judge_predicted_exponent(moving, 1.7) == ExponentVerdict::violated);
  moving.without_last = 2.2;
  CHECK(judge_upper_bound(moving, points, 2) == ExponentVerdict::undecided);
  CHECK(judge_predicted_exponent(moving, 2) == ExponentVerdict::undecided);
  CHECK(judge_predicted_exponent(moving, 2.3) == ExponentVerdict::undecided);
  CHECK(judge_predicted_exponent(moving, 1.7) == ExponentVerdict::violated);
}

TEST_CASE("exponents: those of a quantile", "[solvers][exponents]") {
  // The 0.9-quantile of lognormal samples of spread 0.4 is 1.67 times their median. At 95 % fewer
  // than 46 of 54 happen in 0.2 % of cases.
  int exponents = 0;
  int prefactors = 0;
  for (std::uint64_t r = 0; r < 54; ++r) {
    const ExponentFit fit = fit_exponent_of_quantile(planted(r, 0.4, 60), 0.9);
    CHECK(fit.weakness.empty());
    exponents += fit.interval95.contains(2) ? 1 : 0;
    prefactors += fit.prefactor95.contains(5 * std::exp(0.4 * 1.2815515655)) ? 1 : 0;
  }
  CHECK(exponents >= 46);
  CHECK(prefactors >= 46);
  CHECK(fewest_seeds(0.5) == 8);
  CHECK(fewest_seeds(0.9) == 36);
  CHECK(fewest_seeds(0.1) == 36);
  CHECK(fit_exponent_of_quantile(planted(1, 0.4, 35), 0.9).weakness ==
        "fewer than 36 seeds at size 10");
  CHECK(fit_exponent_of_quantile(planted(1, 0.4, 9), 0.5).slope ==
        fit_exponent(planted(1, 0.4, 9)).slope);
  CHECK(reached_often_enough(5, 100, 0.9));
  CHECK_FALSE(reached_often_enough(6, 100, 0.9));
  CHECK_THROWS_AS(fit_exponent_of_quantile(planted(1, 0.4, 9), 1), Error);
}

TEST_CASE("exponents: with one run a size the scatter about the line gives the interval",
          "[solvers][exponents]") {
  // 400 data sets of one seed at each of 5 sizes: the interval holds the exponent 2 in 95 % of them
  // (3 standard errors are 3.3 %), and the prefactor's holds 5.
  int exponents = 0;
  int prefactors = 0;
  for (std::uint64_t r = 0; r < 400; ++r) {
    const ExponentFit fit = fit_exponent(planted(r, 0.3, 1));
    REQUIRE(fit.fitted);
    CHECK(fit.from_scatter);
    CHECK(fit.interval95.width() > 0);
    CHECK(fit.interval95.contains(fit.interval90));
    exponents += fit.interval95.contains(2) ? 1 : 0;
    prefactors += fit.prefactor95.contains(5) ? 1 : 0;
  }
  CHECK(std::abs(exponents - 380) <= 13);
  CHECK(std::abs(prefactors - 380) <= 13);
  CHECK_FALSE(fit_exponent(planted(1, 0.3, 8)).from_scatter);
}

TEST_CASE("exponents: a curve that levels off", "[solvers][exponents]") {
  std::vector<ScalingPoint> points;
  for (double x = 10; x < 1000; x *= 2) points.push_back({.x = x, .samples = {0.1 + 10 / x}});
  CHECK(levels_off(fit_exponent(points)));
  for (ScalingPoint& p : points) p.samples = {10 / p.x};
  CHECK_FALSE(levels_off(fit_exponent(points)));
}

TEST_CASE("exponents: sizes that are never reached violate a bound that their caps exceed",
          "[solvers][exponents]") {
  // Exponent 2 up to a cap of 2e5, which the two largest of seven sizes exceed.
  std::vector<ScalingPoint> points;
  RandomStream stream({.seed = 4, .id = StreamId::self_test});
  for (double x = 10; x < 1000; x *= 2) {
    ScalingPoint p{.x = x, .cap = 2e5};
    for (int s = 0; s < 10; ++s) {
      const double y = 5 * x * x * std::exp(0.1 * stream.normal());
      p.samples.push_back(y > p.cap ? INFINITY : y);
    }
    points.push_back(p);
  }
  const ExponentFit fit = fit_exponent(points);
  const ExponentFit least = fit_at_caps(points, 0.5);
  REQUIRE(least.fitted);
  CHECK(least.slope > 1.5);
  CHECK(least.slope < 2);
  CHECK(judge_upper_bound(fit, points, 1) == ExponentVerdict::violated);
  // From the caps nothing follows for a bound of 1.7.
  CHECK(judge_upper_bound_of_quantile(least, points, 0.5, 1.7, 0.1) != ExponentVerdict::violated);
  // Small sizes that are not reached say nothing, and so do sizes that all are.
  std::swap(points.front().samples, points.back().samples);
  CHECK_FALSE(fit_at_caps(points, 0.5).fitted);
  CHECK_FALSE(fit_at_caps(reference_points(), 0.5).fitted);
}

TEST_CASE("exponents: growth that slows down keeps a bound, a floor does not",
          "[solvers][exponents]") {
  const auto points = [](const auto& y) {
    std::vector<ScalingPoint> all;
    RandomStream stream({.seed = 5, .id = StreamId::self_test});
    for (double x = 10; x < 700; x *= 2) {
      ScalingPoint p{.x = x};
      for (int s = 0; s < 12; ++s) p.samples.push_back(y(x) * std::exp(0.005 * stream.normal()));
      all.push_back(p);
    }
    return all;
  };
  const auto slower = points([](double x) { return x / (1 + x / 100); });
  const ExponentFit fit = fit_exponent(slower);
  REQUIRE(fit.window_dependent);
  REQUIRE(levels_off(fit));
  CHECK(judge_upper_bound(fit, slower, 1) == ExponentVerdict::within_bound);
  CHECK(judge_predicted_exponent(fit, 0.5) == ExponentVerdict::undecided);
  // The last slope keeps it although no window does.
  CHECK(judge_upper_bound(fit, slower, 0.2) == ExponentVerdict::undecided);
  const auto floor = points([](double x) { return 0.01 + 1 / x; });
  const ExponentFit down = fit_exponent(floor);
  REQUIRE(levels_off(down));
  CHECK(judge_upper_bound(down, floor, 0) == ExponentVerdict::undecided);
}

}  // namespace statistics_exponents_test
