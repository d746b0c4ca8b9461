#include "attica/sources/expression.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "attica/core/error.hpp"

using namespace attica;
using namespace attica::sources;
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

TEST_CASE("Expression: what could be read in another sense is refused", "[studies][own]") {
  // A comma stands between arguments; every function and operator with one outside is refused.
  for (const char* formula : {"a < 0,05",
                              "1,5/sqrt(a)",
                              "a^0,5",
                              "(a), 5",
                              "(0,5)*a",
                              "a ? 1,5 : 2",
                              "max(a, (1, 2))",
                              "exp(0,5*a)",
                              "max(0,5, a)"}) {
    INFO(formula);
    CHECK_THROWS_WITH(Expression("claim.1.expression", formula), Contains("point"));
  }
  CHECK(value("max(a, 5)") == 5);
  CHECK(value("max(0, min(a,b))") == 2);
  CHECK(value("pow(a, b)") == 8);
  CHECK(value("(a < b ? max(1, 2) : 3)") == 2);
  for (const char* chain :
       {"0 < a < 1", "a == b == 3", "a < b && 0 < a <= 1", "max(0 < a < 1, 0)"}) {
    INFO(chain);
    CHECK_THROWS_WITH(Expression("claim.1.expression", chain),
                      Contains("one comparison at a time"));
  }
  CHECK(value("0 < a && a < 3") == 1);
  CHECK(value("(0 < a) == (a < 3)") == 1);
  CHECK(value("a < b ? a < 1 : 5") == 0);
  for (const auto& [formula, typed] :
       std::vector<std::pair<std::string, std::string>>{{"a ** 2", "'^'"},
                                                        {"a = 2", "'=='"},
                                                        {"a := 2", "'=='"},
                                                        {"!(a < b)", "c == 0"},
                                                        {"a & b", "'&&'"},
                                                        {"a | b", "'||'"},
                                                        {"5 % a", "0.05"},
                                                        {"1_000 * a", "'_'"},
                                                        {"a \u2212 b", "'-'"},
                                                        {"a \u00d7 b", "'*'"},
                                                        {"a \u2264 b", "'<='"},
                                                        {"a\u00b2", "'^2'"},
                                                        {"\uff11 + a", "ASCII"}}) {
    INFO(formula);
    CHECK_THROWS_WITH(Expression("theory.expression", formula),
                      Contains("theory.expression") && Contains(typed));
  }
  // Underscores and digits of names are no digits.
  CHECK(Expression("theory.expression", "a_1_2 + b").names() ==
        std::vector<std::string>{"a_1_2", "b"});
  // A key of one's own does not hide behind a constant.
  CHECK_THROWS_WITH(Expression("theory.expression", "2*pi*a").require_names({"a", "pi"}),
                    Contains("another name for 'pi'"));
  CHECK_NOTHROW(Expression("theory.expression", "2*api").require_names({"api", "pi"}));
}

}  // namespace own_expression_test
