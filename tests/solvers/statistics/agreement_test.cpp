#include "attica/solvers/statistics/agreement.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/core/random.hpp"
#include "attica/solvers/statistics/fractions.hpp"
#include "attica/solvers/statistics/power.hpp"
#include "solvers/statistics/reference.hpp"

using namespace attica;
using namespace attica::testing;
using Catch::WithinAbs;
using Catch::WithinRel;

namespace statistics_agreement_test {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

ComparedPoint point(std::vector<double> replicates, double margin, double theory = 0) {
  return {.theory = theory, .replicates = std::move(replicates), .margin = {.absolute = margin}};
}

std::vector<double> normal_sample(std::uint64_t replicate, std::size_t n, double mean, double sd) {
  std::vector<double> d(n);
  RandomStream({.seed = 3, .id = StreamId::self_test, .replicate = replicate}).fill_normal(d);
  for (double& v : d) v = mean + sd * v;
  return d;
}

PointVerdict only(const ComparedPoint& p) { return judge(std::vector{p}).points.front(); }

TEST_CASE("judge: a point's numbers are those of the references", "[solvers][agreement]") {
  auto skewed = point(reference_sample("skw(40)"), 0.5, 3);
  for (double& y : skewed.replicates) y += 3;
  const PointVerdict v = only(skewed);
  const auto reference = reference_values("statistics")["point"]["skw(40)"];
  const auto expected = reference["guarded90"];
  CHECK_THAT(v.interval->low, WithinRel(expected[0].get<double>(), 1e-9));
  CHECK_THAT(v.interval->high, WithinRel(expected[1].get<double>(), 1e-9));
  CHECK_THAT(v.p_agree, WithinRel(0.0271687833794, 1e-9));
  CHECK_THAT(v.difference, WithinRel(reference["mean"].get<double>(), 1e-12));
  CHECK_THAT(*v.z, WithinRel(v.difference / reference["sem"].get<double>(), 1e-12));
  const double plain = reference["t90"][1].get<double>() - reference["t90"][0].get<double>();
  CHECK_THAT(v.guard_share, WithinRel(1 - plain / v.interval->width(), 1e-9));
  CHECK(v.verdict == Verdict::agree);
  CHECK(v.reason.empty());
}

TEST_CASE("judge: agrees exactly when the 90 % interval lies inside the margin",
          "[solvers][agreement]") {
  for (const char* name : {"sym(8)", "sym(40)", "skw(20)", "skw(60)"}) {
    for (Tails tails : {Tails::normal, Tails::guarded}) {
      auto p = point(reference_sample(name), 1);
      p.tails = tails;
      const Interval i = *only(p).interval;
      const double edge = std::max(-i.low, i.high);
      p.margin.absolute = edge * (1 + 1e-9);
      CHECK(only(p).verdict == Verdict::agree);
      p.margin.absolute = edge * (1 - 1e-9);
      CHECK(only(p).verdict != Verdict::agree);
    }
  }
}

TEST_CASE("judge: AGREE and DISAGREE exclude each other; a larger margin never hurts",
          "[solvers][agreement]") {
  for (std::uint64_t r = 0; r < 50; ++r) {
    auto p = point(normal_sample(r, 10 + r, 0.3, 1), 0.01);
    p.tails = r % 2 ? Tails::normal : Tails::guarded;
    double agree = 1;
    double disagree = 0;
    for (double margin = 0.01; margin < 4; margin *= 1.3) {
      p.margin.absolute = margin;
      const PointVerdict v = only(p);
      CHECK((v.p_agree > 0.05 || v.p_disagree > 0.05));
      CHECK(v.p_agree <= agree);
      CHECK(v.p_disagree >= disagree);
      agree = v.p_agree;
      disagree = v.p_disagree;
    }
  }
}

TEST_CASE("Margin: terms add up; what counts as declared; what is refused",
          "[solvers][agreement]") {
  const Margin margin{
      .absolute = 0.1, .relative = 0.05, .finite_size = 0.02, .numerical_error = 0.003};
  CHECK_THAT(margin.total(-4), WithinRel(0.323, 1e-14));
  CHECK_FALSE(Margin{.numerical_error = 1}.declared(2));
  CHECK(Margin{.finite_size = 1}.declared(0));
  CHECK_FALSE(Margin{.relative = 0.1, .finite_size = 1}.declared(0));
  for (double bad : {-1.0, kNan, double(INFINITY)}) {
    auto p = point({1, 2}, bad);
    CHECK_THROWS_WITH(judge(std::vector{p}), Catch::Contains("'margin'"));
  }
}

TEST_CASE("judge: points that cannot be decided say why", "[solvers][agreement]") {
  auto reason = [](const ComparedPoint& p, PointStatus status) {
    const PointVerdict v = only(p);
    CHECK(v.status == status);
    CHECK(v.verdict == (status == PointStatus::no_theory ? Verdict::none : Verdict::inconclusive));
    return v.reason;
  };
  const auto compared = PointStatus::compared;
  CHECK(reason(point({1}, 5), compared) == "one replicate has no error bar");
  CHECK(reason(point({0, 1, 0, 1, 0, 1, 0}, 50), compared) == "7 replicates, fewer than 8");
  CHECK(reason(point(std::vector<double>(8, 0.3), 5), compared) ==
        "all 8 replicates are 0.3 to all digits: seeds not used, a value at its bound, or no "
        "randomness that reaches it");
  CHECK(reason(point({0, kNan, 1}, 5), PointStatus::failed) == "1 of 3 replicates failed");
  CHECK(reason(point({0, 1e200, kNan}, 5), PointStatus::failed) ==
        "2 of 3 replicates failed, 1 of them beyond 1e+150: choose another unit");
  CHECK(reason(point({}, 5), PointStatus::failed) == "0 of 0 replicates failed");
  CHECK(reason(point(reference_sample("sym(40)"), 0), PointStatus::no_margin) == "no margin");
  auto relative = point(reference_sample("sym(40)"), 0);
  relative.margin.relative = 0.05;
  CHECK(reason(relative, PointStatus::no_margin) == "theory is 0: give an absolute margin");
  auto gap = point(reference_sample("sym(40)"), 1);
  gap.theory = INFINITY;
  CHECK(reason(gap, PointStatus::no_theory) == "no theory value");
  gap.theory = std::nullopt;
  CHECK(reason(gap, PointStatus::no_theory) == "no theory value");
}

TEST_CASE("judge: deterministic replicates are compared exactly", "[solvers][agreement]") {
  auto p = point(std::vector<double>(8, 1.5), 0.5, 1);
  p.deterministic = true;
  CHECK(only(p).verdict == Verdict::agree);
  p.margin.absolute = 0.499;
  CHECK(only(p).verdict == Verdict::disagree);
}

TEST_CASE("judge: success fractions use exact binomial tests", "[solvers][agreement]") {
  std::vector<double> y(50, 0);
  for (std::size_t r = 0; r < 7; ++r) y[r] = 1;
  auto p = point(y, 0.12, 0.15);
  p.success_fraction = true;
  const PointVerdict v = only(p);
  const Interval exact = clopper_pearson({7, 50}, 0.05);
  CHECK(v.interval->low == exact.low - 0.15);
  CHECK(v.interval->high == exact.high - 0.15);
  CHECK(v.verdict == Verdict::agree);
  p.theory = 0.5;
  CHECK(only(p).verdict == Verdict::disagree);
  p.replicates[3] = 0.5;
  CHECK_THROWS_WITH(only(p), Catch::Contains("success_fraction"));
  p.replicates.assign(50, 1);  // identical replicates are information here
  p.theory = 0.98;
  CHECK(only(p).verdict == Verdict::agree);
}

TEST_CASE("judge: the run's verdict, counts and worst point", "[solvers][agreement]") {
  const auto good = point(normal_sample(1, 60, 0, 0.1), 1);
  const auto wide = point(normal_sample(2, 60, 0, 10), 1);
  const auto bad = point(normal_sample(3, 60, 5, 0.1), 1);
  auto gap = good;
  gap.theory = std::nullopt;
  CHECK(judge({}).verdict == Verdict::none);
  CHECK(judge(std::vector{gap}).verdict == Verdict::none);
  CHECK(judge(std::vector{good, gap, good}).verdict == Verdict::agree);
  CHECK(judge(std::vector{good, wide}).verdict == Verdict::inconclusive);
  CHECK(*judge(std::vector{good, wide}).worst == 1);
  const RunVerdict run = judge(std::vector{good, wide, gap, bad});
  CHECK(run.verdict == Verdict::disagree);
  CHECK((run.compared == 3 && run.agree == 1 && run.disagree == 1 && run.inconclusive == 1 &&
         run.no_theory == 1));
  CHECK(*run.worst == 3);
  CHECK(*run.largest_detectable_gap == *run.points[1].detectable_gap);
  auto broken = good;
  broken.replicates[7] = kNan;
  CHECK(judge(std::vector{good, broken}).failed == 1);
  CHECK(judge(std::vector{good, broken}).verdict == Verdict::inconclusive);
}

TEST_CASE("judge: replicates_needed decides with the power promised", "[solvers][agreement]") {
  auto p = point(normal_sample(5, 20, 0, 1), 0.4);
  p.tails = Tails::normal;
  const PointVerdict v = only(p);
  REQUIRE(v.verdict == Verdict::inconclusive);
  const PowerProblem problem{.margin = 0.4, .delta = v.difference, .sigma = v.sample.sd};
  CHECK(agree_power(*v.replicates_needed, problem) >= 0.9);
  CHECK(agree_power(*v.replicates_needed - 1, problem) < 0.9);
  CHECK(v.reason == "about " + std::to_string(*v.replicates_needed) + " replicates would decide");
  p.tails = Tails::guarded;
  CHECK(*only(p).replicates_needed >= *v.replicates_needed);
  p.margin.absolute = std::abs(v.difference);
  p.theory = 0;
  CHECK_FALSE(only(p).replicates_needed);
}

TEST_CASE("judge: a coarse theory is warned about", "[solvers][agreement]") {
  auto p = point(reference_sample("sym(40)"), 0.1);
  CHECK(only(p).warning.empty());
  p.margin.numerical_error = 0.11;
  CHECK(only(p).warning == "theory too coarse for this margin");
}

TEST_CASE("judge: the maximum test gains power on a curve of shared replicates",
          "[solvers][agreement]") {
  // Points strongly correlated across the curve, equal replicates: the adjusted p hardly grows with
  // P.
  const auto base = normal_sample(8, 20, 0.9, 1);
  std::vector<ComparedPoint> curve;
  for (int k = 0; k < 24; ++k) {
    auto p = point(base, 0.1);
    const auto noise = normal_sample(100 + std::uint64_t(k), 20, 0, 0.05);
    for (std::size_t r = 0; r < 20; ++r) p.replicates[r] += noise[r];
    p.tails = Tails::normal;
    curve.push_back(p);
  }
  curve.push_back(point(std::vector<double>(20, 0.05), 0.1));
  curve.back().deterministic = true;
  const RunVerdict plain = judge(curve);
  const RunVerdict flips = judge(curve, {.family = Family::max_statistic});
  for (std::size_t k = 0; k < 24; ++k) {
    CHECK(flips.points[k].p_disagree_adjusted < plain.points[k].p_disagree_adjusted);
  }
  CHECK(flips.points[24].verdict == Verdict::agree);
  curve[0].tails = Tails::guarded;
  CHECK_THROWS_WITH(judge(curve, {.family = Family::max_statistic}), Catch::Contains("'family'"));
}

TEST_CASE("judge: rates of error and of discovery on planted normal data", "[solvers][agreement]") {
  constexpr std::size_t points = 4;
  constexpr std::size_t n = 30;
  constexpr int trials = 200;
  const double gap = detectable_gap(n, {.margin = 0.5, .sigma = 1}, points, 0.9);
  int false_disagree = 0, found = 0, false_agree = 0;
  std::uint64_t replicate = 1000;
  auto runs_disagree = [&](double first) {
    std::vector<ComparedPoint> run;
    for (std::size_t p = 0; p < points; ++p) {
      run.push_back(point(normal_sample(replicate++, n, p == 0 ? first : 0, 1), 0.5));
      run.back().tails = Tails::normal;
    }
    return judge(run);
  };
  for (int i = 0; i < trials; ++i) {
    const RunVerdict at_margin = runs_disagree(0.5);
    false_disagree += at_margin.verdict == Verdict::disagree;
    false_agree += at_margin.points[0].verdict == Verdict::agree;
    found += runs_disagree(gap).points[0].verdict == Verdict::disagree;
  }
  // Stated rates 5, 5 and 90 %, with four standard errors.
  CHECK(false_disagree <= trials * 0.05 + 4 * std::sqrt(trials * 0.05 * 0.95));
  CHECK(false_agree <= trials * 0.05 + 4 * std::sqrt(trials * 0.05 * 0.95));
  CHECK(false_agree >= trials * 0.05 - 4 * std::sqrt(trials * 0.05 * 0.95));
  CHECK(found >= trials * 0.9 - 4 * std::sqrt(trials * 0.09));
}

/// Points of one series, drawn by `draw(point, replicate)`.
std::vector<ComparedPoint> series_of(std::size_t points,
                                     std::size_t n,
                                     double margin,
                                     const std::function<double(std::size_t, RandomStream&)>& draw,
                                     std::uint64_t trial) {
  std::vector<ComparedPoint> run;
  RandomStream stream({.seed = 4, .id = StreamId::self_test, .replicate = trial});
  for (std::size_t k = 0; k < points; ++k) {
    std::vector<double> values(n);
    for (double& y : values) y = draw(k, stream);
    run.push_back(point(std::move(values), margin));
    run.back().series = 0;
  }
  return run;
}

TEST_CASE("judge: points of a series share the guard, as nobody alone can tell its tails",
          "[solvers][agreement]") {
  const auto normal = [](std::size_t, RandomStream& s) { return s.normal(); };
  constexpr int kTrials = 200;
  int together = 0, alone = 0, few = 0;
  for (int r = 0; r < kTrials; ++r) {
    auto run = series_of(8, 60, 0.6, normal, r);
    together += judge(run, {.details = false}).verdict == Verdict::agree;
    for (ComparedPoint& p : run) p.series.reset();
    alone += judge(run, {.details = false}).verdict == Verdict::agree;
    few +=
        judge(series_of(8, 20, 1, normal, 1000 + r), {.details = false}).verdict == Verdict::agree;
  }
  // 86, 50 and 41 %; four standard errors of 200.
  CHECK_THAT(double(together) / kTrials, WithinAbs(0.86, 0.10));
  CHECK_THAT(double(alone) / kTrials, WithinAbs(0.50, 0.14));
  CHECK_THAT(double(few) / kTrials, WithinAbs(0.41, 0.14));
}

TEST_CASE("judge: one heavy point among normal ones keeps its guard", "[solvers][agreement]") {
  // 2/chi^2_3 has mean 2 and no variance.
  const auto heavy = [](std::size_t k, RandomStream& s) {
    const double a = s.normal(), b = s.normal(), c = s.normal();
    return k == 0 ? 2 / (a * a + b * b + c * c) - 2 : a;
  };
  constexpr int kTrials = 300;
  int agree = 0, disagree = 0;
  for (int r = 0; r < kTrials; ++r) {
    std::vector<ComparedPoint> run = series_of(24, 40, 1e-9, heavy, 5000 + r);
    disagree += judge(run, {.details = false}).disagree > 0;
    for (ComparedPoint& p : run) p.margin.absolute = 1;
    run[0].theory = 1;  // its mean is 1 below
    agree += judge(run, {.details = false}).points[0].verdict == Verdict::agree;
  }
  // Both are stated as 5 %; Student's t gives more than 30. Four standard errors.
  CHECK(agree <= kTrials * 0.05 + 4 * std::sqrt(kTrials * 0.0475));
  CHECK(disagree <= kTrials * 0.05 + 4 * std::sqrt(kTrials * 0.0475));
}

TEST_CASE("judge: says where the guard alone stands between a point and AGREE",
          "[solvers][agreement]") {
  ComparedPoint p = point(reference_sample("skw(40)"), 0, 0);
  const SampleSummary s = summarise(p.replicates);
  p.theory = s.mean;
  const double plain = half_width(s, Side::upper, 0.05, Tails::normal);
  const double guarded = half_width(s, Side::upper, 0.05, Tails::guarded);
  p.margin.absolute = 0.5 * (plain + guarded);
  const PointVerdict open = only(p);
  CHECK(open.verdict == Verdict::inconclusive);
  CHECK(open.guard_alone);
  CHECK_THAT(open.reason, Catch::EndsWith("without the guard against heavy tails it would agree"));
  p.margin.absolute = 0.9 * plain;
  CHECK_FALSE(only(p).guard_alone);
  p.margin.absolute = 0.5 * (plain + guarded);
  p.tails = Tails::normal;
  CHECK(only(p).verdict == Verdict::agree);
}

TEST_CASE("judge: two simulations are compared by Welch's t", "[solvers][agreement]") {
  constexpr int kTrials = 2000;
  int agree = 0, disagree = 0, plain = 0;
  for (int r = 0; r < kTrials; ++r) {
    // Unequal scatter and numbers: the side with few replicates scatters more.
    ComparedPoint p = point(normal_sample(20000 + 2 * r, 60, 1.5, 0.5), 0.5);
    p.tails = Tails::normal;
    p.theory_replicates = normal_sample(20001 + 2 * r, 10, 1.0, 1.0);
    p.theory = summarise(p.theory_replicates).mean;
    agree += only(p).verdict == Verdict::agree;
    ComparedPoint same = p;
    same.margin.absolute = 1e-9;
    for (double& y : same.replicates) y -= 0.5;
    disagree += only(same).verdict == Verdict::disagree;
    same.theory_replicates.clear();
    plain += only(same).verdict == Verdict::disagree;
  }
  // The margin is half as wide as the interval of ten replicates: AGREE errs in less than 5 %.
  const double tolerance = 4 * std::sqrt(0.0475 / kTrials);
  CHECK(agree <= (0.05 + tolerance) * kTrials);
  CHECK_THAT(double(disagree) / kTrials, WithinAbs(0.05, tolerance));
  CHECK(plain > 0.3 * kTrials);  // what comes of taking the other mean for exact

  ComparedPoint p = point(normal_sample(1, 60, 1, 0.1), 0.1, 1);
  p.theory_replicates = normal_sample(2, 60, 1, 0.1);
  p.theory = summarise(p.theory_replicates).mean;
  CHECK(only(p).verdict == Verdict::agree);
  p.theory_replicates.resize(7);
  CHECK(only(p).reason == "7 replicates of the theory's side, fewer than 8");
  p.theory_replicates[2] = kNan;
  CHECK(only(p).status == PointStatus::failed);
  p.tails = Tails::normal;
  p.theory_replicates = normal_sample(2, 60, 1, 0.1);
  CHECK_THROWS_WITH(judge(std::vector{p}, {.family = Family::max_statistic}),
                    Catch::Contains("a theory without replicates"));
  // A relative margin moves with the other mean, whose error then counts 1 + r times.
  p.margin = {.relative = 0.5};
  const SampleSummary s = summarise(std::vector{p}).front();
  CHECK_THAT(s.other->sem, WithinRel(1.5 * summarise(p.theory_replicates).sem, 1e-14));
}

}  // namespace statistics_agreement_test
