/// Inverse error functions and Dawson's integral: inverses, tails, the differential equation.

#include "attica/solvers/special_functions.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/error.hpp"

using namespace attica;

TEST_CASE("inverse_erf, inverse_erfc: are inverses, tails included", "[solvers][special]") {
  for (const double y : {-0.999, -0.3, 0.0, 1e-12, 0.5, 0.99}) {
    CHECK(std::erf(inverse_erf(y)) == Approx(y).epsilon(1e-14).margin(1e-300));
  }
  // erfc changes by a factor 1 - 2 x dx: relative accuracy of y is lost by 2 x^2.
  for (const double y : {1.9, 1.0, 0.1, 1e-15, 1e-100, 1e-300}) {
    const double x = inverse_erfc(y);
    CHECK(std::erfc(x) == Approx(y).epsilon(1e-15 * (2 * x * x + 10)));
  }
  CHECK_THROWS_AS(inverse_erf(1), Error);
  CHECK_THROWS_AS(inverse_erfc(0), Error);
}

TEST_CASE("dawson: D' = 1 - 2xD, odd, known maximum", "[solvers][special]") {
  constexpr double kStep = 1e-4;  // error of the central difference 1e-9
  for (const double x : {0.0, 0.4, 1.3, 5.0}) {
    const double slope = (dawson(x + kStep) - dawson(x - kStep)) / (2 * kStep);
    CHECK(slope == Approx(1 - 2 * x * dawson(x)).margin(1e-7));
    CHECK(dawson(-x) == -dawson(x));
  }
  CHECK(dawson(0.9241388730045917) == Approx(0.5410442246351817).epsilon(1e-14));
}
