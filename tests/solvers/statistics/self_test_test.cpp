#include "attica/solvers/statistics/self_test.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <string>

#include "attica/core/error.hpp"
#include "attica/solvers/statistics/agreement.hpp"
#include "attica/solvers/statistics/distributions.hpp"
#include "attica/solvers/statistics/self_test_levels.hpp"
#include "solvers/statistics/reference.hpp"

using namespace attica;
using namespace attica::testing;
using Catch::WithinAbs;

namespace statistics_self_test_test {

double rate(const SelfTest& test,
            const std::string& family,
            const std::string& planted,
            const std::string& what = "") {
  for (const SelfTestRow& r : test.rows) {
    if (r.family == family && r.perturbed == planted && (what.empty() || r.rate == what)) {
      return r.count.fraction();
    }
  }
  FAIL(family << ", " << planted << " not measured");
  return 0;
}

TEST_CASE("self_test: the number of runs gives the stated precision", "[solvers][self_test]") {
  // Widest distance from rate to 95 % limit when the rate is observed.
  for (const auto row : reference_values(
           "statistics")["selftest_R [rate, half width, R (first on a 1% grid, exact CP)]"]) {
    const auto runs = row[2].get<std::size_t>();
    const auto k =
        static_cast<std::size_t>(std::lround(row[0].get<double>() * static_cast<double>(runs)));
    CHECK(clopper_pearson({k, runs}, 0.025).width() / 2 <= row[1].get<double>() * 1.001);
  }
}

TEST_CASE("self_test: normal tails keep their promises on normal data", "[solvers][self_test]") {
  const SelfTest test = self_test(
      {.points = 8, .replicates = 20, .margin = 0.7, .tails = Tails::normal, .runs = 600});
  CHECK(test.rows.size() == 7);
  CHECK(test.pass);
  CHECK(test.warning.empty());
  // The levels are exact here: 5 % (1 - Phi at the far side), 90 %. Four standard errors of 4800
  // points, of 600 runs.
  CHECK_THAT(rate(test, "normal", "every point at +margin"),
             WithinAbs(0.05, 4 * std::sqrt(0.0475 / 4800)));
  CHECK_THAT(rate(test, "normal", "one point at the detectable gap"),
             WithinAbs(0.9, 4 * std::sqrt(0.09 / 600)));
}

TEST_CASE("self_test: the guard holds on heavy tails where Student's t errs",
          "[solvers][self_test]") {
  const SelfTestOptions guarded{.points = 8, .replicates = 30, .margin = 0.7, .runs = 300};
  const SelfTest test = self_test(guarded);
  CHECK(test.rows.size() == 24);
  CHECK(test.pass);
  SelfTestOptions plain = guarded;
  plain.tails = Tails::normal;
  plain.skewness = 2;
  const SelfTest wrong = self_test(plain);
  CHECK(wrong.rows.size() == 19);
  CHECK_FALSE(wrong.warning.empty());
  CHECK(wrong.pass);  // the lognormal rows are shown, not promised
  CHECK(rate(wrong, "lognormal 1", "every point at +margin") > 0.1);
  CHECK(rate(test, "lognormal 1", "every point at +margin") < 0.05);
}

TEST_CASE("self_test: passes where the levels are exact and leave no slack",
          "[solvers][self_test]") {
  const SelfTest test = self_test(
      {.points = 2, .replicates = 8, .margin = 1e-6, .tails = Tails::normal, .runs = 2000});
  CHECK(test.pass);
  CHECK_THAT(rate(test, "normal", "no difference"),
             WithinAbs(1 - 0.975 * 0.975, 4 * std::sqrt(0.0475 / 2000)));
}

TEST_CASE("self_test: many points at the margin are no more often rejected than one",
          "[solvers][self_test]") {
  const SelfTest test = self_test(
      {.points = 20, .replicates = 20, .margin = 0.7, .tails = Tails::normal, .runs = 1000});
  CHECK(test.pass);
  // One side of each of 20 points at 0.05/20 of two sides: without the correction it were 0.4.
  CHECK_THAT(rate(test, "normal", "all points at +margin"),
             WithinAbs(0.025, 4 * std::sqrt(0.025 / 1000)));
}

TEST_CASE("self_test: claims at their bounds err as often as they may", "[solvers][self_test]") {
  const SelfTest test = self_test({.points = 0, .claims = 3, .replicates = 14, .runs = 1000});
  CHECK(test.pass);
  CHECK(test.rows.size() == 20);
  // Of 14 runs all must hold to show 0.8: 0.8^14; four standard errors of 3000 claims.
  const double all_hold = std::pow(0.8, 14);
  CHECK_THAT(rate(test, "share 0.8", "every share at its bound", "false AGREE of a claim"),
             WithinAbs(all_hold, 4 * std::sqrt(all_hold / 3000)));
  // The guard leaves normal means of 100 replicates four fifths of their 5 %; of 14, nothing.
  const SelfTest more = self_test({.points = 0, .claims = 3, .replicates = 100, .runs = 1000});
  CHECK(more.pass);
  for (const char* side : {"every mean at its lower bound", "every mean at its upper bound"}) {
    CHECK_THAT(rate(more, "normal", side, "false AGREE of a claim"),
               WithinAbs(0.04, 4 * std::sqrt(0.04 / 3000)));
    CHECK(rate(more, "normal", side, "false DISAGREE of a run") > 0.01);
    CHECK(rate(test, "normal", side, "false AGREE of a claim") == 0);
  }
  // Few runs show shares alone.
  CHECK(self_test({.points = 0, .claims = 1, .replicates = 5, .runs = 20}).rows.size() == 4);
}

TEST_CASE("self_test: repeatable, seeds differ, bad options refused", "[solvers][self_test]") {
  const SelfTestOptions options{.points = 2, .replicates = 8, .tails = Tails::normal, .runs = 50};
  auto count = [](SelfTestOptions o, std::uint64_t seed) {
    o.seed = seed;
    return self_test(o).rows.back().count.k;
  };
  CHECK(count(options, 1) == count(options, 1));
  CHECK(count(options, 1) != count(options, 2));
  CHECK_THROWS_AS(self_test({.replicates = 7}), Error);
  CHECK_THROWS_AS(self_test({.margin = 0}), Error);
  CHECK_THROWS_AS(self_test({.points = 0}), Error);
}

TEST_CASE("self_test_levels: exact levels, and what they notice", "[solvers][self_test]") {
  const std::vector<SelfTestRow> rows = self_test_levels(1);
  REQUIRE(rows.size() == 4);
  for (const SelfTestRow& row : rows) {
    INFO(row.perturbed);
    CHECK(row.pass);
    CHECK(row.stated == 0.05);
  }
  // Of 8 normal replicates a variance with divisor n, n degrees of freedom and a p-value of one
  // side disagree as often as this, which the limits of 5 % leave out.
  const double t = student_quantile(0.025, 7);
  for (const double wrong : {2 * student_tail(t * std::sqrt(7.0 / 8), 7),
                             2 * student_tail(student_quantile(0.025, 8), 7),
                             2 * student_tail(student_quantile(0.05, 7), 7)}) {
    CHECK(wrong > rows[0].limits.high);
    const auto k = static_cast<std::size_t>(wrong * kLevelRuns);
    CHECK(clopper_pearson({k, kLevelRuns}, kLevelLimit).low > 0.05);
  }
}

TEST_CASE("self_test: guarded rates of long runs", "[solvers][self_test][slow]") {
  // Known from an independent simulation with 24 points: (family, n, false AGREE %, false DISAGREE
  // %), to 0.4 and 0.8.
  struct Known {
    std::string family;
    std::size_t n;
    double agree, disagree;
  };
  std::map<std::size_t, std::pair<SelfTest, SelfTest>> tests;
  for (const auto& [family, n, agree, disagree] : {Known{"normal", 50, 4.7, 4.3},
                                                   Known{"lognormal 0.5", 50, 3.0, 0.2},
                                                   Known{"lognormal 1", 200, 2.3, 0.0},
                                                   Known{"inverse gamma 1.5", 50, 1.6, 0.8}}) {
    INFO(family);
    // A wide margin: only one of the two tests for agreement can err. The worse side counts.
    if (tests.count(n) == 0) {
      tests[n] = {self_test({.replicates = n, .margin = 20}),
                  self_test({.replicates = n, .margin = 1e-9})};
    }
    const auto& [wide, zero] = tests.at(n);
    const double worse = std::max(rate(wide, family, "every point at +margin"),
                                  rate(wide, family, "every point at -margin"));
    CHECK_THAT(100 * worse, WithinAbs(agree, 0.4));
    CHECK_THAT(100 * rate(zero, family, "no difference"), WithinAbs(disagree, 1.2));
  }
}

}  // namespace statistics_self_test_test
