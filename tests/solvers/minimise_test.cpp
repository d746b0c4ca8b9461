#include "attica/solvers/minimise.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "attica/core/error.hpp"

using namespace attica;
using Catch::Matchers::WithinAbs;

namespace {
const std::vector<double> kGrid = {-3, -2, -1, 0, 1, 2, 3};
constexpr double kAccuracy = 1e-7;
}  // namespace

TEST_CASE("minimise_on_grid: the lower of two minima", "[solvers][minimise]") {
  // (x²-2)² + x/4 has a minimum near each of ±√2; the left one is lower. Its place solves 4x(x²-2)
  // = -1/4.
  auto f = [](double x) { return (x * x - 2) * (x * x - 2) + 0.25 * x; };
  const Minimum minimum = minimise_on_grid(f, kGrid, kAccuracy);
  CHECK_FALSE(minimum.at_edge);
  CHECK(minimum.x < 0);
  CHECK_THAT(4 * minimum.x * (minimum.x * minimum.x - 2), WithinAbs(-0.25, 1e-5));
  CHECK(minimum.value == f(minimum.x));
}

TEST_CASE("minimise_on_grid: equal neighbours, flat functions, edges", "[solvers][minimise]") {
  const Minimum tie =
      minimise_on_grid([](double x) { return std::cosh(x - 0.5); }, kGrid, kAccuracy);
  CHECK_THAT(tie.x, WithinAbs(0.5, 1e-6));
  const Minimum flat =
      minimise_on_grid([](double x) { return std::max(1.0, std::abs(x)); }, kGrid, kAccuracy);
  CHECK(flat.value == 1);
  CHECK_FALSE(flat.at_edge);
  const Minimum falling = minimise_on_grid([](double x) { return -x; }, kGrid, kAccuracy);
  CHECK(falling.at_edge);
  CHECK(falling.x == 3);
  const Minimum wall = minimise_on_grid(
      [](double x) { return x < -1 ? std::numeric_limits<double>::infinity() : x * x; },
      kGrid,
      kAccuracy);
  CHECK_THAT(wall.x, WithinAbs(0, 1e-7));
}

TEST_CASE("minimise_on_grid: failures are errors, exceptions pass through GSL",
          "[solvers][minimise]") {
  CHECK_THROWS_AS(minimise_on_grid([](double) { return std::nan(""); }, kGrid, kAccuracy), Error);
  CHECK_THROWS_AS(minimise_on_grid([](double x) { return x * x; }, {kGrid.data(), 2}, kAccuracy),
                  Error);
  int calls = 0;
  auto f = [&calls](double x) {
    if (++calls > 9) throw std::runtime_error("from f");
    return (x - 0.3) * (x - 0.3);
  };
  CHECK_THROWS_WITH(minimise_on_grid(f, kGrid, kAccuracy), "from f");
}
