#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/solvers/formula/evaluator.hpp"

using namespace attica;
using namespace attica::formula;
using Catch::Contains;

namespace formula_test {

/// A formula of x, at the given effort.
double value(const std::string& text, double x = 0.7, const Effort& effort = {}) {
  Sheet sheet;
  const int slot = sheet.scalar("x");
  const Group group = sheet.compile({{"formula", text}});
  Evaluator e(sheet, effort);
  e[slot] = x;
  e.prepare();
  return e.value(group);
}

double phi(double z) { return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi); }

TEST_CASE("formula: Gaussian averages of smooth functions", "[solvers][formula]") {
  CHECK(value("normal(z, z^2)") == Approx(1).epsilon(1e-13));
  CHECK(value("normal(z, z^4)") == Approx(3).epsilon(1e-13));
  CHECK(value("normal(z, z)") == Approx(0).margin(1e-15));
  CHECK(value("normal(z, exp(x*z))") == Approx(std::exp(0.245)).epsilon(1e-12));
  CHECK(value("normal(z, cos(3*z))") == Approx(std::exp(-4.5)).epsilon(1e-10));
  // SciPy's quad on [-12, 12].
  CHECK(value("normal(z, tanh(x*z + 0.3)^2)") == Approx(0.29940895504372866).epsilon(1e-11));
  CHECK(value("normal(z, normal(w, tanh(x*z + w))^2)") ==
        Approx(0.1403632763312374).epsilon(1e-10));
}

TEST_CASE("formula: averages with kinks and jumps are adaptive", "[solvers][formula]") {
  CHECK(value("normal(z, abs(z))") == Approx(std::sqrt(2 / std::numbers::pi)).epsilon(1e-10));
  CHECK(value("normal(z, max(z, 0)^2)") == Approx(0.5).epsilon(1e-10));
  CHECK(value("normal(z, z > x ? 1 : 0)") ==
        Approx(0.5 * std::erfc(0.7 / std::numbers::sqrt2)).epsilon(1e-9));
  CHECK(value("normal(z, 1/(1 + (50*z)^2))") ==
        Approx(std::sqrt(std::numbers::pi / 2) / 50 * std::exp(2e-4) *
               std::erfc(0.02 / std::numbers::sqrt2))
            .epsilon(1e-10));
}

TEST_CASE("formula: averages over correlated pairs", "[solvers][formula]") {
  CHECK(value("normal(z, w, x, z*w)") == Approx(0.7).epsilon(1e-13));
  CHECK(value("normal(z, w, x, z^2*w^2)") == Approx(1 + 2 * 0.49).epsilon(1e-13));
  CHECK(value("normal(z, w, 1, (z - w)^2)") == Approx(0).margin(1e-25));
  CHECK(value("normal(z, w, x, erf(z/sqrt(2))*erf(w/sqrt(2)))") ==
        Approx(2 / std::numbers::pi * std::asin(0.35)).epsilon(1e-9));
  CHECK_THROWS_WITH(value("normal(z, w, 2*x, z*w)"), Contains("correlation 1.4"));
  // Kinks within a strip that is narrower than nodes are apart (arc-cosine kernels of order 0, 1).
  for (const double rho : {-0.9999, -0.7, 0.3, 0.99, 0.999, 0.99999}) {
    CAPTURE(rho);
    const double angle = std::acos(rho), tau = 2 * std::numbers::pi;
    CHECK(value("normal(z, w, x, max(z, 0)*max(w, 0))", rho) ==
          Approx((std::sin(angle) + (std::numbers::pi - angle) * rho) / tau)
              .epsilon(1e-8)
              .margin(1e-10));
    CHECK(value("normal(z, w, x, z > 0 && w > 0 ? 1 : 0)", rho) ==
          Approx((std::numbers::pi - angle) / tau).epsilon(1e-5));
  }
}

TEST_CASE("formula: peaks between the nodes of quadrature", "[solvers][formula]") {
  const double gauss = std::sqrt(2 * std::numbers::pi);
  for (const double at : {0.0, -7.0, 20.0, 30.0, -36.0}) {
    CAPTURE(at);
    CHECK(value("integral(u, -inf, inf, exp(-(u - x)^2/2))", at) == Approx(gauss).epsilon(1e-9));
    CHECK(value("integral(u, -inf, inf, u*exp(-(u - x)^2/2))", at) ==
          Approx(at * gauss).epsilon(1e-9).margin(1e-9));
    CHECK(value("integral(u, -100, 100, exp(-(u - x)^2/2))", at) == Approx(gauss).epsilon(1e-9));
  }
  CHECK(value("integral(u, -inf, inf, exp(-(u - 25)^2/2) + exp(-(u + 30)^2/2))") ==
        Approx(2 * gauss).epsilon(1e-9));
  CHECK(value("integral(u, 0, inf, exp(-abs(u - 40)))") == Approx(2).epsilon(1e-9));
}

