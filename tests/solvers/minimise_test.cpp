#include "attica/solvers/minimise.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "attica/core/error.hpp"

using namespace attica;
using Catch::Matchers::WithinAbs;

namespace minimise_test {
const std::vector<double> kGrid = {-3, -2, -1, 0, 1, 2, 3};
constexpr double kAccuracy = 1e-7;

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

TEST_CASE("minimise_simplex: valleys, walls and refusals", "[solvers][minimise]") {
  // Rosenbrock's valley, its minimum at (1, 1).
  const auto valley = [](const std::vector<double>& x) {
    return 100 * std::pow(x[1] - x[0] * x[0], 2) + std::pow(1 - x[0], 2);
  };
  const std::vector<double> end = minimise_simplex(valley, {-1.2, 1}, 0.2, kAccuracy);
  CHECK_THAT(end[0], WithinAbs(1, 1e-5));
  CHECK_THAT(end[1], WithinAbs(1, 1e-5));
  // A wall at infinity: the lowest point lies on it.
  const auto walled = [](const std::vector<double>& x) {
    return x[0] < 2 ? std::numeric_limits<double>::infinity() : x[0] + std::abs(x[1]);
  };
  const std::vector<double> at_wall = minimise_simplex(walled, {5, 3}, 1, kAccuracy);
  CHECK(at_wall[0] >= 2);
  CHECK_THAT(at_wall[0], WithinAbs(2, 1e-3));
  CHECK_THAT(at_wall[1], WithinAbs(0, 1e-3));
  const std::vector<double> one = minimise_simplex(
      [](const std::vector<double>& x) { return std::cosh(x[0] - 0.5); }, {3}, 0.5, kAccuracy);
  CHECK_THAT(one[0], WithinAbs(0.5, 1e-5));
  CHECK_THROWS_AS(
      minimise_simplex([](const std::vector<double>& x) { return x[0] < 1 ? std::nan("") : x[0]; },
                       {1.5},
                       1,
                       1e-9),
      Error);
  CHECK_THROWS_AS(
      minimise_simplex(
          [](const std::vector<double>&) -> double { throw std::runtime_error("no"); }, {1}, 1, 1),
      std::runtime_error);
  CHECK_THROWS_AS(minimise_simplex(valley, {}, 1, 1), Error);
}

}  // namespace minimise_test
