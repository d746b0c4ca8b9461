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
  CHECK(summarise(std::vector<double>{}).n == 0);
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

/// Moments of a sample whose skewness alone counts.
SampleSummary of_skewness(double skewness, std::size_t n) {
  return {.n = n, .mean = 1, .sd = 1, .sem = 0.1, .skewness = skewness, .min = -1, .max = 5};
}

std::vector<SampleSummary> pooled(const std::vector<std::pair<double, std::size_t>>& points) {
  std::vector<SampleSummary> all;
  for (const auto& [skewness, n] : points) all.push_back(of_skewness(skewness, n));
  std::vector<SampleSummary*> series;
  for (SampleSummary& s : all) series.push_back(&s);
  pool_skewness(series);
  return all;
}

TEST_CASE("pool_skewness: values of an independent computation", "[solvers][replicates]") {
  struct Known {
    std::vector<std::pair<double, std::size_t>> points;
    std::vector<double> upper, lower;
  };
  for (const Known& known :
       {Known{{{0.1, 60}, {-0.2, 60}, {0.3, 60}, {0.05, 60}},
              {0.071834896802, 0.0625, 0.121621013076, 0.0625},
              {-0.0625, 0.002844277611, -0.0625, -0.059388367733}},
        Known{{{0.1, 60}, {-0.2, 60}, {0.3, 60}, {2.0, 60}},
              {0.55, 0.55, 0.55, 2.0},
              {-0.114635279734, 0.175607867111, -0.308130710963, -1.228265215213}},
        Known{{{0.1, 30}, {-0.2, 30}, {0.3, 30}, {-0.9, 30}},
              {0.039437815863, -0.175, 0.195392591036, -0.175},
              {0.175, 0.194494346897, 0.175, 0.740336060003}},
        Known{
            {{0.1, 20}, {-0.2, 20}, {0.9, 24}, {0.2, 40}, {0.4, 60}},
            {0.314634146341, 0.314634146341, 0.495246341272, 0.314634146341, 0.340973424769},
            {-0.248409674867, -0.155845924965, -0.314634146341, -0.279264258168, -0.314634146341}},
        // So many replicates know that the first points are not as skewed as the last.
        Known{{{0.0, 1000}, {0.1, 1000}, {0.4, 1000}, {2.0, 1000}},
              {0.193359539049, 0.293359539049, 0.593359539049, 2.0},
              {0, -0.1, -0.4, -1.806640460951}}}) {
    const std::vector<SampleSummary> found = pooled(known.points);
    for (std::size_t k = 0; k < found.size(); ++k) {
      INFO(k);
      REQUIRE(found[k].pooled);
      CHECK_THAT(found[k].pooled->upper, WithinAbs(known.upper[k], 1e-11));
      CHECK_THAT(found[k].pooled->lower, WithinAbs(known.lower[k], 1e-11));
    }
  }
}

TEST_CASE("pool_skewness: few points, few or identical replicates, and the weights",
          "[solvers][replicates]") {
  CHECK_FALSE(pooled({{0.1, 60}, {0.2, 60}, {0.3, 60}})[0].pooled);
  const auto few = pooled({{0.1, 60}, {0.2, 60}, {0.3, 60}, {0.4, 19}});
  CHECK_FALSE(few[0].pooled);
  const auto mixed = pooled({{0.1, 60}, {0.2, 60}, {0.3, 60}, {0.4, 60}, {0.4, 19}});
  CHECK(mixed[0].pooled);
  CHECK_FALSE(mixed[4].pooled);
  // w = min(1, w_0 + (s/0.7)^2), w_0 = 0.03 for 20 to 39 replicates; all of the reach below 20.
  const auto weight = [](const SampleSummary& s, std::size_t n) {
    return guard_scale(s, Tails::guarded, n).upper / (s.max - s.mean);
  };
  const auto alike = pooled({{0.14, 30}, {0.14, 30}, {0.14, 30}, {0.14, 30}});
  CHECK_THAT(weight(alike[0], 30), WithinAbs(0.07, 1e-12));
  CHECK_THAT(weight(alike[0], 20), WithinAbs(0.07, 1e-12));
  CHECK_THAT(weight(alike[0], 40), WithinAbs(0.04, 1e-12));
  CHECK(weight(alike[0], 19) == 1);
  CHECK_THAT(guard_scale(alike[0], Tails::guarded, 30).lower, WithinAbs(0.06, 1e-12));
  CHECK(weight(of_skewness(0.14, 29), 29) == 1);  // alone
  // Fewer than 20 replicates everywhere: pooled for plans, and not for the verdict.
  const auto plan = pooled({{0.14, 12}, {0.14, 12}, {0.14, 12}, {0.14, 12}});
  CHECK(weight(plan[0], 12) == 1);
  CHECK(weight(plan[0], 20) < 0.1);
}

TEST_CASE("Welch: the difference of two means", "[solvers][replicates]") {
  // n = 15 and 10, s^2/n of 4/15 and 9/10: t and its degrees of freedom by hand.
  SampleSummary s{.n = 15, .mean = 1, .sd = 2, .sem = std::sqrt(4.0 / 15)};
  s.other = OtherSide{.n = 10, .sem = std::sqrt(0.9)};
  const double a = 4.0 / 15, b = 0.9;
  CHECK_THAT(s.standard_error(), WithinRel(std::sqrt(a + b), 1e-14));
  CHECK_THAT(s.degrees_of_freedom(),
             WithinRel((a + b) * (a + b) / (a * a / 14 + b * b / 9), 1e-14));
  const double h = half_width(s, Side::upper, 0.05, Tails::normal);
  CHECK_THAT(p_value(s, Side::upper, h, Tails::normal), WithinRel(0.05, 1e-9));
  CHECK(h > half_width(
                SampleSummary{.n = 15, .sd = 2, .sem = s.sem}, Side::upper, 0.05, Tails::normal));
  // A long upper tail on the other side widens the lower bound of the difference alone.
  SampleSummary guarded = s;
  guarded.other->guard = {.upper = 2, .lower = 0};
  CHECK(half_width(guarded, Side::lower, 0.05, Tails::guarded) >
        half_width(s, Side::lower, 0.05, Tails::guarded));
  CHECK(half_width(guarded, Side::upper, 0.05, Tails::guarded) ==
        half_width(s, Side::upper, 0.05, Tails::guarded));
  // Without scatter on the other side it is Student's t.
  s.other->sem = 0;
  CHECK_THAT(s.degrees_of_freedom(), WithinRel(14.0, 1e-14));
}

TEST_CASE("critical_value: one replicate has no interval", "[solvers][replicates]") {
  CHECK_THROWS_AS(critical_value(1, 0.05), Error);
}

}  // namespace statistics_replicates_test