TEST_CASE("formula: integrals and sums", "[solvers][formula]") {
  CHECK(value("integral(u, 0, 1, log(u)) ") == Approx(-1).epsilon(1e-10));
  CHECK(value("integral(u, 1, 0, u)") == Approx(-0.5).epsilon(1e-13));
  CHECK(value("integral(u, 0, inf, exp(-u)*u^x)") == Approx(std::tgamma(1.7)).epsilon(1e-9));
  CHECK(value("integral(u, -inf, inf, exp(-u^2))") ==
        Approx(std::sqrt(std::numbers::pi)).epsilon(1e-10));
  CHECK(value("integral(u, -inf, x, exp(u))") == Approx(std::exp(0.7)).epsilon(1e-10));
  // The largest of nine standard normals, SciPy.
  CHECK(value("9*integral(u, -inf, inf, u*exp(-u^2/2)/sqrt(2*pi)*(erfc(-u/sqrt(2))/2)^8)") ==
        Approx(1.4850131622092368).epsilon(1e-9));
  CHECK(value("sum(k, 1, 1000, 1/k^2)") == Approx(1.6439345666815598).epsilon(1e-14));
  CHECK(value("sum(k, 0, 40, x^k/exp(lgamma(k + 1)))") == Approx(std::exp(0.7)).epsilon(1e-14));
  CHECK(value("sum(k, 3, 2, k)") == 0);
  CHECK(value("sum(1, 2, 3, x)") == 6.7);  // of four numbers
  CHECK_THROWS_WITH(value("sum(k, 0.5, 3, k)"), Contains("whole numbers"));
  CHECK_THROWS_WITH(value("sum(k, 1, 1e9, k)"), Contains("1e7"));
  CHECK_THROWS_WITH(value("integral(u, 0, 1, 1/(u - 0.5)^2) "), Contains("integral(u, ...)"));
}

TEST_CASE("formula: roots", "[solvers][formula]") {
  CHECK(value("root(y, 0, 2, y^2 - x)") == Approx(std::sqrt(0.7)).epsilon(1e-14));
  CHECK(value("root(y, -inf, inf, exp(y) - x)") == Approx(std::log(0.7)).epsilon(1e-13));
  CHECK(value("root(y, 0, inf, y^3 - 1e12)") == Approx(1e4).epsilon(1e-13));
  CHECK(value("root(y, 0, 1, y)") == 0);
  CHECK_THROWS_WITH(value("root(y, 1, 2, y^2)"), Contains("no change of sign: 1 at 1, 4 at 2"));
  CHECK_THROWS_WITH(value("root(y, -1, 2, 1/y)"), Contains("no root there"));
  CHECK_THROWS_WITH(value("root(y, 2, 1, y)"), Contains("the first below the second"));
}

TEST_CASE("formula: minimisers", "[solvers][formula]") {
  CHECK(value("argmin(y, -inf, inf, (y - x)^2)") == Approx(0.7).epsilon(1e-14));
  // Soft threshold: kinks are minima, too.
  CHECK(value("argmin(y, -inf, inf, 0.5*abs(y) + (y - x)^2/2)") == Approx(0.2).epsilon(1e-12));
  CHECK(value("argmin(y, -inf, inf, abs(y) + (y - x)^2/2)") == Approx(0).margin(1e-12));
  CHECK(value("argmin(y, 0, 1, -y)") == 1);
  CHECK(value("argmin(y, 0, inf, lgamma(y))") == Approx(1.4616321449683623).epsilon(1e-7));
  // The lower of two.
  CHECK(value("argmin(y, -inf, inf, (y^2 - 1)^2 - 0.1*y)") > 0.9);
  CHECK_THROWS_WITH(value("argmin(y, -inf, inf, y)"), Contains("no minimum"));
  // The proximal map of the logistic loss inside an average, SciPy.
  const std::string prox = "argmin(y, -inf, inf, log(1 + exp(-y)) + (y - z)^2/(2*x))";
  CHECK(value("normal(z, (" + prox + " - z)^2)", 1) == Approx(0.19998429962886005).epsilon(1e-9));
  CHECK(value("normal(z, (" + prox + " - z)^2)", 3) == Approx(0.9614587871671876).epsilon(1e-9));
}

