#include "attica/solvers/statistics/resolution.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

namespace attica {
namespace {

/// Skewed replicates around a mean, without randomness.
std::vector<double> replicates(std::size_t n, double mean, double spread) {
  std::vector<double> y;
  for (std::size_t r = 0; r < n; ++r) {
    const double k = static_cast<double>(r);
    y.push_back(mean + spread * (std::exp(0.4 * std::sin(1.3 * k + 0.7 * k * k)) - 1));
  }
  return y;
}

Verdict at(std::vector<ComparedPoint> points, double factor) {
  for (ComparedPoint& p : points) p.theory = *p.theory * factor;
  return judge(points).verdict;
}

Resolution of(const std::vector<ComparedPoint>& points) {
  const RunVerdict run = judge(points);
  std::vector<Resolution> all;
  for (std::size_t k = 0; k < points.size(); ++k) {
    all.push_back(resolution(points[k], run.points[k], run.compared));
  }
  return joint(all);
}

/// What the resolution states, asked of the judge itself on both sides of it, sign by sign.
void check_against_the_judge(const std::vector<ComparedPoint>& points) {
  constexpr double kNear = 1e-6;  // p-values are bisected to about 1e-12, far finer
  constexpr double kPlanted = 1.25;
  const Resolution r = of(points);
  const auto check_sign = [&](double sign, double not_agree, double disagree) {
    REQUIRE(not_agree > kNear);
    CHECK(disagree > not_agree);
    CHECK(at(points, 1 + sign * (not_agree - kNear)) == Verdict::agree);
    CHECK(at(points, 1 + sign * (not_agree + kNear)) != Verdict::agree);
    CHECK(at(points, 1 + sign * (disagree - kNear)) != Verdict::disagree);
    CHECK(at(points, 1 + sign * (disagree + kNear)) == Verdict::disagree);
    // An error of the stated size, of whatever sign, is noticed; so is a larger one.
    for (const double larger : {1 + kNear, kPlanted}) {
      CHECK(at(points, 1 + sign * larger * *r.not_agree.both()) != Verdict::agree);
      CHECK(at(points, 1 + sign * larger * *r.disagree.both()) == Verdict::disagree);
    }
  };
  REQUIRE(r.not_agree.both());
  REQUIRE(r.disagree.both());
  check_sign(-1, *r.not_agree.lower, *r.disagree.lower);
  check_sign(1, *r.not_agree.higher, *r.disagree.higher);
}

}  // namespace

TEST_CASE("resolution: is where the judge changes its verdict", "[solvers][resolution]") {
  const std::vector<double> y = replicates(60, 2.0, 0.3);
  const Margin margin{.absolute = 0.02, .relative = 0.05, .finite_size = 0.01};
  for (const Tails tails : {Tails::guarded, Tails::normal}) {
    for (const double sign : {1.0, -1.0}) {
      std::vector<double> signed_y = y;
      for (double& value : signed_y) value *= sign;
      const ComparedPoint point{
          .theory = sign * 2.02, .replicates = signed_y, .margin = margin, .tails = tails};
      check_against_the_judge({point});
      ComparedPoint wider = point;
      wider.margin.relative = 0.2;
      check_against_the_judge({point, wider, wider});
    }
  }
}

TEST_CASE("resolution: exact comparisons and fractions", "[solvers][resolution]") {
  const ComparedPoint exact{.theory = 1.0,
                            .replicates = std::vector<double>(8, 1.001),
                            .margin = {.relative = 0.01},
                            .deterministic = true};
  const Resolution r = of({exact});
  // |1.001 - u| <= 0.01 u.
  CHECK(*r.not_agree.lower == Approx(1 - 1.001 / 1.01));
  CHECK(*r.disagree.lower == Approx(1 - 1.001 / 1.01));
  CHECK(*r.not_agree.higher == Approx(1.001 / 0.99 - 1));
  CHECK(*r.not_agree.both() == *r.not_agree.higher);
  std::vector<double> successes(400, 0.0);
  for (std::size_t k = 0; k < 200; ++k) successes[k] = 1;
  check_against_the_judge({{.theory = 0.5,
                            .replicates = successes,
                            .margin = {.absolute = 0.1},
                            .success_fraction = true}});
}

TEST_CASE("resolution: what cannot be told", "[solvers][resolution]") {
  const std::vector<double> y = replicates(40, 2.0, 0.1);
  SECTION("a margin of the whole value notices no factor below 1") {
    const Resolution r = of({{.theory = 2.0, .replicates = y, .margin = {.absolute = 5}}});
    CHECK_FALSE(r.not_agree.both());
    CHECK_FALSE(r.disagree.both());
  }
  SECTION("no factor moves a theory of 0") {
    const Resolution r = of({{.theory = 0.0, .replicates = y, .margin = {.absolute = 3}}});
    CHECK_FALSE(r.not_agree.both());
  }
  SECTION("what does not agree has resolution 0") {
    const auto not_agree = [](const ComparedPoint& p) { return *of({p}).not_agree.both(); };
    CHECK(not_agree({.theory = 2.5, .replicates = y, .margin = {.relative = 0.01}}) == 0);
    CHECK(not_agree({.theory = 2.0, .replicates = {2, 2.1}, .margin = {.relative = 0.5}}) == 0);
  }
}

TEST_CASE("resolution: the bluntest third", "[solvers][resolution]") {
  std::vector<ComparedPoint> points;
  for (const double spread : {0.02, 0.5, 0.04, 0.02, 0.3, 0.03, 0.02}) {
    points.push_back({.theory = 2.0,
                      .replicates = replicates(400, 2.0, spread),
                      .margin = {.relative = 0.05},
                      .tails = Tails::normal});
  }
  const RunVerdict run = judge(points);
  std::vector<Resolution> all;
  for (std::size_t k = 0; k < points.size(); ++k)
    all.push_back(resolution(points[k], run.points[k], run.compared));
  // Three of seven, those that notice last.
  std::vector<std::size_t> bluntest{0, 1, 2, 3, 4, 5, 6};
  std::ranges::sort(
      bluntest, std::greater<>(), [&](std::size_t k) { return all[k].disagree.both().value(); });
  bluntest.resize(3);
  const Resolution third = coarsest_third(all);
  const Resolution expected =
      joint(std::vector<Resolution>{all[bluntest[0]], all[bluntest[1]], all[bluntest[2]]});
  CHECK(third.disagree.both().value() == expected.disagree.both().value());
  CHECK(*third.not_agree.both() > *joint(all).not_agree.both());
  for (const double sign : {-1.0, 1.0}) {
    std::vector<ComparedPoint> wrong = points;
    for (const std::size_t k : bluntest)
      wrong[k].theory = *wrong[k].theory * (1 + sign * 1.25 * *third.disagree.both());
    CHECK(judge(wrong).verdict == Verdict::disagree);
  }
  CHECK_FALSE(coarsest_third({}).not_agree.both());
}

TEST_CASE("replicates_to_resolve: so many resolve it, one fewer do not", "[solvers][resolution]") {
  const std::vector<double> y = replicates(40, 2.0, 0.3);
  const ComparedPoint point{
      .theory = 2.0, .replicates = y, .margin = {.relative = 0.02}, .tails = Tails::normal};
  const RunVerdict run = judge(std::vector<ComparedPoint>{point});
  const auto n = replicates_to_resolve(point, run.points.front(), 0.05, 1);
  REQUIRE(n);
  // The closed form: (margin and half width) / theory, at the deviation seen.
  const PointVerdict& v = run.points.front();
  const auto resolved = [&](std::size_t count) {
    const double h = critical_value(count, 0.025).t * v.sample.sd / std::sqrt(double(count));
    const double d = v.sample.mean;
    return std::max(1 - (d - h) / (2 * 1.02), (d + h) / (2 * 0.98) - 1);
  };
  CHECK(resolved(*n) <= 0.05);
  CHECK(resolved(*n - 1) > 0.05);
  // No number of replicates resolves what lies inside the margin.
  const double limit = std::max(1 - v.sample.mean / (2 * 1.02), v.sample.mean / (2 * 0.98) - 1);
  CHECK_FALSE(replicates_to_resolve(point, v, 0.99 * limit, 1));
  CHECK(replicates_to_resolve(point, v, 1.01 * limit, 1));
}

TEST_CASE("resolution_by_cap: what the last look of a stopping rule would say",
          "[solvers][resolution]") {
  constexpr std::size_t kCap = 120;
  constexpr double kNear = 1e-6;
  std::vector<double> ones(kCap, 0.0);
  std::fill(ones.begin(), ones.begin() + 66, 1.0);
  const std::vector<ComparedPoint> points = {
      {.theory = 2.01, .replicates = replicates(kCap, 2, 0.1), .margin = {.relative = 0.05}},
      {.theory = -1.01, .replicates = replicates(kCap, -1, 0.2), .margin = {.absolute = 0.2}},
      {.theory = 0.56, .replicates = ones, .margin = {.absolute = 0.25}, .success_fraction = true}};
  const GroupSequentialRule rule(kCap, points.size());
  const LookLevels last = rule.levels(rule.replicates().size() - 1);
  for (const ComparedPoint& point : points) {
    const auto said = [&](double factor) {
      ComparedPoint scaled = point;
      scaled.theory = *point.theory * factor;
      return judge_look(std::vector{scaled}, last, {}).points.front().verdict;
    };
    const PointVerdict verdict = judge_look(std::vector{point}, last, {}).points.front();
    const Resolution r = resolution_by_cap(point, verdict, last, kCap);
    for (const double sign : {-1.0, 1.0}) {
      const double not_agree = sign < 0 ? *r.not_agree.lower : *r.not_agree.higher;
      const double disagree = sign < 0 ? *r.disagree.lower : *r.disagree.higher;
      CHECK(said(1 + sign * (not_agree - kNear)) == Verdict::agree);
      CHECK(said(1 + sign * (not_agree + kNear)) == Verdict::inconclusive);
      CHECK(said(1 + sign * (disagree - kNear)) == Verdict::inconclusive);
      CHECK(said(1 + sign * (disagree + kNear)) == Verdict::disagree);
    }
  }
}

TEST_CASE("resolution_by_cap: early replicates with the mean and spread of all say the same",
          "[solvers][resolution]") {
  constexpr std::size_t kCap = 120;
  const std::vector<double> early = replicates(kCap / 2, 2, 0.1);
  std::vector<double> all = early;
  all.insert(all.end(), early.begin(), early.end());
  const GroupSequentialRule rule(kCap, 1);
  const auto of_rule = [&](std::vector<double> seen, std::size_t look) {
    const ComparedPoint point{
        .theory = 2.01, .replicates = std::move(seen), .margin = {.relative = 0.05}};
    const RunVerdict run = judge_look(std::vector{point}, rule.levels(look), {});
    return resolution_by_cap(
        point, run.points.front(), rule.levels(rule.replicates().size() - 1), kCap);
  };
  const std::size_t half = rule.replicates().size() / 2 - 1;
  REQUIRE(rule.replicates().at(half) == kCap / 2);
  const Resolution soon = of_rule(early, half);
  const Resolution late = of_rule(all, rule.replicates().size() - 1);
  CHECK(*soon.not_agree.both() == Approx(*late.not_agree.both()).epsilon(0.01));
  CHECK(*soon.disagree.both() == Approx(*late.disagree.both()).epsilon(0.01));
}

}  // namespace attica
