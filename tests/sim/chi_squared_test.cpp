#include "attica/sim/chi_squared.hpp"

#include <catch2/catch.hpp>
#include <cmath>

namespace chi_squared_test {
namespace {

using attica::chi_squared;
using attica::RandomStream;
using Catch::Matchers::WithinAbs;

TEST_CASE("chi_squared: mean and variance, also below one degree of freedom", "[sim]") {
  for (const double degrees : {0.7, 1.0, 5.0, 200.0}) {
    RandomStream s({.seed = 11});
    constexpr int kDraws = 200000;
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < kDraws; ++i) {
      const double x = chi_squared(degrees, s);
      sum += x;
      squares += x * x;
    }
    const double mean = sum / kDraws;
    const double variance = squares / kDraws - mean * mean;
    CAPTURE(degrees);
    // Five standard errors; the fourth central moment of χ² is 12 degrees (degrees + 4).
    CHECK_THAT(mean, WithinAbs(degrees, 5 * std::sqrt(2 * degrees / kDraws)));
    const double fourth = 12 * degrees * (degrees + 4) - 4 * degrees * degrees;
    CHECK_THAT(variance, WithinAbs(2 * degrees, 5 * std::sqrt(fourth / kDraws)));
  }
}

}  // namespace
}  // namespace chi_squared_test