TEST_CASE("formula: derivatives", "[solvers][formula]") {
  CHECK(value("d(x, x^3)") == Approx(3 * 0.49).epsilon(1e-14));
  CHECK(value("d(x, d(x, x^4))") == Approx(12 * 0.49).epsilon(1e-14));
  std::string nested = "exp(sin(x)*cos(x)*x)";
  for (int k = 0; k < 12; ++k) nested = "d(x, " + nested + ")";
  CHECK_THROWS_WITH(value(nested), Contains("at most three derivatives"));
  CHECK(value("d(x, normal(z, exp(x*z)))") == Approx(0.7 * std::exp(0.245)).epsilon(1e-11));
  // By differences: a root, a limit of integration, a jump under an average.
  CHECK(value("d(x, root(y, 0, 2, y^2 - x))") == Approx(0.5 / std::sqrt(0.7)).epsilon(1e-9));
  CHECK(value("d(x, integral(u, 0, x, u^2))") == Approx(0.49).epsilon(1e-9));
  CHECK(value("d(x, normal(z, z > x ? 1 : 0))") == Approx(-phi(0.7)).epsilon(1e-5));
  for (const char* f : {"sin(x)*cos(x)/tan(x)",
                        "exp(x)^2 + log(x) - log10(x) + log2(x)",
                        "x^x",
                        "asin(x) + acos(x^2) + atan(x)",
                        "sinh(x)*cosh(x) - tanh(x)",
                        "asinh(x) + acosh(1 + x) + atanh(x/2)",
                        "sqrt(x) + erf(x)*erfc(x)",
                        "log1p(x) + expm1(x)",
                        "min(x, x^2) + max(x, x^2) + abs(-x)",
                        "(x > 0.5 ? x^2 : x^3) + sum(x, x) + avg(x, 1)"}) {
    INFO(f);
    const auto at = [&](double x) { return value(f, x); };
    const double h = 1e-5;
    const double differences =
        (8 * (at(0.7 + h) - at(0.7 - h)) - (at(0.7 + 2 * h) - at(0.7 - 2 * h))) / (12 * h);
    CHECK(value("d(x, " + std::string(f) + ")") == Approx(differences).epsilon(1e-8));
  }
}

TEST_CASE("formula: averages of what oscillates from node to node", "[solvers][formula]") {
  for (const double x : {0.5, 9.7, 10.5, 15.0, 20.0, 20.9, 21.7, 31.4, 35.28, 35.65, 41.9, 62.8}) {
    INFO("cos(" << x << " z)");
    const double exact = std::exp(-0.5 * x * x);
    CHECK(value("normal(z, cos(x*z))", x) == Approx(exact).margin(1e-10));
    CHECK(value("normal(z, cos(x*z))", x, {.half = true}) == Approx(exact).margin(1e-8));
    CHECK(value("normal(z, cos(x*z)^2)", x) == Approx(0.5 + 0.5 * std::exp(-2 * x * x)));
  }
}

TEST_CASE("formula: what cancels is off by its rounding, and says so", "[solvers][formula]") {
  const auto off = [](const std::string& f, double exact) {
    const double found = value(f), error = std::abs(found - value(f, 0.7, {.half = true}));
    INFO(f << ": " << found << " +- " << error);
    return std::pair(std::abs(found - exact), error);
  };
  for (const auto& [f, exact] : std::vector<std::pair<std::string, double>>{
           {"sum(k, 0, 100, (-30)^k/exp(lgamma(k + 1)))", std::exp(-30)},
           {"sum(k, 0, 60, (-10)^k/exp(lgamma(k + 1)))", std::exp(-10)},
           {"normal(z, z^3 + 1e-12*z^2)", 1e-12},
           {"normal(z, w, -1, exp(z + w) + z*w)", 0}}) {
    const auto [difference, error] = off(f, exact);
    CHECK(difference <= error);
  }
  // Nothing is lost where nothing cancels.
  CHECK(off("sum(k, 1, 1000, 1/k^2)", 0).second == 0);
  CHECK(off("normal(z, z^2)", 1).second < 1e-13);
}

TEST_CASE("formula: what is no minimum and no zero", "[solvers][formula]") {
  CHECK_THROWS_WITH(value("argmin(y, 0, inf, exp(-y))"), Contains("no minimum"));
  CHECK_THROWS_WITH(value("argmin(y, -inf, inf, 1/(1 + exp(y)))"), Contains("no minimum"));
  const auto remarks = [](const std::string& f) {
    Sheet sheet;
    const Group group = sheet.compile({{"formula", f}});
    Evaluator e(sheet, {});
    e.prepare();
    e.value(group);
    return e.remarks().empty() ? std::string() : e.remarks().front();
  };
  CHECK_THAT(remarks("root(y, 0, 1, y > 0.3 ? 1 : -1)"),
             Contains("jumps over zero at 0.3, from -1 to 1"));
  CHECK_THAT(remarks("normal(z, abs(z - 1.234567) < 1e-3 ? 1 : 0)"), Contains("narrow peak"));
  CHECK(remarks("root(y, 0, 1, (y - 0.5)^9)").empty());
  CHECK(remarks("root(y, 0, 1, tanh(1e6*(y - 0.3)))").empty());
  CHECK(remarks("normal(z, z > 1 ? 1 : 0)").empty());
  CHECK(value(std::string(100, '(') + "x" + std::string(100, ')')) == 0.7);
}

