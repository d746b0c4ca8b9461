#include "attica/solvers/statistics/fractions.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/solvers/statistics/distributions.hpp"
#include "solvers/statistics/reference.hpp"

using namespace attica;
using namespace attica::testing;
using Catch::WithinAbs;
using Catch::WithinRel;

TEST_CASE("clopper_pearson and p-values: reference values", "[solvers][fractions]") {
  for (const auto row : reference_values("statistics")
           ["clopper_pearson 95% [k,n,lo,hi,midp two-sided vs 0.3, exact two-sided vs 0.3]"]) {
    const Count count{row[0].get<std::size_t>(), row[1].get<std::size_t>()};
    INFO(count.k << " of " << count.n);
    const Interval found = clopper_pearson(count, 0.025);
    CHECK_THAT(found.low, WithinAbs(row[2].get<double>(), 1e-12));
    CHECK_THAT(found.high, WithinAbs(row[3].get<double>(), 1e-12));
    // Tails down to 1e-62; sums of rounded probabilities in the reference.
    CHECK_THAT(fraction_mid_p_value(count, 0.3), WithinRel(row[4].get<double>(), 1e-10));
    CHECK_THAT(fraction_p_value(count, 0.3), WithinRel(row[5].get<double>(), 1e-10));
  }
}

TEST_CASE("difference_interval: reference values", "[solvers][fractions]") {
  for (const auto row :
       reference_values("statistics")["diff_proportions 90% [k1,n1,k2,n2,lo,hi]"]) {
    const Interval found =
        difference_interval({row[0].get<std::size_t>(), row[1].get<std::size_t>()},
                            {row[2].get<std::size_t>(), row[3].get<std::size_t>()},
                            0.05);
    CHECK_THAT(found.low, WithinAbs(row[4].get<double>(), 1e-12));
    CHECK_THAT(found.high, WithinAbs(row[5].get<double>(), 1e-12));
  }
}

TEST_CASE("fraction_agree_p_value: small exactly when the 90 % interval is inside the margin",
          "[solvers][fractions]") {
  for (std::size_t k = 0; k <= 60; ++k) {
    const Interval i = clopper_pearson({k, 60}, 0.05);
    for (double pi : {0.0, 0.1, 0.5, 1.0}) {
      for (double margin : {0.05, 0.15, 0.3}) {
        const bool inside = i.low > pi - margin && i.high < pi + margin;
        // Touching 0 or 1 is no error: no probability lies beyond.
        const bool edge = (k == 0 && pi - margin <= 0 && i.high < pi + margin) ||
                          (k == 60 && pi + margin >= 1 && i.low > pi - margin);
        CHECK((fraction_agree_p_value({k, 60}, pi, margin) <= 0.05) == (inside || edge));
      }
    }
  }
}

TEST_CASE("fraction tests: exact sizes by enumeration stay below 5 %", "[solvers][fractions]") {
  double mid_p_size = 0;
  for (std::size_t n : {20, 50, 101}) {
    for (double truth = 0.02; truth < 1; truth += 0.02) {
      double disagree = 0, agree = 0, exact = 0, mid_p = 0;
      for (std::size_t k = 0; k <= n; ++k) {
        const double p = binomial_probability(k, truth, n);
        const Count count{k, n};
        if (fraction_p_value(count, truth) <= 0.05) exact += p;
        if (fraction_mid_p_value(count, truth) <= 0.05) mid_p += p;
        if (truth >= 0.1 && fraction_disagree_p_value(count, truth - 0.1, 0.1) <= 0.05)
          disagree += p;
        if (truth >= 0.1 && fraction_agree_p_value(count, truth - 0.1, 0.1) <= 0.05) agree += p;
      }
      // Touching the margin in the last digit (truth - 0.1 + 0.1) can move no more than rounding.
      CHECK(exact <= 0.05);
      CHECK(disagree <= 0.05);
      CHECK(agree <= 0.05 + 1e-9);
      mid_p_size = std::max(mid_p_size, mid_p);
    }
  }
  CHECK(mid_p_size > 0.05);
  CHECK(mid_p_size < 0.08);  // 7.4 % at n = 20
}

TEST_CASE("mid_p_interval: its ends have mid-p tails alpha, inside the exact interval",
          "[solvers][fractions]") {
  const Count count{7, 50};
  const Interval mid = mid_p_interval(count, 0.025);
  CHECK(clopper_pearson(count, 0.025).contains(mid));
  CHECK_THAT(fraction_mid_p_value(count, mid.low), WithinAbs(0.05, 1e-9));
  CHECK_THAT(fraction_mid_p_value(count, mid.high), WithinAbs(0.05, 1e-9));
  CHECK(mid_p_interval({0, 5}, 0.025).low == 0);
  CHECK(mid_p_interval({5, 5}, 0.025).high == 1);
}

TEST_CASE("fraction_agree_power: replicates for 90 %", "[solvers][fractions]") {
  // Known to about 2 %, the power being a saw-tooth: 290, 70, 113 and 430 replicates.
  struct Row {
    double pi, margin;
    double n;
  };
  for (const auto& [pi, margin, n] :
       {Row{0.5, 0.1, 290}, Row{0.5, 0.2, 70}, Row{0.9, 0.1, 113}, Row{0.1, 0.05, 430}}) {
    INFO(pi << " " << margin);
    CHECK(fraction_agree_power(std::size_t(1.05 * n), pi, margin) > 0.9);
    CHECK(fraction_agree_power(std::size_t(0.9 * n), pi, margin) < 0.9);
  }
}

TEST_CASE("judge_collapse: verdicts, small bins left out", "[solvers][fractions]") {
  using Table = std::vector<std::vector<Count>>;
  CHECK(judge_collapse(Table{{{500, 1000}, {2, 3}}, {{510, 1000}, {0, 2}}}, 0.1).verdict ==
        Verdict::agree);
  CHECK(judge_collapse(Table{{{500, 1000}, {2, 3}}, {{510, 1000}, {0, 2}}}, 0.1).cells.size() == 2);
  CHECK(judge_collapse(Table{{{300, 1000}}, {{510, 1000}}}, 0.1).verdict == Verdict::disagree);
  CHECK(judge_collapse(Table{{{15, 30}}, {{16, 30}}}, 0.1).verdict == Verdict::inconclusive);
  CHECK(judge_collapse(Table{{{1, 10}}, {{9, 10}}}, 0.1).verdict == Verdict::none);
  CHECK_THROWS_AS(judge_collapse(Table{{{1, 10}}, {}}, 0.1), Error);
  CHECK_THROWS_AS(clopper_pearson({3, 2}, 0.05), Error);
}
