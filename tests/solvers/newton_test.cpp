#include "attica/solvers/newton.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using attica::newton_minimum;
using Eigen::VectorXd;

TEST_CASE("newton_minimum: finds a minimum to rounding, leaving idle components alone",
          "[solvers]") {
  // cosh(x - 1) + (y + 2 x)^2, third component without effect.
  const auto gradient = [](const VectorXd& p) {
    VectorXd g(3);
    g << std::sinh(p[0] - 1) + 4 * (p[1] + 2 * p[0]), 2 * (p[1] + 2 * p[0]), 0;
    return g;
  };
  const VectorXd x = newton_minimum(gradient, Eigen::Vector3d(4, 4, 7));
  CHECK(x[0] == Approx(1).epsilon(1e-14));
  CHECK(x[1] == Approx(-2).epsilon(1e-14));
  CHECK(x[2] == 7);
}
