/// From observations to exponents and their verdicts, on data of known exponent.

#include "attica/studies/scaling.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/core/random.hpp"

using namespace attica;

namespace scaling_test {

constexpr double kExponent = 1.2;
const std::vector<double> kSizes{100, 200, 400, 800, 1600};

/// Curves of a study that records samples and where a search gives up. Searches that would need
/// more than the cap have no value.
std::vector<ObservedCurve> observed(double cap, std::uint64_t seed, double noise = 0.2) {
  RandomStream stream({.seed = seed, .id = StreamId::self_test});
  constexpr std::uint64_t kReplicates = 16;
  ObservedCurve values{
      .mean = {"samples", {{"mode", "a"}}, "size", {}, {}}, .values = {}, .replicates = {}};
  ObservedCurve caps{
      .mean = {"cap", {{"mode", "a"}}, "size", {}, {}}, .values = {}, .replicates = {}};
  for (const double x : kSizes) {
    std::vector<double> reached;
    for (std::uint64_t r = 0; r < kReplicates; ++r) {
      const double y = std::pow(x, kExponent) * std::exp(noise * stream.normal());
      if (y <= cap) reached.push_back(y);
    }
    caps.mean.x.push_back(x);
    caps.values.emplace_back(kReplicates, cap);
    if (reached.empty()) continue;  // a curve has no x where nobody has a value
    values.mean.x.push_back(x);
    values.values.push_back(std::move(reached));
  }
  return {values, caps};
}

ExponentClaim claim(double exponent, bool upper_bound) {
  return {.name = "a",
          .series = "samples",
          .x_name = "size",
          .only = {{"mode", "a"}},
          .exponent = exponent,
          .upper_bound = upper_bound,
          .cap_series = "cap"};
}

TEST_CASE("scaling points: replicates without a value are censored at their cap",
          "[studies][exponents]") {
  constexpr double kCap = 3000;  // 400^1.2 = 1326, 800^1.2 = 3046, 1600^1.2 = 6998
  const std::vector<ScalingPoint> points = scaling_points(claim(1, true), observed(kCap, 1));
  REQUIRE(points.size() == kSizes.size());
  for (const ScalingPoint& p : points) {
    CHECK(p.samples.size() == 16);
    CHECK(p.cap == kCap);
  }
  const auto censored = [](const ScalingPoint& p) {
    return std::count_if(
        p.samples.begin(), p.samples.end(), [](double y) { return std::isinf(y); });
  };
  CHECK(censored(points[0]) == 0);
  CHECK(censored(points[3]) > 2);
  CHECK(censored(points[3]) < 14);
  CHECK(censored(points[4]) == 16);
  ExponentClaim other = claim(1, true);
  other.x_name = "tokens";
  CHECK_THROWS_WITH(scaling_points(other, observed(kCap, 1)),
                    Catch::Matchers::Contains("no series 'samples' against tokens"));
}

TEST_CASE("judge_exponent: known exponent, bound held, violated, vacuous, undecided",
          "[studies][exponents]") {
  const auto verdict = [](double exponent, bool upper, double cap = 1e9) {
    return judge_exponent(claim(exponent, upper), observed(cap, 3, 0.05), 1).verdict;
  };
  CHECK(verdict(kExponent, false) == ExponentVerdict::agrees);
  CHECK(verdict(kExponent + 0.3, false) == ExponentVerdict::violated);
  CHECK(verdict(kExponent, true) == ExponentVerdict::within_bound);
  CHECK(verdict(kExponent - 0.3, true) == ExponentVerdict::violated);
  CHECK(verdict(kExponent + 1, true) == ExponentVerdict::vacuous);
  CHECK(verdict(kExponent - 0.1, true) == ExponentVerdict::undecided);
  CHECK(verdict(kExponent, false, 500) == ExponentVerdict::undecided);  // two sizes are left
}

TEST_CASE("judge_exponent: the interval covers, also with a censored end", "[studies][exponents]") {
  constexpr int kTrials = 40;
  for (const double cap : {1e9, 6000.0}) {  // the second: three quarters censored at the last size
    int covered = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      const ExponentResult result = judge_exponent(
          claim(kExponent, true), observed(cap, 100 + static_cast<std::uint64_t>(trial)), 7);
      covered += result.fit.fitted && result.fit.interval95.contains(kExponent) ? 1 : 0;
    }
    // Nominal 95 %: 34 of 40 or fewer have probability 1 %.
    CHECK(covered >= 34);
  }
}

}  // namespace scaling_test
