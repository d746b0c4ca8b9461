#include "attica/solvers/statistics/resolution.hpp"

#include <catch2/catch.hpp>
#include <cmath>

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

/// What the resolution promises, asked of the judge itself on both sides of it.
void check_against_the_judge(const std::vector<ComparedPoint>& points) {
  constexpr double kBeside = 1e-6;  // p-values are bisected to about 1e-12, far finer
  const Resolution r = of(points);
  REQUIRE(r.not_agree);
  REQUIRE(r.disagree);
  REQUIRE(*r.not_agree > kBeside);
  CHECK(*r.disagree > *r.not_agree);
  const auto both = [&](double x, Verdict v) {
    return (at(points, 1 + x) == v) + (at(points, 1 - x) == v);
  };
  CHECK(both(*r.not_agree - kBeside, Verdict::agree) == 2);
  CHECK(both(*r.not_agree + kBeside, Verdict::agree) < 2);
  CHECK(both(*r.disagree - kBeside, Verdict::disagree) == 0);
  CHECK(both(*r.disagree + kBeside, Verdict::disagree) > 0);
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
  CHECK(*r.not_agree == Approx(1 - 1.001 / 1.01));
  CHECK(*r.disagree == Approx(1 - 1.001 / 1.01));
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
    CHECK_FALSE(r.not_agree);
    CHECK_FALSE(r.disagree);
  }
  SECTION("no factor moves a theory of 0") {
    const Resolution r = of({{.theory = 0.0, .replicates = y, .margin = {.absolute = 3}}});
    CHECK_FALSE(r.not_agree);
  }
  SECTION("what does not agree has resolution 0") {
    CHECK(*of({{.theory = 2.5, .replicates = y, .margin = {.relative = 0.01}}}).not_agree == 0);
    CHECK(*of({{.theory = 2.0, .replicates = {2, 2.1}, .margin = {.relative = 0.5}}}).not_agree ==
          0);
  }
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
    return std::min(1 - (d - h) / (2 * 1.02), (d + h) / (2 * 0.98) - 1);
  };
  CHECK(resolved(*n) <= 0.05);
  CHECK(resolved(*n - 1) > 0.05);
  // No number of replicates resolves what lies inside the margin.
  const double limit = std::min(1 - v.sample.mean / (2 * 1.02), v.sample.mean / (2 * 0.98) - 1);
  CHECK_FALSE(replicates_to_resolve(point, v, 0.99 * limit, 1));
  CHECK(replicates_to_resolve(point, v, 1.01 * limit, 1));
}

}  // namespace attica