TEST_CASE("formula: there is no derivative at a kink or a jump", "[solvers][formula]") {
  for (const char* f : {"abs(x)",
                        "abs(x - 2*x)",
                        "max(x, 0)",
                        "max(-x, 3*x)",
                        "min(x, 2*x, 1)",
                        "sign(x)",
                        "floor(x)",
                        "x > 0 ? x : 0",
                        "x <= 0 ? 1 : 2",
                        "x < 0 || x > 1 ? x : 2*x",
                        "exp(abs(x))",
                        "d(x, x*abs(x))",
                        "argmin(y, -inf, inf, abs(y - x)) + abs(x)",
                        "abs(root(y, -1, 1, y - x))"}) {
    INFO(f);
    CHECK_THROWS_WITH(value("d(x, " + std::string(f) + ")", 0), Contains("no derivative at 0"));
  }
  CHECK_THROWS_WITH(value("d(x, abs(x))", 0), Contains("-1 on the left and 1 on the right"));
  CHECK_THROWS_WITH(value("d(x, max(x, 0.7))"), Contains("no derivative at 0.7"));
  CHECK_THROWS_WITH(value("d(x, rint(x))", 0.5), Contains("no derivative at 0.5"));
  CHECK_THROWS_WITH(value("d(x, abs(x - 0.3))", 0.1 * 3), Contains("no derivative at 0.3"));
  // Where both sides agree there is one; next to a kink, too.
  CHECK(value("d(x, x*abs(x))", 0) == 0);
  CHECK(value("d(x, abs(x^3))", 0) == 0);
  CHECK(value("d(x, max(x, x))", 0) == 1);
  CHECK(value("d(x, x == 0 ? 1 : sin(x)/x)", 0) == 0);
  CHECK(value("d(x, x > 0 ? x^2 : -x^2)", 0) == 0);
  CHECK(value("d(x, abs(x))", 1e-3) == 1);
  CHECK(value("d(x, abs(x))", -1e-12) == -1);
  CHECK(value("d(x, floor(x))", 2.5) == 0);
  CHECK(value("d(x, exp(1e5*x) + abs(x - 1))", 0) == Approx(99999).epsilon(1e-12));
  // In an average or an integral the one point does not count.
  CHECK(value("integral(u, -1, 1, d(u, abs(u)))") == Approx(0).margin(1e-12));
  CHECK(value("integral(u, -1, 1, u*d(u, abs(u)))") == Approx(1).epsilon(1e-9));
  CHECK(value("normal(z, z*d(z, max(z, 0)))") == Approx(phi(0)).epsilon(1e-9));
  CHECK(value("normal(z, d(z, max(z - x, 0)))", 1) ==
        Approx(0.5 * std::erfc(1 / std::numbers::sqrt2)).epsilon(1e-9));
}

TEST_CASE("formula: there is no derivative at a kink of a definition", "[solvers][formula]") {
  Sheet sheet;
  const int x = sheet.scalar("x");
  sheet.define("a", {"let.a", "abs(x)"});
  const Group group = sheet.compile({{"formula", "d(x, 2*a)"}});
  Evaluator e(sheet, {});
  e[x] = 0;
  e.prepare();
  CHECK_THROWS_WITH(e.value(group), Contains("-2 on the left and 2 on the right"));
  e[x] = 0.4;
  e.prepare();
  CHECK(e.value(group) == Approx(2).epsilon(1e-9));
}

TEST_CASE("formula: a pair of evaluators has the values of each", "[solvers][formula]") {
  Sheet sheet;
  const int x = sheet.scalar("x", true), y = sheet.scalar("y", true), c = sheet.scalar("c");
  sheet.define("moves", {"let.moves", "1/(x - c)"});
  sheet.define("rests", {"let.rests", "normal(z, (z + c)^2)"});
  std::vector<Text> texts;
  for (const char* f : {"-x + y - 2*x*y/3",
                        "x^2 + x^3 + x^4 + x^0.5 + x^(-0.5) + x^(-1) + x^y",
                        "(x < y) + 2*(x <= y) + 4*(x > y) + 8*(x >= y) + 16*(x == y) + 32*(x != y)",
                        "x && y || x < 1 && y > 1 ? min(x, y, 0.4) : max(x, y)",
                        "atan2(x, y) + exp(x) + tanh(y) + sqrt(x) + erf(x*y) + avg(x, y, 1)",
                        "moves*rests",
                        "x"})
    texts.push_back({"f", f});
  const Group group = sheet.compile(texts);
  REQUIRE(EvaluatorPair::takes(sheet, group));
  Evaluator first(sheet, {}), second(sheet, {.half = true});
  for (Evaluator* e : {&first, &second}) {
    (*e)[c] = 0.25;
    e->prepare();
  }
  EvaluatorPair both(first, second);
  std::vector<EvaluatorPair::Pair> pairs(texts.size());
  std::vector<double> one(texts.size());
  for (const double at : {0.0, 0.25, 0.7, 1.3}) {
    const std::vector<std::pair<double, double>> numbers{{at, 0.7}, {1.3 - at, 0.7}};
    both[x] = {at, 1.3 - at};
    both[y] = {0.7, 0.7};
    both.evaluate(group, pairs.data());
    std::size_t l = 0;
    for (Evaluator* e : {&first, &second}) {
      INFO("x = " << numbers[l].first);
      (*e)[x] = numbers[l].first;
      (*e)[y] = numbers[l].second;
      const auto lane = static_cast<Eigen::Index>(l++);
      if (numbers[l - 1].first == 0.25) {
        CHECK_THROWS_WITH(e->evaluate(group, one), Contains("let.moves"));
        for (const auto& pair : pairs) CHECK(std::isnan(pair[lane]));
        continue;
      }
      e->evaluate(group, one);
      for (std::size_t k = 0; k < one.size(); ++k) {
        INFO(texts[k].formula);
        if (std::isnan(one[k]) || std::isinf(one[k])) {
          CHECK(std::isfinite(pairs[k][lane]) == false);
        } else {
          CHECK(pairs[k][lane] == Approx(one[k]).epsilon(1e-15));
        }
      }
    }
  }
  CHECK_FALSE(EvaluatorPair::takes(sheet, sheet.compile({{"f", "normal(z, z*x)"}})));
}

