#include "attica/solvers/statistics/extrapolation.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/core/random.hpp"
#include "attica/solvers/statistics/distributions.hpp"
#include "attica/solvers/statistics/replicates.hpp"
#include "solvers/statistics/reference.hpp"

using namespace attica;
using namespace attica::testing;
using Catch::WithinAbs;
using Catch::WithinRel;

namespace statistics_extrapolation_test {

std::vector<SizePoint> reference_points() {
  std::vector<SizePoint> points{{.size = 64, .sem = 0.004, .n = 20},
                                {.size = 128, .sem = 0.003, .n = 20},
                                {.size = 256, .sem = 0.002, .n = 16},
                                {.size = 512, .sem = 0.002, .n = 12}};
  for (SizePoint& p : points) p.difference = 0.01 + 2 / p.size + 0.003 * std::sin(p.size);
  return points;
}

TEST_CASE("fit_limit: reference values, both kinds of weights", "[solvers][extrapolation]") {
  const auto points = reference_points();
  for (double power : {1.0, 0.5}) {
    for (bool by_error : {false, true}) {
      std::vector<double> weights;
      for (const SizePoint& p : points)
        weights.push_back(by_error ? 1 / (p.sem * p.sem) : double(p.n));
      const LimitFit fit = fit_limit(points, power, weights);
      const auto expected = reference_values(
          "statistics")[std::string("extrapolate p=") + (power == 1 ? "1.0" : "0.5") +
                        " w=" + (by_error ? "1/sem^2" : "n")];
      auto check = [&](const char* key, double value, double digits = 1e-10) {
        CHECK_THAT(value, WithinRel(expected[key].get<double>(), digits));
      };
      check("a", fit.limit);
      check("b", fit.slope);
      check("se_a", fit.standard_error);
      check("df", fit.degrees_of_freedom);
      check("chi2", fit.lack_of_fit);
      check("p_two_sided",
            2 * student_tail(std::abs(fit.limit) / fit.standard_error, fit.degrees_of_freedom),
            1e-9);  // far tails of the library
    }
  }
}

TEST_CASE("fit_limit: exact law; a neglected term shifts the limit as stated",
          "[solvers][extrapolation]") {
  for (double power : {1.0, 0.5}) {
    auto points = reference_points();
    for (SizePoint& p : points) {
      p.difference = 0.3 - 4 * std::pow(p.size, -power);
      p.sem = 0.01;
      p.n = 10;
    }
    const std::vector<double> equal(4, 1.0);
    const LimitFit fit = fit_limit(points, power, equal);
    CHECK_THAT(fit.limit, WithinAbs(0.3, 1e-13));
    CHECK_THAT(fit.slope, WithinAbs(-4, 1e-11));
    CHECK_THAT(fit.lack_of_fit, WithinAbs(0, 1e-18));
    // Standard error over SEM on this grid: 0.86 and 1.41.
    CHECK_THAT(fit.standard_error / 0.01, WithinAbs(power == 1 ? 0.86 : 1.41, 0.005));
    for (SizePoint& p : points) p.difference += std::pow(p.size / 64, -2 * power);
    CHECK_THAT(fit_limit(points, power, equal).limit - 0.3,
               WithinAbs(power == 1 ? -0.21 : -0.41, 0.01));
  }
}

TEST_CASE("judge_limit: verdicts, lack of fit, too few replicates", "[solvers][extrapolation]") {
  const auto points = reference_points();
  CHECK(judge_limit(points, 1, 0.02).verdict == Verdict::agree);
  CHECK(judge_limit(points, 1, 0.01).verdict == Verdict::inconclusive);
  CHECK(judge_limit(points, 1, 0.001).verdict == Verdict::disagree);
  auto bent = points;
  bent[0].difference += 0.1;
  const LimitVerdict dropped = judge_limit(bent, 1, 0.03);
  CHECK(dropped.reason == "size 64 dropped for lack of fit");
  CHECK(dropped.verdict == Verdict::agree);
  bent[2].difference += 0.1;
  const LimitVerdict none = judge_limit(bent, 1, 0.03);
  CHECK(none.reason == "not in the scaling range");
  CHECK(none.verdict == Verdict::inconclusive);
  auto few = points;
  few[1].n = 5;
  CHECK(judge_limit(few, 1, 0.02).reason == "5 replicates, fewer than 8");
  CHECK_THROWS_AS(judge_limit({points[0], points[1]}, 1, 0.02), Error);
  CHECK_THROWS_AS(judge_limit(points, 1, 0), Error);
  CHECK_THROWS_AS(judge_limit({points[0], points[0], points[0]}, 1, 1), Error);
}

TEST_CASE("judge_limit: size of the disagreement test at limit 0", "[solvers][extrapolation]") {
  constexpr int trials = 3000;
  constexpr std::size_t n = 8;
  int rejected = 0;
  std::vector<double> d(n);
  RandomStream stream({.seed = 21, .id = StreamId::self_test});
  for (int i = 0; i < trials; ++i) {
    auto points = reference_points();
    for (SizePoint& p : points) {
      stream.fill_normal(d);
      const SampleSummary s = summarise(d);
      p.difference = s.mean / std::sqrt(p.size) + 3 / p.size;
      p.sem = s.sem / std::sqrt(p.size);
      p.n = n;
    }
    const LimitFit fit = fit_limit(points, 1, std::vector<double>(4, 1.0));
    rejected +=
        2 * student_tail(std::abs(fit.limit) / fit.standard_error, fit.degrees_of_freedom) <= 0.05;
  }
  // Measured 4.8-5.0 %; four standard errors.
  CHECK_THAT(rejected / double(trials), WithinAbs(0.05, 4 * std::sqrt(0.0475 / trials)));
}

}  // namespace statistics_extrapolation_test
