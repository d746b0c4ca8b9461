#include "attica/solvers/statistics/floor_surface.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/core/random.hpp"
#include "attica/solvers/statistics/floor_fit.hpp"

using namespace attica;
using Catch::WithinAbs;
using Catch::WithinRel;

namespace statistics_floor_surface_test {

const std::vector<std::string> kSizes{"N", "D"};

/// y = 1.7 + 400 N^-0.34 + 410 D^-0.28 with so much relative noise, 5 x 6 sizes.
std::vector<ScalingCell> losses(std::uint64_t replicate,
                                double noise,
                                std::size_t replicates,
                                double outliers = 0) {
  std::vector<ScalingCell> cells;
  RandomStream stream({.seed = 31, .id = StreamId::self_test, .replicate = replicate});
  for (double n = 1e6; n < 3e8; n *= 4) {
    for (double d = 1e7; d < 2e10; d *= 4) {
      ScalingCell cell{.x = {n, d}, .samples = {}};
      for (std::size_t r = 0; r < replicates; ++r) {
        const double y = 1.7 + 400 * std::pow(n, -0.34) + 410 * std::pow(d, -0.28);
        const double wild = outliers > 0 && stream.uniform() < outliers ? 2 : 1;
        cell.samples.push_back(y * (1 + noise * stream.normal()) * wild);
      }
      cells.push_back(cell);
    }
  }
  return cells;
}

TEST_CASE("floor surface: exact values come back", "[solvers][exponents]") {
  const FloorSurface fit = fit_floor_surface(losses(0, 0, 1), kSizes);
  REQUIRE(fit.fitted);
  CHECK_THAT(fit.floor, WithinRel(1.7, 1e-6));
  CHECK_THAT(fit.terms[0].exponent, WithinAbs(-0.34, 1e-6));
  CHECK_THAT(fit.terms[1].exponent, WithinAbs(-0.28, 1e-6));
  CHECK_THAT(fit.terms[0].prefactor, WithinRel(400, 1e-4));
  CHECK_THAT(fit.terms[1].prefactor, WithinRel(410, 1e-4));
  const FloorSurface given = fit_floor_surface(losses(0, 0, 1), kSizes, {.floor = 1.7});
  CHECK_THAT(given.terms[1].exponent, WithinAbs(-0.28, 1e-6));
  CHECK(given.floor95.width() == 0);
}

TEST_CASE("floor surface: with one size it is the fit of one size", "[solvers][exponents]") {
  std::vector<ScalingCell> cells;
  RandomStream stream({.seed = 7, .id = StreamId::self_test});
  std::vector<ScalingPoint> points;
  for (double x = 10; x < 6000; x *= 2) {
    ScalingPoint p{.x = x};
    for (int s = 0; s < 10; ++s) p.samples.push_back((0.1 + 10 / x) * (1 + 0.01 * stream.normal()));
    points.push_back(p);
    cells.push_back({.x = {x}, .samples = p.samples});
  }
  const FloorSurface fit = fit_floor_surface(cells, {"x"});
  const FloorFit one = fit_with_floor(points, {});
  CHECK_THAT(fit.floor, WithinRel(one.floor, 1e-5));
  CHECK_THAT(fit.terms[0].exponent, WithinRel(one.exponent.slope, 1e-5));
  CHECK_THAT(fit.terms[0].interval95.low, WithinRel(one.exponent.interval95.low, 1e-4));
  CHECK_THAT(fit.terms[0].interval90.high, WithinRel(one.exponent.interval90.high, 1e-4));
  CHECK_THAT(fit.terms[0].prefactor95.low, WithinRel(one.prefactor95.low, 1e-4));
  CHECK_THAT(fit.terms[0].prefactor95.high, WithinRel(one.prefactor95.high, 1e-4));
  CHECK_THAT(fit.floor95.low, WithinRel(one.floor95.low, 1e-4));
  CHECK_THAT(fit.floor95.high, WithinRel(one.floor95.high, 1e-4));
  CHECK_THAT(fit.chi_square, WithinRel(one.chi_square, 1e-6));
}

TEST_CASE("floor surface: 95 % intervals cover", "[solvers][exponents][slow]") {
  // At 95 % below 92 % of 400 with a probability of 0.4 %.
  std::array<int, 5> held = {};
  std::vector<double> ratios;
  constexpr std::uint64_t kSets = 400;
  for (std::uint64_t set = 0; set < kSets; ++set) {
    const FloorSurface fit = fit_floor_surface(losses(set, 0.01, 5), kSizes);
    REQUIRE(fit.fitted);
    held[0] += fit.floor95.contains(1.7) ? 1 : 0;
    held[1] += fit.terms[0].interval95.contains(-0.34) ? 1 : 0;
    held[2] += fit.terms[1].interval95.contains(-0.28) ? 1 : 0;
    held[3] += fit.terms[0].prefactor95.contains(400) ? 1 : 0;
    held[4] += fit.terms[1].prefactor95.contains(410) ? 1 : 0;
    // The width against that of the least-squares error at the minimum.
    ratios.push_back(fit.terms[0].interval95.width() /
                     (2 * 1.96 * std::sqrt(fit.covariance[2][2])));
  }
  CAPTURE(held[0], held[1], held[2], held[3], held[4]);
  for (const int each : held) CHECK(each >= 368);
  std::ranges::nth_element(ratios, ratios.begin() + 200);
  CHECK(ratios[200] < 1.3);
}

TEST_CASE("floor surface: the robust loss bears wild replicates", "[solvers][exponents][slow]") {
  // One replicate in 50 is twice its value.
  int held = 0;
  for (std::uint64_t set = 0; set < 10; ++set) {
    const FloorSurface fit =
        fit_floor_surface(losses(set, 0.01, 12, 0.02), kSizes, {.robust = true, .seed = set});
    REQUIRE(fit.fitted);
    held += fit.terms[0].interval95.contains(-0.34) ? 1 : 0;
    held += fit.terms[1].interval95.contains(-0.28) ? 1 : 0;
    CHECK_THAT(fit.floor, WithinAbs(1.7, 0.05));
  }
  CHECK(held >= 16);
  CHECK_FALSE(fit_floor_surface(losses(0, 0.01, 4), kSizes, {.robust = true}).fitted);
}

TEST_CASE("floor surface: what cannot be fitted says why", "[solvers][exponents]") {
  std::vector<ScalingCell> few = losses(0, 0.01, 4);
  std::erase_if(few, [](const ScalingCell& c) { return c.x[0] > 5e6; });
  CHECK_THAT(fit_floor_surface(few, kSizes).weakness, Catch::Contains("values of N"));
  std::vector<ScalingCell> bad = losses(0, 0.01, 4);
  bad[1].x = bad[0].x;
  CHECK_THROWS_AS(fit_floor_surface(bad, kSizes), Error);
  bad = losses(0, 0.01, 4);
  bad[1].samples[0] = -1;
  CHECK_THROWS_AS(fit_floor_surface(bad, kSizes), Error);
  // Alternating residuals: another form.
  std::vector<ScalingCell> wave = losses(0, 0.01, 8);
  for (std::size_t k = 0; k < wave.size(); ++k) {
    for (double& y : wave[k].samples) y *= k % 2 == 0 ? 1.1 : 0.9;
  }
  CHECK_THAT(fit_floor_surface(wave, kSizes).weakness, Catch::Contains("residuals are larger"));
  // A product of powers, at four sizes each: the residuals show it, and no window is shorter.
  std::vector<ScalingCell> product;
  RandomStream stream({.seed = 24, .id = StreamId::self_test});
  for (double a = 4; a < 40; a *= 2) {
    for (double b = 2; b < 20; b *= 2) {
      ScalingCell cell{.x = {a, b}, .samples = {}};
      for (int r = 0; r < 8; ++r) cell.samples.push_back(a * b * b * (1 + 0.05 * stream.normal()));
      product.push_back(std::move(cell));
    }
  }
  const FloorSurface of_product = fit_floor_surface(product, kSizes);
  CHECK_THAT(of_product.weakness, Catch::Contains("residuals are larger"));
  CHECK(std::isnan(of_product.terms[0].without_smallest));
}

}  // namespace statistics_floor_surface_test