TEST_CASE("formula: definitions in any order, lists, elements", "[solvers][formula]") {
  Sheet sheet;
  const int x = sheet.scalar("x");
  sheet.define("b", {"let.b", "2*a"});
  sheet.define("a", {"let.a", "x + s[3]"});
  sheet.define({.where = "lists.s", .name = "s", .index = "k", .to = "5", .value = "k^2"});
  sheet.define({.where = "lists.w", .name = "w", .values = {1, 2}, .weights = {3, 1}});
  const Group group =
      sheet.compile({{"f", "b + mean(v, s, v)"}, {"g", "mean(v, w, v)"}, {"h", "d(x, b^2)"}});
  sheet.require_used();
  Evaluator e(sheet, {});
  std::vector<double> values(3);
  for (const double at : {1.0, -2.0}) {
    e[x] = at;
    e.prepare();
    e.evaluate(group, values);
    CHECK(values[0] == Approx(2 * (at + 9) + 11).epsilon(1e-15));
    CHECK(values[1] == 1.25);
    CHECK(values[2] == Approx(8 * (at + 9)).epsilon(1e-10));
  }
}

TEST_CASE("formula: groups with an index", "[solvers][formula]") {
  Sheet sheet;
  const int a = sheet.array("a", 700);
  const Group group =
      sheet.compile({{"f", "k > 1 ? a[k - 1] + k : 0"}, {"g", "sum(j, 1, 3, a[j])*k"}}, "k", 700);
  Evaluator e(sheet, {});
  for (int k = 0; k < 700; ++k) e[a + k] = 10 * k;
  std::vector<double> values(1400);
  e.evaluate(group, values);
  CHECK(values[0] == 0);
  CHECK(values[1] == 2);
  CHECK(values[699] == 6980 + 700);
  CHECK(values[700 + 299] == 30 * 300);
}

TEST_CASE("formula: what is refused, by name and place", "[solvers][formula]") {
  for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
           {"xx + 1", "'xx' (at character 1); did you mean 'x'?"},
           {"normal(z)", "normal(z, f) or normal(z, w, rho, f)"},
           {"normal(z, 2)", "to use 'z'"},
           {"sum(a, 2, 3, x)", "to use 'a'"},
           {"normal(x, x)", "hides"},
           {"normal(z, z + normal(z, z))", "hides"},
           {"normal(z, w, 0, z) ", "to use 'w'"},
           {"normal(z, z, 0, z)", "two different names"},
           {"normal(2, 3)", "a name as argument 1"},
           {"norml(z, z)", "did you mean 'normal'?"},
           {"gamma(x)", "no function 'gamma'; write exp(lgamma(x)), for x > 0"},
           {"mod(x, 2)", "no function 'mod'; write a - b*floor(a/b)"},
           {"cbrt(x)", "write sign(x)*abs(x)^(1/3)"},
           {"mean(v, x, v)", "a list in mean"},
           {"mean(v, s, v)", "there is no 's'"},
           {"d(x, 3)", "depends on 'x'"},
           {"d(y, x)", "there is no 'y'"},
           {"x[1]", "without [ ]"},
           {"x x", "unexpected 'x' at character 3"},
           {"sin x", "without its brackets"},
           {"(x", "ends too early"},
           {"1e400", "numbers between"},
           {"x $ 2", "unexpected '$'"}}) {
    INFO(text);
    CHECK_THROWS_WITH(value(text), Contains("'formula'") && Contains(message));
  }
  std::string deep(200, '('), long_sum = "x", big = "x";
  for (int k = 0; k < 1200; ++k) long_sum += " + x";
  CHECK_THROWS_WITH(value(deep + "x" + std::string(200, ')')), Contains("100 levels"));
  CHECK_THROWS_WITH(value(long_sum), Contains("operators in a row"));
  CHECK_THROWS_WITH(value(std::string(70000, ' ') + "x"), Contains("65536"));
  Sheet circle;
  circle.define("a", {"let.a", "b"});
  circle.define("b", {"let.b", "a"});
  CHECK_THROWS_WITH(circle.compile({{"f", "a"}}), Contains("let.") && Contains("circle"));
  Sheet twice;
  twice.scalar("x");
  CHECK_THROWS_WITH(twice.define("x", {"let.x", "1"}), Contains("defined twice"));
  CHECK_THROWS_WITH(twice.define("pi", {"let.pi", "1"}), Contains("meaning of its own"));
  Sheet unused;
  unused.define("a", {"let.a", "1"});
  unused.compile({{"f", "2"}});
  CHECK_THROWS_WITH(unused.require_used(), Contains("nothing does"));
}

