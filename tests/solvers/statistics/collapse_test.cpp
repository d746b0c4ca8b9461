#include "attica/solvers/statistics/collapse.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/core/random.hpp"
#include "refused.hpp"

using namespace attica;
using attica::testing::refusal;
using Catch::Contains;
using Catch::WithinAbs;
using Catch::WithinRel;

namespace statistics_collapse_test {

constexpr CollapseForm kTruth{.a = 0.8, .b = 0.25, .centre = 0.3};

// y = L^-b f((x - x_c) L^a) with f(z) = 1/(1 + e^z) and normal replicates.
std::vector<CollapseCurve> planted(double noise,
                                   std::uint64_t number,
                                   std::size_t replicates = 20) {
  std::vector<CollapseCurve> curves;
  RandomStream stream({.seed = 9, .id = StreamId::self_test, .replicate = number});
  for (const double size : {8.0, 16.0, 32.0, 64.0}) {
    CollapseCurve curve{.size = size, .x = {}, .values = {}};
    for (int k = 0; k < 25; ++k) {
      const double x = kTruth.centre + (k - 12) * 0.2 / std::pow(size, 0.7);
      const double z = (x - kTruth.centre) * std::pow(size, kTruth.a);
      curve.x.push_back(x);
      curve.values.emplace_back();
      for (std::size_t r = 0; r < replicates; ++r) {
        curve.values.back().push_back(std::pow(size, -kTruth.b) / (1 + std::exp(z)) *
                                      (1 + noise * stream.normal()));
      }
    }
    curves.push_back(curve);
  }
  return curves;
}

TEST_CASE("collapse: the quality of two curves, computed another way", "[solvers][collapse]") {
  // Between two points the weighted line is the chord: Y and its error by interpolation.
  const CollapseForm form{.a = 1, .b = 0.5, .centre = 1};
  const std::vector<CollapseCurve> curves{
      {.size = 1, .x = {1, 2, 4}, .values = {{1, 3}, {3, 5}, {6, 7}}},
      {.size = 4, .x = {1.1, 1.4, 1.6}, .values = {{1, 1.2}, {2, 2.6}, {2.8, 3}}}};
  struct Scaled {
    double x, y, e;
  };
  const auto scaled = [&](const CollapseCurve& c) {
    std::vector<Scaled> all;
    for (std::size_t k = 0; k < c.x.size(); ++k) {
      // Of two values the standard error of the mean is half their distance.
      const double up = std::sqrt(c.size);
      all.push_back({(c.x[k] - 1) * c.size,
                     up * (c.values[k][0] + c.values[k][1]) / 2,
                     up * std::abs(c.values[k][0] - c.values[k][1]) / 2});
    }
    return all;
  };
  double sum = 0;
  int compared = 0;
  for (int i = 0; i < 2; ++i) {
    const auto own = scaled(curves[static_cast<std::size_t>(i)]);
    const auto other = scaled(curves[static_cast<std::size_t>(1 - i)]);
    for (const Scaled& p : own) {
      for (std::size_t k = 0; k + 1 < other.size(); ++k) {
        if (p.x < other[k].x || p.x >= other[k + 1].x) continue;
        const double t = (p.x - other[k].x) / (other[k + 1].x - other[k].x);
        const double y = (1 - t) * other[k].y + t * other[k + 1].y;
        const double variance = std::pow((1 - t) * other[k].e, 2) + std::pow(t * other[k + 1].e, 2);
        sum += std::pow(p.y - y, 2) / (p.e * p.e + variance);
        ++compared;
      }
    }
  }
  REQUIRE(compared == 4);
  const CollapseQuality quality = collapse_quality(curves, form);
  CHECK(quality.compared == 4);
  CHECK_THAT(quality.s, WithinRel(sum / compared, 1e-12));
  // Too far apart to be compared: no quality rather than a perfect one.
  CHECK(std::isinf(collapse_quality(curves, {.a = 1, .b = 0, .centre = -9}).s));
}

TEST_CASE("collapse: S is about 1 at the true exponents and large elsewhere",
          "[solvers][collapse]") {
  // The curvature of f between neighbouring points, up to 0.012 f, adds 0.05 at this noise; S is a
  // mean over 90 correlated terms of expectation 1, spread over data sets 0.13.
  double mean = 0;
  constexpr int kSets = 10;
  for (std::uint64_t set = 0; set < kSets; ++set)
    mean += collapse_quality(planted(0.2, set), kTruth).s / kSets;
  CHECK_THAT(mean, WithinAbs(1, 0.2));
  CHECK(collapse_quality(planted(0.2, 1), {.a = 0.8, .b = 0, .centre = 0.3}).s > 10);
  CHECK(collapse_quality(planted(0.2, 1), {.a = 0.3, .b = 0.25, .centre = 0.3}).s > 10);
}

TEST_CASE("collapse: planted exponents come back", "[solvers][collapse]") {
  const CollapseFit fit = fit_collapse(
      planted(0.1, 3),
      {.start = {.a = 1, .b = 0, .centre = 0.25}, .fit_centre = true, .resamples = 60, .seed = 2});
  CHECK(fit.weakness.empty());
  CHECK(fit.quality.s < 1.6);
  CHECK(fit.unscaled > 10 * fit.quality.s);
  const auto close = [](const CollapseNumber& n, double truth) {
    CAPTURE(n.value, n.error, truth);
    CHECK(n.free);
    CHECK(std::abs(n.value - truth) < 4 * n.error);
    CHECK(n.error < 0.05);
    CHECK(n.interval95.low < n.interval95.high);
  };
  close(fit.a, kTruth.a);
  close(fit.b, kTruth.b);
  close(fit.centre, kTruth.centre);
  // What is held stays, and has no error.
  const CollapseFit held =
      fit_collapse(planted(0.1, 3), {.start = kTruth, .fit_a = false, .resamples = 10, .seed = 2});
  CHECK(held.a.value == kTruth.a);
  CHECK_FALSE(held.a.free);
  CHECK(held.a.error == 0);
  // The same seed gives the same numbers.
  const CollapseFit again =
      fit_collapse(planted(0.1, 3), {.start = kTruth, .fit_a = false, .resamples = 10, .seed = 2});
  CHECK(again.b.value == held.b.value);
  CHECK(again.b.error == held.b.error);
}

TEST_CASE("collapse: curves of another family do not collapse", "[solvers][collapse]") {
  // f itself changes with L: y = z^2 + c log L cannot be undone by powers.
  std::vector<CollapseCurve> curves = planted(0.01, 0);
  for (CollapseCurve& curve : curves) {
    for (std::size_t k = 0; k < curve.x.size(); ++k) {
      for (double& y : curve.values[k]) y += std::sin(3 * curve.x[k]) * std::log(curve.size);
    }
  }
  const CollapseFit fit = fit_collapse(curves, {.start = kTruth, .resamples = 5});
  CHECK_THAT(fit.weakness, Contains("no collapse"));
}

TEST_CASE("collapse: bad input is named", "[solvers][collapse]") {
  std::vector<CollapseCurve> curves = planted(0.1, 0, 5);
  const auto refused = [&](const std::string& word) {
    CHECK_THAT(refusal([&] { static_cast<void>(collapse_quality(curves, kTruth)); }),
               Contains(word));
  };
  curves.resize(1);
  refused("sizes");
  curves = planted(0.1, 0, 5);
  curves[1].size = 8;
  refused("once");
  curves[1].size = -1;
  refused("'size' = -1");
  curves = planted(0.1, 0, 5);
  curves[0].x[1] = curves[0].x[0];
  refused("every x once");
  curves = planted(0.1, 0, 5);
  curves[0].values[1] = {2, 2, 2};
  refused("replicates that differ");
  curves[0].values[1] = {2};
  refused("two or more at x");
  curves[0].values[1] = {2, NAN};
  refused("finite");
  curves = planted(0.1, 0, 5);
  CHECK_THAT(
      refusal([&] { static_cast<void>(fit_collapse(curves, {.fit_a = false, .fit_b = false})); }),
      Contains("something to be fitted"));
  CHECK_THAT(
      refusal([&] { static_cast<void>(fit_collapse(curves, {.start = {.a = 9, .centre = 5}})); }),
      Contains("fewer than half"));
}

TEST_CASE("collapse: 95 % intervals cover", "[solvers][collapse][slow]") {
  // 40 sets and two exponents: intervals of nominal 95 % that cover in fewer than 68 of 80 would be
  // off by more than four standard deviations if the two were independent.
  int covered = 0;
  for (std::uint64_t set = 0; set < 40; ++set) {
    const CollapseFit fit =
        fit_collapse(planted(0.2, set), {.start = kTruth, .resamples = 100, .seed = set});
    covered += fit.a.interval95.contains(kTruth.a) ? 1 : 0;
    covered += fit.b.interval95.contains(kTruth.b) ? 1 : 0;
  }
  CAPTURE(covered);
  CHECK(covered >= 68);
}

}  // namespace statistics_collapse_test
