#include "attica/solvers/formula/theory_text.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "attica/core/error.hpp"

using namespace attica;
using namespace attica::formula;
using Catch::Contains;

namespace theory_text_test {

using Places = std::vector<std::vector<double>>;

std::vector<TextPoints> all(const TheoryText& text,
                            const std::vector<std::string>& names,
                            const Places& places) {
  return TextTheory(text, names).evaluate(places, places.size()).points;
}

TheoryText flow(const Texts& start, const Texts& rate, const Texts& series) {
  TheoryText text;
  text.kind = TheoryText::Kind::flow;
  text.time = "t";
  text.start = start;
  text.rate = rate;
  text.series = series;
  return text;
}

TheoryText solve(const Texts& unknowns, const Texts& fixed, const Texts& series) {
  TheoryText text;
  text.kind = TheoryText::Kind::solve;
  text.unknowns = unknowns;
  text.fixed = fixed;
  text.series = series;
  return text;
}

TEST_CASE("TextTheory: flows against closed forms and SciPy", "[solvers][formula]") {
  const auto decay = all(flow({{"y", "a"}}, {{"y", "-y"}}, {{"y", "y"}}),
                         {"a", "t"},
                         {{3, 2}, {3, 0}, {3, 1}, {5, 1}});
  CHECK(decay[0][0].values[0].value == Approx(3 * std::exp(-2)).epsilon(1e-9));
  CHECK(decay[1][0].values[0].value == 3);
  CHECK(decay[3][0].values[0].value == Approx(5 * std::exp(-1)).epsilon(1e-9));
  for (const auto& point : decay) {
    CHECK(point[0].values[0].numerical_error < 1e-7);
    CHECK(point[0].values[0].reason.empty());
  }
  // A definition that moves with the states, and the time itself. DOP853 at 1e-13.
  TheoryText prey = flow({{"u", "10"}, {"v", "5"}},
                         {{"u", "u*(1.5 - v)"}, {"v", "v*growth"}},
                         {{"u", "u"}, {"v", "v"}, {"t", "t"}});
  prey.let = {{"growth", "u - 3"}};
  const TextPoint end = all(prey, {"t"}, {{5}})[0][0];
  CHECK(end.values[0].value == Approx(0.2641867721186654).epsilon(1e-7));
  CHECK(end.values[1].value == Approx(3.134133161070127).epsilon(1e-7));
  CHECK(end.values[2].value == 5);
  CHECK(std::abs(end.values[0].value - 0.2641867721186654) <= end.values[0].numerical_error);
  // Van der Pol at mu = 1000: Radau at 1e-10.
  TheoryText stiff = flow({{"y", "2"}, {"w", "0"}},
                          {{"y", "w"}, {"w", "1000*(1 - y^2)*w - y"}},
                          {{"y", "y"}, {"w", "w"}});
  stiff.stiff = true;
  const TextPoint slow = all(stiff, {"t"}, {{1}})[0][0];
  CHECK(slow.values[0].value == Approx(1.999333370506309).epsilon(1e-8));
  CHECK(slow.values[1].value == Approx(-0.0006670371231732565).epsilon(1e-6));
}

TEST_CASE("TextTheory: two paths side by side are two paths one by one", "[solvers][formula]") {
  // An event, even one that never comes, takes the paths one by one.
  const auto both_ways = [](TheoryText text, const Places& places) {
    const auto pairs = all(text, {"a", "t"}, places);
    text.event = "t + 1";
    const auto singles = all(text, {"a", "t"}, places);
    for (std::size_t k = 0; k < places.size(); ++k) {
      for (std::size_t s = 0; s < text.series.size(); ++s) {
        INFO(text.series[s].second << " at t = " << places[k][1]);
        const TextValue& one = singles[k][0].values[s];
        const TextValue& two = pairs[k][0].values[s];
        CHECK(two.reason == one.reason);
        if (!one.reason.empty()) continue;
        CHECK(two.value == Approx(one.value).epsilon(1e-12).margin(1e-15));
        CHECK(two.numerical_error == Approx(one.numerical_error).epsilon(1e-3).margin(1e-14));
      }
    }
  };
  Places places;
  for (int k = 0; k <= 40; ++k) places.push_back({0.02, 0.15 * k});
  both_ways(flow({{"m", "a"}, {"q", "1"}},
                 {{"m", "q^(-0.5)*(1 - m^2)"}, {"q", "-2*q + 2*m"}},
                 {{"overlap", "m/sqrt(q)"}, {"log", "log(q - 0.9)"}, {"t", "t"}}),
            places);
  // Small states in units of their own; one that falls below the absolute tolerance; definitions.
  TheoryText small = flow({{"m", "a*1e-9"}, {"w", "1"}},
                          {{"m", "rate*m"}, {"w", "-6*w*(1 + m)"}},
                          {{"m", "m"}, {"w", "w"}, {"sum", "m + w"}});
  small.let = {{"rate", "2 - a*m - sin(t)"}};
  both_ways(small, places);
  // Beyond a singularity: the first path ends there, and the reason is the same.
  both_ways(flow({{"m", "1"}}, {{"m", "m^2*(1 + a)"}}, {{"m", "m"}}), places);
  // A definition that becomes infinite where the rate does not.
  TheoryText pole = flow({{"m", "1"}}, {{"m", "-1 + 1/b"}}, {{"m", "m"}});
  pole.let = {{"b", "1/(m - a) + 1e4"}};
  both_ways(pole, places);
  // Averages in what does not move.
  TheoryText average = flow({{"m", "normal(z, abs(z))"}}, {{"m", "-c*m"}}, {{"m", "m"}});
  average.let = {{"c", "normal(z, abs(z - a))"}};
  both_ways(average, places);
}

TEST_CASE("TextTheory: chaotic maps have no value, from a start at zero either",
          "[solvers][formula]") {
  const auto map = [](const Texts& start, const Texts& next) {
    TheoryText text = flow(start, next, {{"a", start.front().first}});
    text.kind = TheoryText::Kind::map;
    return text;
  };
  const auto henon = all(map({{"a", "0"}, {"b", "0"}}, {{"a", "1 - 1.4*a^2 + b"}, {"b", "0.3*a"}}),
                         {"t"},
                         {{10}, {500}});
  CHECK(henon[0][0].values[0].reason.empty());
  CHECK_THAT(henon[1][0].values[0].reason, Contains("no digit is certain"));
  // Zero stays zero, and whole numbers are counted.
  CHECK(all(map({{"a", "0"}}, {{"a", "2*a"}}), {"t"}, {{500}})[0][0].values[0].value == 0);
  const TextValue count = all(map({{"a", "0"}}, {{"a", "a + 1"}}), {"t"}, {{1000}})[0][0].values[0];
  CHECK(count.value == 1000);
  CHECK(count.numerical_error < 1e-10);
  // Maps that shift digits: after 54 steps none of the start is left, and zeros follow.
  for (const std::string next :
       {"2*a - floor(2*a)", "a < 0.5 ? 2*a : 2 - 2*a", "4*a - floor(4*a)"}) {
    INFO(next);
    const auto shifted =
        all(map({{"a", "1/3"}}, {{"a", next}}), {"t"}, {{20}, {60}, {100}, {1000}});
    const TextValue& early = shifted[0][0].values[0];
    const double exact = next.starts_with("a <") ? 2. / 3 : 1. / 3;
    CHECK(early.numerical_error >= std::abs(early.value - exact));
    CHECK(early.numerical_error < 1e-2);
    for (const std::size_t late : {1, 2, 3})
      CHECK_THAT(shifted[late][0].values[0].reason, Contains("no digit is certain"));
  }
  // A map that forgets its start keeps its value.
  const TextValue fixed =
      all(map({{"a", "1"}}, {{"a", "cos(a)"}}), {"t"}, {{1000}})[0][0].values[0];
  CHECK(fixed.value == Approx(0.73908513321516064).epsilon(1e-14));
  CHECK(fixed.numerical_error < 1e-14);
}

TEST_CASE("TextTheory: a minus sign is no name to follow", "[solvers][formula]") {
  TheoryText text = solve({{"m", "1"}}, {{"m", "cos(m) + 0*x"}}, {{"m", "m"}});
  text.follow = "-";
  CHECK(needed_names(text) == std::vector<std::string>{"x"});
  CHECK_THROWS_WITH(TextTheory(text, {"x"}), Contains("theory.solve.follow"));
  text.follow = "-x";
  CHECK(needed_names(text) == std::vector<std::string>{"x"});
  CHECK_NOTHROW(TextTheory(text, {"x"}));
}

TEST_CASE("TextTheory: multiple zeros, and unknowns of unlike size", "[solvers][formula]") {
  const auto zero = [](const Texts& unknowns, const Texts& equations) {
    TheoryText text = solve(unknowns, {}, {{"y", unknowns.front().first}});
    text.zero = equations;
    return all(text, {"x"}, {{1}})[0][0].values[0];
  };
  for (const auto& [start, power] : {std::pair{"2", "2"},
                                     std::pair{"1.5", "2"},
                                     {"3", "2"},
                                     {"2", "3"},
                                     {"1.3", "3"},
                                     {"2", "5"}}) {
    const TextValue twice = zero({{"m", start}}, {{"m", std::string("(m - x)^") + power}});
    INFO(start << " " << twice.reason << " " << twice.value << " +- " << twice.numerical_error);
    if (twice.reason.empty()) CHECK(std::abs(twice.value - 1) <= twice.numerical_error);
  }
  // The last digits of the residual are rounding.
  const TextValue expanded = zero({{"m", "2"}}, {{"m", "m^3 - 3*x*m^2 + 3*x^2*m - x^3"}});
  if (expanded.reason.empty()) CHECK(std::abs(expanded.value - 1) <= expanded.numerical_error);
  const TextValue simple = zero({{"m", "2"}}, {{"m", "m^3 - x - 1"}});
  CHECK(simple.value == Approx(std::cbrt(2.0)).epsilon(1e-14));
  CHECK(simple.numerical_error < 1e-14);
  const TextValue small =
      zero({{"a", "1"}, {"b", "1"}}, {{"a", "1e12*a - b"}, {"b", "b - 1e-8*x"}});
  CHECK(small.reason == "");
  CHECK(small.value == Approx(1e-20).epsilon(1e-9));
  CHECK_THAT(zero({{"a", "1"}, {"b", "2"}}, {{"a", "a + b - 3"}, {"b", "2*a + 2*b - 6"}}).reason,
             Contains("do not fix the solution"));
}

TEST_CASE("TextTheory: a flow ends when its time is over", "[solvers][formula]") {
  // Too stiff for explicit steps: one by one and in pairs.
  TheoryText text = flow({{"u", "1"}}, {{"u", "-1e9*(u - cos(t))"}}, {{"u", "u"}});
  for (const char* event : {"", "t + 1"}) {
    text.event = event;
    Effort effort;
    effort.seconds = 0.2;
    const auto begin = std::chrono::steady_clock::now();
    const auto points = TextTheory(text, {"t"}, effort).evaluate({{1}}, 1).points;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    CHECK_THAT(points[0][0].values[0].reason, Contains("max_seconds"));
    CHECK(passed.count() < 60);
  }
}

TEST_CASE("TextTheory: states with an index", "[solvers][formula]") {
  TheoryText heat = flow({{"a[k]", "1/k"}, {"total", "0"}},
                         {{"a[k]", "(k > 1 ? a[k - 1] : 0) - 2*a[k] + (k < 10 ? a[k + 1] : 0)"},
                          {"total", "sum(j, 1, 10, a[j])"}},
                         {{"first", "a[1]"}, {"fifth", "a[5]"}, {"last", "a[10]"}});
  heat.index = "k";
  heat.count = 10;
  const TextPoint point = all(heat, {"t"}, {{0.7}})[0][0];
  // exp(0.7 A) of the matrix, SciPy.
  CHECK(point.values[0].value == Approx(0.4406696316538744).epsilon(1e-8));
  CHECK(point.values[1].value == Approx(0.21438027594847422).epsilon(1e-8));
  CHECK(point.values[2].value == Approx(0.06500167774707927).epsilon(1e-8));
}

TEST_CASE("TextTheory: where a flow ends, and why", "[solvers][formula]") {
  const TheoryText blow = flow({{"y", "1"}}, {{"y", "y^2"}}, {{"y", "y"}});
  const auto points = all(blow, {"t"}, {{0.5}, {2}});
  CHECK(points[0][0].values[0].value == Approx(2).epsilon(1e-8));
  CHECK(std::isnan(points[1][0].values[0].value));
  CHECK_THAT(points[1][0].values[0].reason, Contains("t = 1"));
  TheoryText event = flow({{"y", "1"}}, {{"y", "-1"}}, {{"y", "y"}});
  event.event = "y - 0.25";
  const auto ended = all(event, {"t"}, {{0.5}, {1}});
  CHECK(ended[0][0].values[0].value == Approx(0.5).epsilon(1e-12));
  CHECK_THAT(ended[1][0].values[0].reason, Contains("event ends the flow at t = 0.75"));
  const auto start = all(flow({{"y", "0"}}, {{"y", "1/y"}}, {{"y", "y"}}), {"t"}, {{1}});
  CHECK_THAT(start[0][0].values[0].reason, Contains("rate of y is inf") && Contains("y = 0"));
  CHECK_THAT(all(blow, {"t"}, {{-1}})[0][0].values[0].reason, Contains("times >= 0"));
  // A series without a value is one of that series alone.
  const auto log =
      all(flow({{"y", "1"}}, {{"y", "-1"}}, {{"y", "y"}, {"log", "log(y)"}}), {"t"}, {{2}});
  CHECK(log[0][0].values[0].value == Approx(-1).epsilon(1e-12));
  CHECK_THAT(log[0][0].values[1].reason, Contains("log(y)"));
}

TEST_CASE("TextTheory: recursions", "[solvers][formula]") {
  TheoryText map = flow({{"a", "0"}, {"b", "1"}}, {{"a", "b"}, {"b", "a + b"}}, {{"a", "a"}});
  map.kind = TheoryText::Kind::map;
  const auto fibonacci = all(map, {"t"}, {{10}, {0}, {40}, {2.5}});
  CHECK(fibonacci[0][0].values[0].value == 55);
  CHECK(fibonacci[1][0].values[0].value == 0);
  CHECK(fibonacci[2][0].values[0].value == 102334155);
  CHECK_THAT(fibonacci[3][0].values[0].reason, Contains("whole numbers"));
  // Of a chaotic map rounding grows: the error says so.
  TheoryText chaos = flow({{"x", "0.3"}}, {{"x", "4*x*(1 - x)"}}, {{"x", "x"}});
  chaos.kind = TheoryText::Kind::map;
  const auto logistic = all(chaos, {"t"}, {{5}, {80}});
  CHECK(logistic[0][0].values[0].numerical_error < 1e-12);
  CHECK((logistic[1][0].values[0].numerical_error > 1e-3 ||
         !logistic[1][0].values[0].reason.empty()));
  const auto diverges = all(
      [&] {
        TheoryText text = chaos;
        text.rate = {{"x", "10*x*(1 + x)"}};
        return text;
      }(),
      {"t"},
      {{3}, {200}});
  CHECK(diverges[0][0].values[0].reason.empty());
  CHECK_THAT(diverges[1][0].values[0].reason, Contains("after step"));
}

TEST_CASE("TextTheory: self-consistent equations", "[solvers][formula]") {
  const auto curie = solve({{"m", "0.5"}}, {{"m", "tanh(b*m)"}}, {{"m", "m"}});
  const auto points = all(curie, {"b"}, {{1.5}, {0.5}, {1.001}});
  CHECK(points[0][0].values[0].value == Approx(0.8585596366401103).epsilon(1e-12));
  CHECK(points[0][0].residual < 1e-12);
  CHECK(points[0][0].radius == Approx(1.5 * (1 - std::pow(0.8585596366401103, 2))).epsilon(1e-6));
  CHECK(std::abs(points[1][0].values[0].value) < 1e-8);
  // m^2 = 3 (b - 1)/b^3 near the transition.
  CHECK(points[2][0].values[0].value == Approx(std::sqrt(0.003)).epsilon(0.01));
  // Sherrington and Kirkpatrick's replica-symmetric q at b = 2, SciPy.
  const auto sk = solve({{"q", "0.5"}}, {{"q", "normal(z, tanh(b*sqrt(q)*z)^2)"}}, {{"q", "q"}});
  const TextPoint q = all(sk, {"b"}, {{2}})[0][0];
  CHECK(q.values[0].value == Approx(0.5303683920507931).epsilon(1e-9));
  // From next to the unstable solution the iteration leaves it.
  const auto leaves = solve({{"m", "1e-6"}}, {{"m", "tanh(b*m)"}}, {{"m", "m"}});
  CHECK(all(leaves, {"b"}, {{1.5}})[0][0].values[0].value ==
        Approx(0.8585596366401103).epsilon(1e-12));
  // Oscillation is damped.
  const auto cosine = solve({{"u", "1"}}, {{"u", "1 - 3*tanh(u)"}}, {{"u", "u"}});
  const double u = all(cosine, {}, {{}})[0][0].values[0].value;
  CHECK(u == Approx(1 - 3 * std::tanh(u)).epsilon(1e-12));
  // Powell's method, for a system whose iteration diverges.
  TheoryText zero = solve({{"u", "1"}, {"v", "1"}}, {}, {{"u", "u"}, {"v", "v"}});
  zero.zero = {{"u", "u^2 + v^2 - 4"}, {"v", "exp(u) + v - 1"}};
  const auto solution = all(zero, {}, {{}})[0][0];
  const double a = solution.values[0].value, b = solution.values[1].value;
  CHECK(a * a + b * b == Approx(4).epsilon(1e-12));
  CHECK(std::exp(a) + b == Approx(1).margin(1e-12));
}

TEST_CASE("TextTheory: branches, the lowest, domains, and no solution", "[solvers][formula]") {
  TheoryText two = solve({{"m", "0.5"}}, {{"m", "tanh(2*m + h)"}}, {{"m", "m"}});
  two.starts = {{"up", {{"m", "0.9"}}}, {"down", {{"m", "-0.9"}}}};
  two.branches = true;
  auto points = all(two, {"h"}, {{0.1}, {1.5}});
  REQUIRE(points[0].size() == 2);
  CHECK(points[0][0].branch == 1);
  CHECK(points[0][0].values[0].value > 0);
  CHECK(points[0][1].branch == 2);
  CHECK(points[0][1].values[0].value < 0);
  CHECK(points[1].size() == 1);  // beyond the spinodal
  two.branches = false;
  two.choose = "lowest m^2 - log(2*cosh(2*m + h))";
  points = all(two, {"h"}, {{0.1}, {-0.1}});
  CHECK(points[0][0].values[0].value > 0);
  CHECK(points[1][0].values[0].value < 0);
  two.choose = "";
  CHECK_THAT(all(two, {"h"}, {{0.1}})[0][0].values[0].reason, Contains("2 solutions"));
  // Followed down from large h, the upper branch persists to h < 0.
  TheoryText follow = solve({{"m", "h"}}, {{"m", "tanh(2*m + h)"}}, {{"m", "m"}});
  follow.follow = "-h";
  const Places down = {{-0.2}, {0.2}, {0.6}, {1.0}};
  points = all(follow, {"h"}, down);
  CHECK(points[0][0].values[0].value > 0);
  // Places that only make a line smooth change nothing of the others.
  Places more = down;
  more.insert(more.end(), {{0.0}, {0.8}, {-0.1}});
  const auto smooth = TextTheory(follow, {"h"}).evaluate(more, down.size()).points;
  for (std::size_t k = 0; k < down.size(); ++k)
    CHECK(smooth[k][0].values[0].value == points[k][0].values[0].value);
  CHECK(smooth[4][0].values[0].value > 0);
  TheoryText domain = solve({{"m", "0.5"}}, {{"m", "m - 1"}}, {{"m", "m"}});
  domain.domain = {{"m", "m > 0"}};
  CHECK_FALSE(all(domain, {}, {{}})[0][0].values[0].reason.empty());
  CHECK_FALSE(all(solve({{"m", "1"}}, {{"m", "m + 1"}}, {{"m", "m"}}), {}, {{}})[0][0]
                  .values[0]
                  .reason.empty());
}

TEST_CASE("TextTheory: followed solutions are those from anew", "[solvers][formula]") {
  // Two unknowns with averages, one with a pole, and equations by `zero`.
  TheoryText averages = solve(
      {{"m", "0.9"}, {"q", "0.9"}},
      {{"m", "normal(z, tanh(b*m + sqrt(q)*z))"}, {"q", "normal(z, tanh(b*m + sqrt(q)*z)^2)"}},
      {{"m", "m"}, {"q", "q"}});
  TheoryText zero = solve({{"m", "0.9"}, {"q", "0.9"}}, {}, {{"m", "m"}, {"q", "q"}});
  zero.zero = {{"m", "m^3 + m*q - b"}, {"q", "q + exp(q) - b*m"}};
  TheoryText pole = solve({{"m", "1"}}, {{"m", "1/(b + m)"}}, {{"m", "m"}});
  for (const TheoryText& text : {averages, zero, pole}) {
    Places places;
    for (int k = 0; k < 40; ++k) places.push_back({1.7 + 0.03 * k});
    places.push_back({40});
    const auto anew = all(text, {"b"}, places);
    for (const char* along : {"b", "-b"}) {
      TheoryText followed = text;
      followed.follow = along;
      const auto points = all(followed, {"b"}, places);
      for (std::size_t k = 0; k < places.size(); ++k) {
        INFO(along << " " << places[k][0] << ": " << points[k][0].values[0].reason << "; anew "
                   << anew[k][0].values[0].reason);
        REQUIRE(points[k][0].values.size() == anew[k][0].values.size());
        for (std::size_t y = 0; y < anew[k][0].values.size(); ++y) {
          CHECK(points[k][0].values[y].value == Approx(anew[k][0].values[y].value).epsilon(1e-10));
        }
        CHECK(points[k][0].radius == Approx(anew[k][0].radius).epsilon(1e-6));
      }
    }
  }
  // Where the stable solution ends, what is followed ends with it: no jump to the unstable one.
  TheoryText fold = solve({{"m", "1"}}, {{"m", "tanh(2*m + h)"}}, {{"m", "m"}});
  fold.follow = "-h";
  Places down;
  for (int k = 0; k <= 60; ++k) down.push_back({0.3 - 0.02 * k});
  for (const auto& point : all(fold, {"h"}, down)) {
    REQUIRE(point[0].values[0].reason.empty());
    CHECK(point[0].radius <= 1 + 1e-5);
  }
}

TEST_CASE("TextTheory: solutions that are not fixed, or not told apart", "[solvers][formula]") {
  const auto reason = [](const TheoryText& text) {
    return all(text, {}, {{}})[0][0].values[0].reason;
  };
  // A line of solutions.
  CHECK_THAT(reason(solve({{"m", "0.3"}, {"q", "0.2"}}, {{"m", "q"}, {"q", "m"}}, {{"m", "m"}})),
             Contains("move along a line"));
  // A start at which the equations have no slope.
  TheoryText square = solve({{"m", "0"}}, {}, {{"m", "m"}});
  square.zero = {{"m", "m^2 - 1"}};
  CHECK_THAT(reason(square), Contains("no slope"));
  square.starts = {{"1", {{"m", "2"}}}, {"2", {{"m", "-2"}}}};
  CHECK_THAT(reason(square), Contains("2 solutions"));
  square.choose = "lowest log(m)";
  CHECK_THAT(reason(square), Contains("is not a number at one of 2 solutions"));
  square.choose = "lowest m";
  CHECK(all(square, {}, {{}})[0][0].values[0].value == Approx(-1));
  square.choose = "lowest m^2";
  const TextResult tie = TextTheory(square, {}).evaluate({{}}, 1);
  CHECK(tie.points[0][0].values[0].value == Approx(1));
  REQUIRE(tie.remarks.size() == 1);
  CHECK_THAT(tie.remarks[0], Contains("the same at several solutions"));
}

TEST_CASE("TextTheory: the error follows the solution's sensitivity", "[solvers][formula]") {
  // Near the fold of u^2 = e a small error of e is a large one of u.
  const auto far =
      solve({{"u", "1"}}, {{"u", "u - u^2 + h + normal(z, abs(z)) - sqrt(2/pi)"}}, {{"u", "u"}});
  const auto points = all(far, {"h"}, {{0.25}, {1e-4}});
  CHECK(points[0][0].values[0].value == Approx(0.5).epsilon(1e-9));
  CHECK(points[1][0].values[0].value == Approx(0.01).epsilon(1e-6));
  CHECK(points[1][0].values[0].numerical_error >= points[0][0].values[0].numerical_error);
}

TEST_CASE("TextTheory: what is refused before any work", "[solvers][formula]") {
  const auto refused = [](const TheoryText& text, const std::string& message) {
    INFO(message);
    CHECK_THROWS_WITH(TextTheory(text, {"t", "x"}), Contains(message));
  };
  refused(flow({{"m", "1"}}, {{"m", "1 - mm"}}, {{"y", "m"}}), "theory.flow.rate.m");
  refused(flow({{"m", "1"}}, {{"q", "1"}}, {{"y", "m"}}), "no formula for 'm'");
  refused(flow({{"m", "1"}, {"q", "1"}}, {{"m", "1"}}, {{"y", "m"}}), "no formula for 'q'");
  refused(flow({{"m", "q"}, {"q", "1"}}, {{"m", "1"}, {"q", "1"}}, {{"y", "m"}}),
          "there is no 'q'");
  refused(flow({{"m", "1"}}, {{"m", "1"}}, {}), "no series");
  refused(flow({{"t", "1"}}, {{"t", "1"}}, {{"y", "t"}}), "defined twice");
  refused(flow({{"a[k]", "1"}}, {{"a[k]", "1"}}, {{"y", "a[1]"}}), "each = {k = 50}");
  // Names that cannot be, by their key.
  refused(flow({{"exp", "1"}}, {{"exp", "1"}}, {{"y", "1"}}), "theory.flow.start.exp");
  refused(solve({{"2m", "1"}}, {{"2m", "1"}}, {{"y", "1"}}), "theory.solve.unknowns.2m");
  TheoryText wrong_time = flow({{"m", "1"}}, {{"m", "1"}}, {{"y", "m"}});
  wrong_time.time = "tt";
  refused(wrong_time, "theory.flow.time");
  TheoryText unused = flow({{"m", "1"}}, {{"m", "1"}}, {{"y", "m"}});
  unused.let = {{"g", "2"}};
  refused(unused, "theory.let.g");
  TheoryText many = flow({{"a[k]", "1"}}, {{"a[k]", "1"}}, {{"y", "a[1]"}});
  many.index = "k";
  many.count = 200'000;
  refused(many, "100000 states");
  TheoryText both = solve({{"m", "1"}}, {{"m", "m/2"}}, {{"y", "m"}});
  both.zero = {{"m", "m"}};
  refused(both, "one of fixed");
  TheoryText choose = solve({{"m", "1"}}, {{"m", "m/2"}}, {{"y", "m"}});
  choose.choose = "highest m";
  refused(choose, "lowest FORMULA");
  choose.choose = "";
  choose.follow = "z";
  refused(choose, "theory.solve.follow");
  // A formula that cannot be read is named by its key before any other.
  TheoryText sine = flow({{"sin", "1"}}, {{"sin", "sin"}}, {{"y", "1"}});
  CHECK_THROWS_WITH(needed_names(sine), Contains("theory.flow.rate.sin"));
}

TEST_CASE("TextTheory: the stated error of a flow is a bound", "[solvers][formula]") {
  struct Flow {
    Texts start, rate, series;
    double last;
  };
  // Smooth, chaotic, with kinks and jumps, with a start that is a square root.
  const std::vector<Flow> flows = {
      {{{"m", "0.02"}, {"q", "1"}},
       {{"m", "q^(-0.5)*(1 - m^2)"}, {"q", "-2*q + 2*m"}},
       {{"overlap", "m/sqrt(q)"}},
       10},
      {{{"u", "1"}, {"v", "0"}}, {{"u", "v"}, {"v", "-u"}}, {{"u", "u"}}, 30},
      {{{"s", "0.999"}, {"i", "0.001"}},
       {{"s", "-0.5*s*i"}, {"i", "0.5*s*i - 0.1*i"}},
       {{"i", "i"}},
       100},
      {{{"a", "1"}, {"b", "1"}, {"c", "1"}},
       {{"a", "10*(b - a)"}, {"b", "a*(28 - c) - b"}, {"c", "a*b - 8/3*c"}},
       {{"a", "a"}},
       10},
      {{{"y", "1"}}, {{"y", "0.1 - abs(sin(3*t))*y"}}, {{"y", "y"}}, 10},
      {{{"y", "0"}}, {{"y", "sin(5*t) > 0 ? 1 : -0.5"}}, {{"y", "y"}}, 10},
      {{{"y", "0"}}, {{"y", "sqrt(abs(y)) + 1e-3"}}, {{"y", "y"}}, 5},
  };
  for (const Flow& one : flows) {
    const TheoryText text = flow(one.start, one.rate, one.series);
    Places places;
    for (int k = 1; k <= 200; ++k) places.push_back({one.last * k / 200});
    const auto points = all(text, {"t"}, places);
    const auto exact =
        TextTheory(text, {"t"}, Effort{.flow_tolerance = 1e-13}).evaluate(places, 200).points;
    for (std::size_t k = 0; k < places.size(); ++k) {
      const TextValue& v = points[k][0].values[0];
      INFO(one.rate.front().second << " at " << places[k][0]);
      REQUIRE(v.reason.empty());
      CHECK(std::abs(v.value - exact[k][0].values[0].value) <= v.numerical_error);
    }
  }
}

TEST_CASE("TextTheory: no value where no digit is certain", "[solvers][formula]") {
  // At the pole itself one solution lies before it, and one beyond.
  const auto blow = all(flow({{"y", "1"}}, {{"y", "y^2"}}, {{"y", "y"}}), {"t"}, {{0.5}, {1}});
  CHECK(blow[0][0].values[0].value == Approx(2).epsilon(1e-8));
  CHECK_FALSE(blow[1][0].values[0].reason.empty());
  // The logistic map of an age at which the start's last bit decides.
  TheoryText chaos = flow({{"x", "0.3"}}, {{"x", "3.9*x*(1 - x)"}}, {{"x", "x"}});
  chaos.kind = TheoryText::Kind::map;
  std::size_t none = 0;
  Places late;
  for (int k = 0; k < 20; ++k) late.push_back({1000.0 + k});
  for (const auto& point : all(chaos, {"t"}, late)) {
    const TextValue& v = point[0].values[0];
    if (!v.reason.empty()) {
      CHECK_THAT(v.reason, Contains("no digit is certain"));
      ++none;
    }
  }
  CHECK(none >= 19);
  // One time alone: two paths that are lost agree now and then.
  for (const double t : {100.0, 200.0, 300.0}) {
    const TextValue v = all(chaos, {"t"}, {{t}})[0][0].values[0];
    CHECK_FALSE(v.reason.empty());
  }
  const TheoryText lorenz =
      flow({{"a", "1"}, {"b", "1"}, {"c", "1"}},
           {{"a", "10*(b - a)"}, {"b", "a*(28 - c) - b"}, {"c", "a*b - 8/3*c"}},
           {{"a", "a"}});
  for (const double t : {60.0, 65.0, 70.0})
    CHECK_FALSE(all(lorenz, {"t"}, {{t}})[0][0].values[0].reason.empty());
  // What is zero has rounding, and a value.
  const auto zero = all(flow({{"u", "1"}, {"v", "1"}},
                             {{"u", "-u"}, {"v", "-v*(2 - 1)"}},
                             {{"d", "u - v"}, {"u", "u"}}),
                        {"t"},
                        {{3}, {60}});
  for (const auto& point : zero) {
    for (const TextValue& v : point[0].values) CHECK(v.reason.empty());
  }
  // A pulse of a fiftieth of the time is met, though nothing happens before it.
  const auto pulse =
      all(flow({{"y", "0"}}, {{"y", "exp(-((t - 5)/0.1)^2)"}}, {{"y", "y"}}), {"t"}, {{10}});
  CHECK(pulse[0][0].values[0].value == Approx(0.1 * std::sqrt(3.14159265358979)).epsilon(1e-8));
}

TEST_CASE("TextTheory: what is no zero is no solution", "[solvers][formula]") {
  const auto value = [](const std::string& formula) {
    TheoryText text = solve({{"m", "3"}}, {}, {{"m", "m"}});
    text.zero = {{"m", formula}};
    return all(text, {}, {{}})[0][0].values[0];
  };
  // Jumps over zero, a pole, and a function that falls to zero at infinity.
  for (const char* formula : {"m > 2 ? 1 : -1", "1/(m - 2)", "exp(-m)", "1/(1 + m^2)", "m^2 + 1"}) {
    INFO(formula);
    CHECK_FALSE(value(formula).reason.empty());
    CHECK(std::isnan(value(formula).value));
  }
  CHECK(value("(m - 2)^2").value == Approx(2).epsilon(1e-6));
  CHECK(value("m^3").value == Approx(0).margin(1e-4));
  CHECK(value("1e-9*(m - 2)").value == Approx(2));
  // A start on a solution that the iteration leaves is told.
  const TheoryText curie = solve({{"m", "0"}}, {{"m", "tanh(b*m)"}}, {{"m", "m"}});
  const auto told = TextTheory(curie, {"b"}).evaluate({{0.5}, {1.5}}, 2).remarks;
  REQUIRE(told.size() == 1);
  CHECK_THAT(told[0], Contains("eigenvalue 1.5") && Contains("b = 1.5"));
}

TEST_CASE("TextTheory: flows from small starts, and to small ends", "[solvers][formula]") {
  // Escapes from a point next to an unstable one, whatever the distance.
  for (const double start : {1e-4, 1e-12, 1e-20, 1e-60, 1e-250}) {
    const TheoryText escape = flow({{"m", "a"}}, {{"m", "m*(1 - m)"}}, {{"m", "m"}});
    Places places;
    const double half = -std::log(start);  // m = 1/2 there
    for (const double t : {0.1 * half, 0.5 * half, half - 1, half, half + 1, half + 20})
      places.push_back({start, t});
    const auto points = all(escape, {"a", "t"}, places);
    for (std::size_t k = 0; k < places.size(); ++k) {
      const TextValue& v = points[k][0].values[0];
      const double grown = start * std::exp(places[k][1]);
      const double exact = grown / (1 - start + grown);
      INFO(start << " at " << places[k][1]);
      REQUIRE(v.reason.empty());
      CHECK(v.value == Approx(exact).epsilon(1e-7));
      CHECK(std::abs(v.value - exact) <= v.numerical_error);
    }
  }
  // An event, and a second state of size 1.
  TheoryText two = flow({{"m", "1e-15"}, {"q", "1"}}, {{"m", "m*q"}, {"q", "0*m"}}, {{"m", "m"}});
  two.event = "m - 1e-10";
  const auto event = all(two, {"t"}, {{1}, {11}, {12}});
  CHECK(event[1][0].values[0].value == Approx(1e-15 * std::exp(11)).epsilon(1e-8));
  CHECK_THAT(event[2][0].values[0].reason, Contains("t = 11.5129"));
  // A state that has fallen below the absolute tolerance: its logarithm is none.
  const TheoryText decay =
      flow({{"m", "1"}}, {{"m", "-m"}}, {{"m", "m"}, {"log", "log(m)"}, {"inverse", "1/m"}});
  Places late;
  for (int t = 1; t <= 120; ++t) late.push_back({double(t)});
  const auto points = all(decay, {"t"}, late);
  for (std::size_t k = 0; k < late.size(); ++k) {
    const double t = late[k][0];
    const auto& values = points[k][0].values;
    INFO(t);
    CHECK(values[0].reason.empty());
    CHECK(std::abs(values[0].value - std::exp(-t)) <= values[0].numerical_error);
    if (values[1].reason.empty()) CHECK(std::abs(values[1].value + t) <= values[1].numerical_error);
    if (values[2].reason.empty())
      CHECK(std::abs(values[2].value - std::exp(t)) <= values[2].numerical_error);
  }
  CHECK(points[9][0].values[1].reason.empty());
  CHECK_FALSE(points[99][0].values[1].reason.empty());
}

TEST_CASE("TextTheory: iterations that fall to zero", "[solvers][formula]") {
  const TheoryText curie = solve({{"m", "0.9"}}, {{"m", "tanh(b*m)"}}, {{"m", "m"}});
  for (const double b : {0.2, 0.8, 0.9, 0.95, 0.999, 1.0}) {
    const TextPoint point = all(curie, {"b"}, {{b}})[0][0];
    INFO(b);
    CHECK(point.values[0].reason == "");
    CHECK(point.values[0].value == Approx(0).margin(1e-200));
    CHECK(point.iterations < 5000);
  }
  CHECK(all(curie, {"b"}, {{1.001}})[0][0].values[0].value ==
        Approx(0.05472301031796).epsilon(1e-9));
  // Slow next to where two other solutions have met: zero is one, but not theirs.
  const TheoryText bistable =
      solve({{"m", "2"}}, {{"m", "m - 0.01*m*((m - 1)^2 + e)"}}, {{"m", "m"}});
  const TextPoint passed = all(bistable, {"e"}, {{0.04}})[0][0];
  CHECK(passed.values[0].value == Approx(0).margin(1e-200));
  const TextPoint held = all(bistable, {"e"}, {{-0.04}})[0][0];
  CHECK(held.values[0].value == Approx(1.2).epsilon(1e-9));
  // Where zero is no solution, none is made of it.
  CHECK(all(solve({{"m", "1"}}, {{"m", "0.999*m + 1e-6"}}, {{"m", "m"}}), {}, {{}})[0][0]
            .values[0]
            .value == Approx(1e-3).epsilon(1e-8));
}

}  // namespace theory_text_test