TEST_CASE("formula: work and time are bounded, nothing travels that is not finite",
          "[solvers][formula]") {
  Effort little;
  little.evaluations = 100'000;
  CHECK_THROWS_WITH(value("sum(k, 1, 1e7, k)", 0, little), Contains("evaluations"));
  little.evaluations = 1000;  // a bound is kept whatever its size
  CHECK_THROWS_WITH(value("sum(k, 1, 2000, k)", 0, little), Contains("evaluations"));
  CHECK(value("sum(k, 1, 100, k)", 0, little) == 5050);
  Effort quick;
  quick.seconds = 0.05;
  CHECK_THROWS_WITH(value("sum(k, 1, 1e7, sum(j, 1, 1e7, k*j))", 0, quick),
                    Contains("max_seconds"));
  CHECK_THROWS_WITH(value("normal(z, log(z))"), Contains("not finite"));
  CHECK_THROWS_WITH(value("integral(u, 0, 1, sqrt(u - 0.5))"), Contains("not finite"));
  CHECK_THROWS_WITH(value("root(y, 0, 2, log(y - 1))"), Contains("not a number"));
  // A branch that is not taken needs no value.
  CHECK(value("x > 0 ? 1 : root(y, 1, 2, y)") == 1);
  CHECK(value("normal(z, z^2 >= 0 ? z^2 : root(y, 1, 2, y + z^2))") == Approx(1).epsilon(1e-12));
}

TEST_CASE("formula: averages of functions with poles near the real line, and of 0/0 at 0",
          "[solvers][formula]") {
  // E 1/(1 + (z/a)^2) = sqrt(pi/2) a exp(a^2/2) erfc(a/sqrt(2)), poles at +-i a.
  for (const double a : {3.0, 1.0, 0.3, 0.1, 0.03}) {
    INFO(a);
    const double exact = std::sqrt(std::numbers::pi / 2) * a * std::exp(0.5 * a * a) *
                         std::erfc(a / std::numbers::sqrt2);
    CHECK(value("normal(z, 1/(1 + (z/x)^2))", a) == Approx(exact).epsilon(1e-10));
    Effort half;
    half.half = true;
    const double coarse = value("normal(z, 1/(1 + (z/x)^2))", a, half);
    CHECK(std::abs(coarse - exact) < 1e-9 * exact);
  }
  CHECK(value("normal(z, sin(z)/z)") ==
        Approx(std::sqrt(std::numbers::pi / 2) * std::erf(1 / std::numbers::sqrt2)).epsilon(1e-13));
  CHECK(value("normal(z, z^10)") == Approx(945).epsilon(1e-13));
  CHECK(value("normal(z, cos(6*z))") == Approx(std::exp(-18)).epsilon(1e-7));
}

