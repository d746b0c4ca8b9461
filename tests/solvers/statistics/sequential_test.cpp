#include "attica/solvers/statistics/sequential.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/core/random.hpp"
#include "attica/solvers/statistics/distributions.hpp"
#include "solvers/statistics/reference.hpp"

using namespace attica;
using namespace attica::testing;
using Catch::WithinAbs;
using Catch::WithinRel;

namespace statistics_sequential_test {

ComparedPoint normal_point(std::uint64_t seed, std::size_t n, double mean, double margin) {
  ComparedPoint p{.theory = 0.0,
                  .replicates = std::vector<double>(n),
                  .margin = {.absolute = margin},
                  .tails = Tails::normal};
  RandomStream({.seed = seed, .id = StreamId::self_test}).fill_normal(p.replicates);
  for (double& y : p.replicates) y += mean;
  return p;
}

ComparedPoint first(ComparedPoint p, std::size_t n) {
  p.replicates.resize(n);
  return p;
}

TEST_CASE("group_sequential_boundaries: reference values", "[solvers][sequential]") {
  for (const auto row : reference_values(
           "statistics")["group_sequential pocock-type, 5 equal looks [alpha one-sided, "
                         "z1..z5, nominal one-sided levels]"]) {
    const auto z = group_sequential_boundaries(row[0], 5);
    for (std::size_t k = 0; k < 5; ++k) {
      CHECK_THAT(z[k], WithinAbs(row[1 + k].get<double>(), 1e-8));  // the references' own accuracy
      CHECK_THAT(normal_tail(z[k]), WithinRel(row[6 + k].get<double>(), 1e-6));
    }
  }
  CHECK_THAT(group_sequential_boundaries(0.05, 1)[0], WithinAbs(normal_quantile(0.05), 1e-12));
  CHECK_THROWS_AS(group_sequential_boundaries(0.7, 5), Error);
}

TEST_CASE("group_sequential_boundaries: crossed with the level spent", "[solvers][sequential]") {
  const auto z = group_sequential_boundaries(0.05, 3);
  RandomStream stream({.seed = 6});
  constexpr int trials = 40000;
  int crossed = 0;
  for (int i = 0; i < trials; ++i) {
    double sum = 0;
    bool out = false;
    for (std::size_t k = 0; k < 3; ++k) {
      sum += stream.normal();
      out |= sum / std::sqrt(double(k + 1)) > z[k];
    }
    crossed += out;
  }
  CHECK_THAT(crossed / double(trials), WithinAbs(0.05, 4 * std::sqrt(0.0475 / trials)));
}

TEST_CASE("confidence_sequence_radius: reference values", "[solvers][sequential]") {
  for (const auto row :
       reference_values("statistics")["acs [alpha two-sided, t*, rho^2, t, radius/sigma "
                                      "two-sided, radius/sigma one-sided at alpha/2]"]) {
    const auto tight = row[1].get<std::size_t>();
    const auto n = row[3].get<std::size_t>();
    CHECK_THAT(confidence_sequence_radius(row[0], n, tight, Sided::two),
               WithinRel(row[4].get<double>(), 1e-12));
    CHECK_THAT(confidence_sequence_radius(row[0], n, tight, Sided::one),
               WithinRel(row[5].get<double>(), 1e-12));
  }
}

TEST_CASE("GroupSequentialRule: looks and their count", "[solvers][sequential]") {
  CHECK(GroupSequentialRule(400, 1).replicates() ==
        std::vector<std::size_t>{80, 160, 240, 320, 400});
  CHECK(GroupSequentialRule(70, 1).replicates() == std::vector<std::size_t>{35, 70});
  CHECK(GroupSequentialRule(30, 1).replicates() == std::vector<std::size_t>{30});
  // A single look is the fixed-sample test; earlier looks cost something.
  CHECK_THAT(GroupSequentialRule(30, 4).levels(0).agree.critical.t,
             WithinRel(critical_value(30, 0.05).t, 1e-9));
  CHECK_THAT(GroupSequentialRule(30, 4).levels(0).disagree.critical.t,
             WithinRel(critical_value(30, 0.025 / 4).t, 1e-9));
  CHECK(GroupSequentialRule(400, 1).levels(4).agree.critical.t > critical_value(400, 0.05).t);
  CHECK_THROWS_AS(GroupSequentialRule(29, 1), Error);
}

TEST_CASE("judge_look: decided points stay decided; the run follows", "[solvers][sequential]") {
  const GroupSequentialRule rule(400, 3);
  std::vector<ComparedPoint> all{
      normal_point(1, 400, 0, 1), normal_point(2, 400, 0.1, 0.3), normal_point(3, 400, 3, 0.5)};
  const std::vector early{first(all[0], 80), first(all[1], 80)};
  const RunVerdict one = judge_look(early, rule.levels(0), {});
  CHECK(one.points[0].verdict == Verdict::agree);
  CHECK(one.points[1].verdict == Verdict::inconclusive);
  CHECK(one.verdict == Verdict::inconclusive);
  // The frozen point's later replicates do not matter.
  all[0].replicates.assign(400, 1e3);
  const RunVerdict last = judge_look(std::span(all).first(2), rule.levels(4), one);
  CHECK(last.points[0].verdict == Verdict::agree);
  CHECK(last.points[1].verdict == Verdict::agree);
  CHECK(last.verdict == Verdict::agree);
  CHECK(judge_look(all, rule.levels(4), {}).verdict == Verdict::disagree);
}

TEST_CASE("judge_look: success fractions by exact intervals at the look's level",
          "[solvers][sequential]") {
  ComparedPoint p{
      .theory = 0.5, .replicates = std::vector<double>(200, 0), .margin = {.absolute = 0.2}};
  for (std::size_t r = 0; r < 200; r += 2) p.replicates[r] = 1;
  p.success_fraction = true;
  const GroupSequentialRule rule(200, 1);
  const RunVerdict look = judge_look(std::vector{first(p, 80)}, rule.levels(1), {});
  CHECK(look.verdict == Verdict::agree);
  CHECK(look.points[0].interval->width() >
        judge(std::vector{first(p, 80)}).points[0].interval->width());
  p.theory = 0.95;
  CHECK(judge_look(std::vector{first(p, 80)}, rule.levels(1), {}).verdict == Verdict::disagree);
}

TEST_CASE("stopping rules: rates of error at the margin", "[solvers][sequential]") {
  constexpr int trials = 150;
  constexpr double margin = 0.4;
  const GroupSequentialRule rule(150, 1);
  int agree = 0, disagree = 0, sequence_agree = 0;
  for (int i = 0; i < trials; ++i) {
    const ComparedPoint p = normal_point(100 + std::uint64_t(i), 150, margin, margin);
    RunVerdict run, sequence;
    for (std::size_t k = 0; k < 5; ++k) {
      const std::size_t n = rule.replicates()[k];
      const std::vector points{first(p, n)};
      run = judge_look(points, rule.levels(k), run);
      sequence = judge_look(points, confidence_sequence_levels(n, 1, 100), sequence);
    }
    agree += run.verdict == Verdict::agree;
    disagree += run.verdict == Verdict::disagree;
    sequence_agree += sequence.verdict == Verdict::agree;
  }
  // Stated 5 %; expected about 4, 2.4 and 1 %. Three standard errors.
  const double most = 0.05 + 3 * std::sqrt(0.0475 / trials);
  CHECK(agree / double(trials) < most);
  CHECK(agree > 0);
  CHECK(disagree / double(trials) < most);
  CHECK(sequence_agree < agree);
}

}  // namespace statistics_sequential_test
