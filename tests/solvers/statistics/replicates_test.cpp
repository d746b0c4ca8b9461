#include "attica/solvers/statistics/replicates.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/core/random.hpp"
#include "solvers/statistics/reference.hpp"

using namespace attica;
using namespace attica::testing;
using Catch::WithinAbs;
using Catch::WithinRel;

namespace statistics_replicates_test {

// Quantiles of GSL are good to 3e-11, its far tails (p = 1e-12) to 1.2e-9.
constexpr double kLibraries = 3e-9;

void check_interval(const Interval& found, Reference expected) {
  CHECK_THAT(found.low, WithinRel(expected[0].get<double>(), kLibraries));
  CHECK_THAT(found.high, WithinRel(expected[1].get<double>(), kLibraries));
}

TEST_CASE("summarise and intervals: reference values", "[solvers][replicates]") {
  for (const auto& [name, point] : reference_values("statistics")["point"].items()) {
    INFO(name);
    const auto expected = point;
    const SampleSummary s = summarise(reference_sample(name));
    auto check = [&](const char* key, double value) {
      CHECK_THAT(value, WithinAbs(expected[key].get<double>(), 1e-13));
    };
    check("mean", s.mean);
    check("sd", s.sd);
    check("sem", s.sem);
    check("skewness", s.skewness);
    const GuardScale scale = guard_scale(s, Tails::guarded, s.n);
    check("weight+", scale.upper / (s.max - s.mean));
    check("weight-", scale.lower / (s.mean - s.min));
    check_interval(mean_interval(s, 0.05, Tails::normal), expected["t90"]);
    check_interval(mean_interval(s, 0.05, Tails::guarded), expected["guarded90"]);
  }
}

TEST_CASE("agree and disagree p-values: reference values", "[solvers][replicates]") {
  int compared = 0;
  for (const auto& [name, expected] : reference_values("statistics")["point"].items()) {
    for (const std::string margin : {"0.0", "0.05", "0.2", "0.5"}) {
      for (const std::string shift : {"0.0", "0.8"}) {
        std::vector<double> d = reference_sample(name);
        for (double& value : d) value += std::stod(shift);
        const SampleSummary s = summarise(d);
        for (Tails tails : {Tails::normal, Tails::guarded}) {
          const char* word = tails == Tails::normal ? "normal" : "guarded";
          const std::string key = "m=" + margin + " shift=" + shift + " [agree,disagree] " + word;
          INFO(name << " " << key);
          CHECK_THAT(agree_p_value(s, s.mean, std::stod(margin), tails),
                     WithinRel(expected.at(key)[0].get<double>(), kLibraries));
          CHECK_THAT(disagree_p_value(s, s.mean, std::stod(margin), tails),
                     WithinRel(expected.at(key)[1].get<double>(), kLibraries));
          ++compared;
        }
      }
    }
  }
  CHECK(compared == 128);
}

TEST_CASE("summarise: failures, single and identical replicates", "[solvers][replicates]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const SampleSummary s = summarise(std::vector<double>{1, nan, 3, 1e200, INFINITY});
  CHECK(s.n == 2);
  CHECK(s.failed == 3);
  CHECK(s.mean == 2);
  CHECK(s.sd == Approx(std::sqrt(2.0)));
  CHECK(summarise({}).n == 0);
  const SampleSummary one = summarise(std::vector<double>{4});
  CHECK((one.mean == 4 && one.sd == 0 && one.identical()));
  const SampleSummary same = summarise(std::vector<double>(9, 0.1));
  CHECK((same.mean == 0.1 && same.sd == 0 && same.identical()));
  CHECK(summarise(std::vector<double>{1, 1 + 1e-15, 1, 1}).identical());
  CHECK_FALSE(summarise(std::vector<double>{1, 1 + 1e-13, 1, 1}).identical());
  CHECK(summarise(std::vector<double>{0, 0}).identical());
}

TEST_CASE("p-values: unchanged by shift and scale, mirrored by a change of sign",
          "[solvers][replicates]") {
  const std::vector<double> d = reference_sample("skw(40)");
  const SampleSummary s = summarise(d);
  std::vector<double> other(d.size());
  for (double scale : {1e-6, 1.0, 1e8, -3.0}) {
    for (std::size_t r = 0; r < d.size(); ++r) other[r] = scale * d[r] + 7 * scale;
    const SampleSummary o = summarise(other);
    for (double margin : {0.05, 0.5}) {
      for (Tails tails : {Tails::normal, Tails::guarded}) {
        const double m = std::abs(scale) * margin;
        const double difference = o.mean - 7 * scale;
        // Rounding of the shifted data, amplified at most by the slope of ln p.
        CHECK_THAT(agree_p_value(o, difference, m, tails),
                   WithinRel(agree_p_value(s, s.mean, margin, tails), 1e-10));
        CHECK_THAT(disagree_p_value(o, difference, m, tails),
                   WithinRel(disagree_p_value(s, s.mean, margin, tails), 1e-10));
      }
    }
  }
}

TEST_CASE("p_value: inverts half_width, falls with the gap, and the guard only widens",
          "[solvers][replicates]") {
  for (const char* name : {"sym(8)", "sym(40)", "skw(20)", "skw(60)"}) {
    const SampleSummary s = summarise(reference_sample(name));
    for (Side side : {Side::lower, Side::upper}) {
      for (Tails tails : {Tails::normal, Tails::guarded}) {
        double wider = INFINITY;
        for (double alpha : {1e-12, 1e-6, 1e-3, 0.025, 0.3}) {
          const double h = half_width(s, side, alpha, tails);
          CHECK(h < wider);
          wider = h;
          CHECK_THAT(p_value(s, side, h, tails), WithinRel(alpha, 1e-9));
          CHECK(h >= half_width(s, side, alpha, Tails::normal));
        }
      }
      CHECK(p_value(s, side, -1, Tails::guarded) == 1);
      CHECK(p_value(s, side, 1e6, Tails::guarded) == kSmallestPValue);
      CHECK(p_value(s, side, 1e6, Tails::normal) <= 1e-7);
    }
  }
}

TEST_CASE("critical_value: one replicate has no interval", "[solvers][replicates]") {
  CHECK_THROWS_AS(critical_value(1, 0.05), Error);
}

}  // namespace statistics_replicates_test