TEST_CASE("formula: poles are refused, singularities that have an integral are not",
          "[solvers][formula]") {
  // The two sides of a pole cancel; 1/sqrt is integrable, and log.
  for (const char* pole : {"integral(u, 0, 1, 1/(u - 0.3))",
                           "integral(u, -1, 1, 1/u)",
                           "integral(u, -1, 2, 1/u^3)",
                           "normal(z, 1/(z - 0.3))"}) {
    INFO(pole);
    CHECK_THROWS_WITH(value(pole), Contains("does not converge"));
  }
  CHECK(value("integral(u, 0, 1, abs(u - 0.3)^(-0.5))") ==
        Approx(2 * (std::sqrt(0.3) + std::sqrt(0.7))).epsilon(1e-8));
  CHECK(value("integral(u, 0, 1, u^(-0.5)*log(u))") == Approx(-4).epsilon(1e-10));
  CHECK(value("integral(u, -1, 1, log(abs(u)))") == Approx(-2).epsilon(1e-8));
  // 0/0 in the middle, SciPy; a logarithm at the places that quadrature visits first.
  CHECK(value("integral(u, -1, 1, sin(u)/u)") == Approx(1.892166140734366).epsilon(1e-10));
  CHECK(value("normal(z, log(abs(z - 2)))") == Approx(0.5203518610738885).epsilon(1e-7));
  // Peaks, which are no poles.
  for (const double s : {0.5, 0.05, 0.02, 0.005}) {
    INFO(s);
    const double exact = s / std::sqrt(s * s + 2) * std::exp(-0.09 / (2 + s * s));
    CHECK(value("normal(z, exp(-((z - 0.3)/x)^2))", s) == Approx(exact).epsilon(1e-9));
    // From a thousandth of the range on.
    CHECK(value("integral(u, 0, 1, exp(-((u - 0.3)/x)^2)/x)", std::max(s, 0.02) / 10) ==
          Approx(std::sqrt(std::numbers::pi)).epsilon(1e-9));
  }
}

TEST_CASE("formula: tanh side by side is that of one number", "[solvers][formula]") {
  for (const char* z : {"0", "1e-9", "0.3", "0.62", "0.63", "-2", "19", "-40", "400", "-1000"}) {
    INFO(z);
    const double x = std::stod(z);
    CHECK(value("sum(k, 1, 1, tanh(x*k))", x) == Approx(std::tanh(x)).epsilon(1e-15));
  }
  CHECK(std::isnan(value("sum(k, 1, 3, tanh(sqrt(x - k)))", 1.5)));
}

TEST_CASE("formula: averages whose weight lies far out, cancels, or has no value",
          "[solvers][formula]") {
  // E exp(a z) = exp(a^2/2), of weight about z = a.
  CHECK(value("normal(z, exp(20*z))") == Approx(std::exp(200)).epsilon(1e-9));
  CHECK(value("normal(z, exp(0.4*z^2))") == Approx(1 / std::sqrt(0.2)).epsilon(1e-9));
  CHECK(value("normal(z, max(0, exp(15*z) - 1))") == Approx(std::exp(112.5)).epsilon(1e-9));
  for (const char* none : {"normal(z, exp(z^2/2))",
                           "normal(z, exp(z^2))",
                           "normal(z, w, 0.3, exp(z^2 + 0*w))",
                           "normal(z, 1/z)"}) {
    INFO(none);
    CHECK_THROWS(value(none));
  }
  // Zero by symmetry, inside of another average: its rounding has no average of its own.
  CHECK(value("normal(z, normal(w, tanh(z*w*x)))") == Approx(0).margin(1e-12));
  CHECK(value("normal(z, normal(w, w*cosh(z)))") == Approx(0).margin(1e-12));
  CHECK(value("integral(u, 0, 1, normal(w, sinh(u*w)))") == Approx(0).margin(1e-12));
}

TEST_CASE("formula: one zero of several is told", "[solvers][formula]") {
  const auto remarks = [](const std::string& text) {
    Sheet sheet;
    const int slot = sheet.scalar("x");
    const Group group = sheet.compile({{"formula", text}});
    Evaluator e(sheet, {});
    e[slot] = 0.7;
    e.prepare();
    e.value(group);
    return e.remarks();
  };
  REQUIRE(remarks("root(y, -3, 3, y^3 - x*y)").size() == 1);
  CHECK_THAT(remarks("root(y, -3, 3, y^3 - x*y)")[0], Contains("several changes of sign"));
  CHECK(remarks("root(y, -3, 3, y^3 + x*y - 1)").empty());
  CHECK(remarks("root(y, 0, 1, y)").empty());
}

TEST_CASE("formula: half the effort tells the error", "[solvers][formula]") {
  Effort half;
  half.half = true;
  for (const auto& [text, exact] : std::vector<std::pair<std::string, double>>{
           {"normal(z, exp(x*z))", std::exp(0.245)},
           {"normal(z, abs(z))", std::sqrt(2 / std::numbers::pi)},
           {"integral(u, 0, inf, exp(-u)*u^x)", std::tgamma(1.7)}}) {
    INFO(text);
    const double fine = value(text), coarse = value(text, 0.7, half);
    CHECK(std::abs(fine - exact) <= std::abs(fine - coarse) + 1e-13);
    CHECK(std::abs(fine - coarse) < 1e-9);
  }
}

