#include "attica/solvers/statistics/self_test_levels.hpp"

#include <array>
#include <cmath>

#include "attica/core/random.hpp"
#include "attica/solvers/statistics/agreement.hpp"
#include "attica/solvers/statistics/exponents.hpp"
#include "attica/solvers/statistics/power.hpp"

namespace attica {
namespace {

constexpr std::uint64_t kStreamOfPoints = 40;  // streams before are those of self_test
constexpr std::uint64_t kStreamOfExponents = 41;

SelfTestRow row(const char* perturbed, const char* rate, const Count& count, bool exact) {
  SelfTestRow r{.family = "normal",
                .perturbed = perturbed,
                .rate = rate,
                .stated = 0.05,
                .count = count,
                .limits = clopper_pearson(count, kLevelLimit)};
  r.pass = r.limits.low <= r.stated && (!exact || r.limits.high >= r.stated);
  return r;
}

}  // namespace

std::vector<SelfTestRow> self_test_levels(std::uint64_t seed) {
  // Wide: the far side of the margin is 100 standard errors away.
  constexpr double kWide = 100;
  std::vector<ComparedPoint> point{{.theory = 0.0,
                                    .replicates = std::vector<double>(kFewestReplicates),
                                    .margin = {.absolute = 0},
                                    .tails = Tails::normal}};
  Count disagree, high, low;
  for (std::size_t r = 0; r < kLevelRuns; ++r) {
    RandomStream(
        {.seed = seed, .id = StreamId::self_test, .point = kStreamOfPoints, .replicate = r})
        .fill_normal(point[0].replicates);
    const auto verdict = [&](double theory, double margin) {
      point[0].theory = theory;
      point[0].margin.absolute = margin;
      return judge(point, {.details = false}).points[0].verdict;
    };
    disagree.k += verdict(0, std::nextafter(0.0, 1.0)) == Verdict::disagree;
    high.k += verdict(-kWide, kWide) == Verdict::agree;
    low.k += verdict(kWide, kWide) == Verdict::agree;
  }
  disagree.n = high.n = low.n = kLevelRuns;

  // Lognormal times of 8 seeds at 4 sizes that grow like their square.
  constexpr double kExponent = 2;
  constexpr std::array<double, 4> kSizes{1, 2, 4, 8};
  Count missed{.k = 0, .n = kExponentRuns};
  for (std::size_t r = 0; r < kExponentRuns; ++r) {
    RandomStream stream(
        {.seed = seed, .id = StreamId::self_test, .point = kStreamOfExponents, .replicate = r});
    std::vector<ScalingPoint> points;
    for (const double x : kSizes) {
      points.push_back({.x = x, .samples = std::vector<double>(kFewestSeeds)});
      for (double& y : points.back().samples)
        y = std::pow(x, kExponent) * std::exp(0.3 * stream.normal());
    }
    const ExponentFit fit = fit_exponent(std::move(points), {.seed = seed + r});
    missed.k += kExponent < fit.interval95.low || kExponent > fit.interval95.high;
  }
  return {row("no difference, no margin", "DISAGREE of a point", disagree, true),
          row("a point at +margin, wide", "false AGREE of a point", high, true),
          row("a point at -margin, wide", "false AGREE of a point", low, true),
          row("a power law of 8 seeds", "exponent missed", missed, false)};
}

}  // namespace attica
