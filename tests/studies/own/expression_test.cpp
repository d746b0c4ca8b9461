#include "attica/studies/own/expression.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "attica/core/error.hpp"

using namespace attica;
using namespace attica::own;
using Catch::Contains;

namespace own_expression_test {

double value(const std::string& formula) {
  Expression e("theory.expression", formula);
  return e([](const std::string& name) { return name == "a" ? 2.0 : 3.0; });
}

TEST_CASE("Expression: arithmetic and functions", "[studies][own]") {
  CHECK(value("a^2 + b/2") == 5.5);
  CHECK(value("-a^2") == -4);
  CHECK(value("2^3^2") == 512);
  CHECK(value("a < b ? 1 : 0") == 1);
  CHECK(value("a == 2 && b >= 3") == 1);
  CHECK(value("log(exp(a))") == Approx(2).epsilon(1e-15));
  CHECK(value("log10(1000)") == Approx(3).epsilon(1e-15));
  CHECK(value("erf(a) + erfc(a)") == Approx(1).epsilon(1e-15));
  CHECK(value("lgamma(b)") == Approx(std::log(2)).epsilon(1e-14));
  CHECK(value("sin(pi/2)") == 1);
  CHECK(std::isinf(value("1/(a-2)")));
  CHECK(std::isnan(value("sqrt(-a)")));
}

TEST_CASE("Expression: names, and what it refuses", "[studies][own]") {
  const Expression e("bound.1.expression", "b*a + x");
  CHECK(e.names() == std::vector<std::string>{"a", "b", "x"});
  CHECK_NOTHROW(e.require_names({"a", "b", "x", "y"}));
  CHECK_THROWS_WITH(e.require_names({"a", "b"}),
                    Contains("bound.1.expression") && Contains("no name 'x'"));
  for (const char* formula : {"", "1 +", "a b", "f(a)", "(a", "a = 2", "a ** 2"}) {
    INFO(formula);
    CHECK_THROWS_AS(Expression("theory.expression", formula), Error);
  }
}

}  // namespace own_expression_test