TEST_CASE("formula: instructions, one number at a time and many at once have the same values",
          "[solvers][formula]") {
  for (const std::string text :
       {"-X + 2*X - X/3",
        "X^2 + X^3 + X^4 - (X + 1)^2*(X + 1)^3 + (X - 2)^4",
        "X^(-1) + (X + 3)^0.5",
        "(X + 3)^(-0.5) + (X + 3)^1.7 + pow(2, X)",
        "X < 1 ? X : 3*X",
        "X <= 0.7 ? 1 : 2",
        "X > 1 || X >= 0.7 && X < 5 ? -X : X",
        "(X == 0.7) + (X != 0.7)",
        "min(X, 1, 2*X) + max(X, 1, 2*X)",
        "min(X) + max(X)",
        "sum(X, 1, X^2) + avg(X, 1, X^2, 7)",
        "atan2(X, 2) + sin(X) + exp(-X^2) + tanh(X) + sqrt(X + 3) + abs(X)",
        "X",
        "-(-X)"}) {
    const auto with = [&](const std::string& x) {
      std::string all = text;
      for (std::size_t at = 0; (at = all.find('X', at)) != std::string::npos; at += x.size())
        all.replace(at, 1, x);
      return all;
    };
    for (const double x : {-2.5, -0.3, 0.0, 0.7, 1.4}) {
      INFO(text << " at " << x);
      const double program = value(with("x"), x);
      if (!std::isfinite(program)) continue;
      CHECK(value("(" + with("x") + ") + 0*root(y, 0, 1, y - 0.5)", x) ==
            Approx(program).epsilon(1e-15).margin(1e-15));
      CHECK(value("sum(k, 1, 4, " + with("(x + 0*k)") + ")/4", x) ==
            Approx(program).epsilon(1e-14).margin(1e-14));
    }
  }
}

TEST_CASE("formula: the stated error is a bound where quadrature errs", "[solvers][formula]") {
  Effort half;
  half.half = true;
  for (const auto& [text, exact] : std::vector<std::pair<std::string, double>>{
           {"integral(u, 0, 1, u > 0.123456)", 0.876544},
           {"integral(u, 0, 1, u > 0.7 && u < 0.72)", 0.02},
           {"integral(u, 0, inf, u > 1.23 ? exp(-u) : 0)", std::exp(-1.23)},
           {"integral(u, -inf, inf, abs(u - 0.3) < 1 ? exp(-u^2) : 0)",
            0.5 * std::sqrt(std::numbers::pi) * (std::erf(1.3) + std::erf(0.7))},
           {"integral(u, 0, 2, 1/sqrt(abs(u - 1)))", 4},
           {"integral(u, 0, 1, u^(-0.9))", 10},
           {"normal(z, z > 3.7)", 0.5 * std::erfc(3.7 / std::numbers::sqrt2)},
           {"normal(z, w, 0.5, (z > 0)*(w > 0))", 1.0 / 3},
           {"argmin(y, -1, 1, -exp(-(y - 0.123)^2*1e6))", 0.123},
           {"argmin(y, -1, 1, (y - 0.3)^2 + 0*floor(y))", 0.3}}) {
    INFO(text);
    const double fine = value(text), coarse = value(text, 0.7, half);
    CHECK(std::abs(fine - exact) <= 1.01 * std::abs(fine - coarse) + 1e-13 * std::abs(exact));
    CHECK(std::abs(fine - coarse) < 1e-5 * std::abs(exact));
  }
}

TEST_CASE("formula: a pole inside is no root, infinite ends are none either",
          "[solvers][formula]") {
  CHECK_THROWS_WITH(value("root(y, 0, 2, 1/(y - 1))"), Contains("it jumps over zero at"));
  CHECK_THROWS_WITH(value("root(y, 1, 2, tan(y))"), Contains("it jumps over zero at 1.57"));
  CHECK(value("root(y, 0, 1, log(y) + 2)") == Approx(std::exp(-2)).epsilon(1e-12));
  CHECK(value("root(y, 0, 1, 1/y - 1/(1 - y) + x)") > 0.5);
}

TEST_CASE("formula: an integral that is zero wherever it was looked at is told",
          "[solvers][formula]") {
  const auto remarks = [](const std::string& text) {
    Sheet sheet;
    const int slot = sheet.scalar("x");
    const Group group = sheet.compile({{"formula", text}});
    Evaluator e(sheet, {});
    e[slot] = 0;
    e.prepare();
    e.value(group);
    return e.remarks();
  };
  for (const std::string text : {"integral(u, -inf, inf, exp(-(u - 1000)^2)) + x",
                                 "integral(u, 0, inf, exp(-(u - 50)^2*1e4)) + x",
                                 "integral(u, 0, 1, u > 0.999) + x",
                                 "normal(z, max(z - 20, 0)) + x",
                                 "integral(u, 0, 1000, exp(-(u - 123.4)^2*1e6)) + x"}) {
    INFO(text);
    REQUIRE(remarks(text).size() == 1);
    CHECK_THAT(remarks(text)[0], Contains("limits around it"));
  }
  CHECK(remarks("integral(u, 0, 1, x*u)").empty());
  CHECK(remarks("integral(u, 0, inf, exp(-u)) + x").empty());
}

}  // namespace formula_test
