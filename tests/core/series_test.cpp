#include "attica/core/series.hpp"

#include <catch2/catch.hpp>
#include <string>

using namespace attica;

TEST_CASE("describe: points as text, numbers in their shortest round-trip form", "[core][series]") {
  CHECK(describe(Point{}).empty());
  CHECK(describe(Point{{"lambda", 0.1}, {"model", std::string("factored")}}) ==
        "lambda=0.1, model=factored");
  for (const double x : {0.1, 1.0 / 3, 1e-300, 0.30000000000000004, 3.0}) {
    CHECK(std::stod(describe(CoordinateValue(x))) == x);
  }
  CHECK(describe(CoordinateValue(3.0)) == "3");
  CHECK(describe(CoordinateValue(std::string("a, b"))) == "a, b");
}

TEST_CASE("joined: the outer coordinates come first, order is kept", "[core][series]") {
  const Point outer{{"rho", 0.5}, {"b", 1.0}};
  const Point inner{{"a", std::string("x")}};
  CHECK(joined(outer, inner) == Point{{"rho", 0.5}, {"b", 1.0}, {"a", std::string("x")}});
  CHECK(joined({}, inner) == inner);
  CHECK(joined(outer, {}) == outer);
}

TEST_CASE("same_place: the coordinates in any order, and no others", "[core][series]") {
  const Point a{{"layers", 2.0}, {"model", std::string("deep")}, {"draw", 1.0}};
  const Point b{{"draw", 1.0}, {"layers", 2.0}, {"model", std::string("deep")}};
  CHECK(same_place(a, a));
  CHECK(same_place(a, b));
  CHECK_FALSE(same_place(a, Point{{"layers", 2.0}, {"model", std::string("deep")}}));
  CHECK_FALSE(same_place(a, Point{{"layers", 1.0}, {"model", std::string("deep")}, {"draw", 2.0}}));
  CHECK(same_place({}, {}));
}
