#include "attica/solvers/statistics/floor_fit.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "attica/core/random.hpp"

using namespace attica;
using Catch::WithinAbs;

namespace statistics_floor_fit_test {

/// y = 0.1 + 10 x^-1 with so much relative noise, at x = 10, 20, ... 5120.
std::vector<ScalingPoint> levelling(std::uint64_t replicate, double noise, std::size_t seeds) {
  std::vector<ScalingPoint> points;
  RandomStream stream({.seed = 21, .id = StreamId::self_test, .replicate = replicate});
  for (double x = 10; x < 6000; x *= 2) {
    ScalingPoint p{.x = x};
    for (std::size_t s = 0; s < seeds; ++s)
      p.samples.push_back((0.1 + 10 / x) * (1 + noise * stream.normal()));
    points.push_back(p);
  }
  return points;
}

TEST_CASE("floor: exact values give floor, exponent and prefactor", "[solvers][exponents]") {
  const FloorFit fit = fit_with_floor(levelling(0, 0, 1), {});
  REQUIRE(fit.exponent.fitted);
  CHECK_THAT(fit.exponent.slope, WithinAbs(-1, 1e-5));
  CHECK_THAT(fit.floor, WithinAbs(0.1, 1e-5));
  CHECK_THAT(fit.prefactor, WithinAbs(10, 1e-3));
  // A rising curve with an offset: y = 3 + 0.5 x^0.7.
  std::vector<ScalingPoint> rising;
  for (double x = 1; x < 200; x *= 2)
    rising.push_back({.x = x, .samples = {3 + 0.5 * std::pow(x, 0.7)}});
  const FloorFit up = fit_with_floor(rising, {});
  CHECK_THAT(up.exponent.slope, WithinAbs(0.7, 1e-5));
  CHECK_THAT(up.floor, WithinAbs(3, 1e-4));
  CHECK_THAT(fit_with_floor(rising, 3.0).prefactor, WithinAbs(0.5, 1e-5));
}

TEST_CASE("floor: 95 % intervals hold floor, exponent and prefactor", "[solvers][exponents]") {
  // 1 % noise; at least 92 % of 200 data sets each. The least-squares error of the exponent at
  // these sizes is 0.0029 with 10 replicates: a median width below 1.3 times 4 of it.
  for (const std::size_t seeds : {1, 4, 10}) {
    int floors = 0;
    int exponents = 0;
    int prefactors = 0;
    std::vector<double> widths;
    for (std::uint64_t r = 0; r < 200; ++r) {
      const FloorFit fit = fit_with_floor(levelling(r, 0.01, seeds), {});
      REQUIRE(fit.exponent.fitted);
      CHECK(fit.exponent.from_scatter == (seeds == 1));
      floors += fit.floor95.contains(0.1) ? 1 : 0;
      exponents += fit.exponent.interval95.contains(-1) ? 1 : 0;
      prefactors += fit.prefactor95.contains(10) ? 1 : 0;
      widths.push_back(fit.exponent.interval95.width());
    }
    INFO(seeds);
    CHECK(floors >= 184);
    CHECK(exponents >= 184);
    CHECK(prefactors >= 184);
    std::ranges::nth_element(widths, widths.begin() + 100);
    if (seeds == 10) CHECK(widths[100] < 1.3 * 4 * 0.0029);
  }
}

TEST_CASE("floor: a spread of rounding errors is none", "[solvers][exponents]") {
  std::vector<ScalingPoint> points;
  for (double x = 4; x < 100; x *= 2)
    points.push_back({.x = x, .samples = std::vector<double>(10, 0.1 + 3 * std::pow(x, -0.7))});
  const FloorFit fit = fit_with_floor(points, {});
  REQUIRE(fit.exponent.fitted);
  CHECK(fit.exponent.from_scatter);
  CHECK(fit.exponent.weakness.empty());
  CHECK_THAT(fit.floor, WithinAbs(0.1, 1e-5));
  // Four sizes have no shorter window.
  points.pop_back();
  CHECK(std::isnan(fit_with_floor(points, {}).exponent.without_first));
}

TEST_CASE("floor: what the data do not show is not told", "[solvers][exponents]") {
  // Too few sizes; a straight line in ln x, whose floor nothing limits; another form.
  std::vector<ScalingPoint> few = levelling(1, 0.01, 8);
  few.resize(3);
  CHECK_FALSE(fit_with_floor(few, {}).exponent.fitted);
  std::vector<ScalingPoint> logarithm = levelling(1, 0.01, 8);
  std::vector<ScalingPoint> wave = logarithm;
  for (std::size_t k = 0; k < wave.size(); ++k) {
    for (double& y : logarithm[k].samples) y += 10 - std::log(logarithm[k].x);
    for (double& y : wave[k].samples) y *= k % 2 == 0 ? 1.2 : 0.8;
  }
  for (ScalingPoint& p : logarithm) {
    RandomStream stream({.seed = 3, .point = static_cast<std::uint64_t>(p.x)});
    for (double& y : p.samples) y = (20 - std::log(p.x)) * (1 + 0.01 * stream.normal());
  }
  const FloorFit open = fit_with_floor(logarithm, {});
  CHECK(std::isinf(open.floor95.low));
  CHECK_FALSE(open.exponent.weakness.empty());
  const FloorFit other = fit_with_floor(wave, {});
  CHECK_THAT(other.exponent.weakness, Catch::Contains("residuals are larger"));
}

}  // namespace statistics_floor_fit_test
