#include "attica/solvers/lbfgs.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "attica/core/error.hpp"

using namespace attica;

TEST_CASE("minimise_lbfgs: finds the minimum of Rosenbrock's valley", "[solvers][lbfgs]") {
  const auto valley = [](const double* x, double* g) {
    const double a = 1 - x[0];
    const double b = x[1] - x[0] * x[0];
    if (g != nullptr) {
      g[0] = -2 * a - 400 * b * x[0];
      g[1] = 200 * b;
    }
    return a * a + 100 * b * b;
  };
  const LbfgsResult r = minimise_lbfgs(valley, Eigen::Vector2d(-1.2, 1), {});
  CHECK(r.converged);
  // The gradient 1e-8 over the smallest curvature, 0.4.
  CHECK(r.x[0] == Approx(1).margin(1e-7));
  CHECK(r.x[1] == Approx(1).margin(1e-7));
}

TEST_CASE("minimise_lbfgs: goes on until a weak penalty is settled", "[solvers][lbfgs]") {
  // The loss (a-1)^2/2 does not see b, of which the penalty is lambda (b-2)^2/2.
  constexpr double kLambda = 1e-5;
  const auto valley = [](const double* x, double* g) {
    const double a = x[0] - 1;
    const double b = x[1] - 2;
    if (g != nullptr) {
      g[0] = a;
      g[1] = kLambda * b;
    }
    return (a * a + kLambda * b * b) / 2;
  };
  const Eigen::Vector2d start(0, 0);
  const LbfgsOptions rough{.gradient_tolerance = 1e-4};
  CHECK(minimise_lbfgs(valley, start, rough).x[1] < 1);  // within the tolerance from the start
  int asked = 0;
  const LbfgsResult r = minimise_lbfgs(
      valley, start, rough, [&](const Eigen::VectorXd& x, const Eigen::VectorXd& gradient) {
        ++asked;
        return settled(x.tail(1), gradient.tail(1), kLambda);
      });
  CHECK(r.converged);
  CHECK(r.x[1] == Approx(2).epsilon(0.02));
  CHECK(asked > 1);
  // What can never settle ends, by the tolerance that was asked for.
  const auto never = [](const Eigen::VectorXd&, const Eigen::VectorXd&) { return false; };
  CHECK(minimise_lbfgs(valley, start, rough, never).converged);
}

TEST_CASE("minimise_lbfgs: says when it has not converged", "[solvers][lbfgs]") {
  const auto line = [](const double* x, double* g) {
    if (g != nullptr) g[0] = -1;
    return -x[0];
  };
  const Eigen::VectorXd start = Eigen::VectorXd::Zero(1);
  CHECK_FALSE(minimise_lbfgs(line, start, {.max_iterations = 20}).converged);
  const auto nan = [](const double*, double* g) {
    if (g != nullptr) g[0] = 1;
    return std::numeric_limits<double>::quiet_NaN();
  };
  CHECK_FALSE(minimise_lbfgs(nan, start, {}).converged);
  const auto thrower = [](const double*, double*) -> double { throw std::runtime_error("no"); };
  CHECK_THROWS_AS(minimise_lbfgs(thrower, start, {}), std::runtime_error);
  CHECK_THROWS_AS(minimise_lbfgs(line, Eigen::VectorXd(), {}), Error);
  CHECK_THROWS_AS(minimise_lbfgs(line, start, {.gradient_tolerance = 0}), Error);
}
