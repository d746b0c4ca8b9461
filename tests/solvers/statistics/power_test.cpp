#include "attica/solvers/statistics/power.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "attica/core/random.hpp"
#include "attica/solvers/statistics/distributions.hpp"
#include "solvers/statistics/reference.hpp"

using namespace attica;
using namespace attica::testing;
using Catch::WithinAbs;

TEST_CASE("agree_power: reference values", "[solvers][power]") {
  for (const auto row : reference_values("statistics")["tost_power [n,m,delta,sigma,power]"]) {
    const PowerProblem problem{.margin = row[1], .delta = row[2], .sigma = row[3]};
    // Both sides cut 1e-15 of the distribution; quadrature is converged to that.
    CHECK_THAT(agree_power(row[0].get<std::size_t>(), problem),
               WithinAbs(row[4].get<double>(), 1e-10));
  }
}

TEST_CASE("disagree_power: is the level at margin 0 and difference 0", "[solvers][power]") {
  // Plain two-sided t test: exact size alpha / P.
  for (std::size_t n : {8, 50, 5000}) {
    for (std::size_t family : {1, 24}) {
      CHECK_THAT(disagree_power(n, {.margin = 0, .delta = 0, .sigma = 3}, family),
                 WithinAbs(0.05 / static_cast<double>(family), 1e-10));
    }
  }
}

TEST_CASE("powers: agree with sampling", "[solvers][power]") {
  constexpr std::size_t n = 12;
  constexpr int trials = 4000;
  const PowerProblem problem{.margin = 1, .delta = 0.4, .sigma = 1.2};
  const PowerProblem far{.margin = 0.2, .delta = -1.4, .sigma = 1.2};
  RandomStream stream({.seed = 1, .id = StreamId::self_test});
  std::vector<double> e(n);
  int agree = 0, disagree = 0;
  for (int i = 0; i < trials; ++i) {
    stream.fill_normal(e);
    for (double& v : e) v *= problem.sigma;
    const SampleSummary s = summarise(e);
    agree += half_width(s, Side::upper, 0.05, Tails::normal) <
             problem.margin - std::abs(s.mean + problem.delta);
    disagree += half_width(s, Side::upper, 0.025 / 4, Tails::normal) <
                std::abs(s.mean + far.delta) - far.margin;
  }
  for (auto [count, power] : {std::pair(agree, agree_power(n, problem)),
                              std::pair(disagree, disagree_power(n, far, 4))}) {
    CHECK(power > 0.2);
    CHECK(power < 0.95);
    const double five_sigma = 5 * std::sqrt(power * (1 - power) / trials);
    CHECK_THAT(count / double(trials), WithinAbs(power, five_sigma));
  }
}

TEST_CASE("agree_power: tends to the known-variance power as n grows", "[solvers][power]") {
  // sqrt(n)(m -+ delta)/sigma - z; the t quantile differs by O(1/n).
  constexpr std::size_t n = 1'000'000;
  const double root = 1000;
  const PowerProblem problem{.margin = 3 / root, .delta = 0.7 / root, .sigma = 1};
  const double z = normal_quantile(0.05);
  CHECK_THAT(agree_power(n, problem),
             WithinAbs(1 - normal_tail(2.3 - z) - normal_tail(3.7 - z), 1e-5));
}

TEST_CASE("detectable_gap: is found with the power asked for, the guard widens it",
          "[solvers][power]") {
  PowerProblem problem{.margin = 0.3, .sigma = 2};
  const double gap = detectable_gap(40, problem, 24, 0.9);
  problem.delta = -gap;
  CHECK_THAT(disagree_power(40, problem, 24), WithinAbs(0.9, 1e-3));  // gap is found to 1e-4
  problem.guard = {.upper = 2, .lower = 1};
  CHECK(detectable_gap(40, problem, 24, 0.9) > gap);
  // In whatever unit: the smallest numbers are few, and the search has an end among them.
  for (const double unit : {1e-300, 1e-318, 1e-322}) {
    INFO(unit);
    const double small = detectable_gap(40, {.margin = 0.3 * unit, .sigma = 2 * unit}, 24, 0.9);
    CHECK_THAT(small, WithinAbs(gap * unit, 2e-4 * gap * unit + 1e-322));
  }
}

TEST_CASE("least_replicates: exact on a step, none if never reached", "[solvers][power]") {
  for (std::size_t step : {8, 9, 1000, 12345}) {
    CHECK(least_replicates([&](std::size_t n) { return n >= step ? 1.0 : 0.0; }, 0.9, 8) == step);
  }
  CHECK_FALSE(least_replicates([](std::size_t) { return 0.5; }, 0.9, 2));
}
