#include "attica/solvers/ode.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/solvers/ode_order8.hpp"

using namespace attica;
using Catch::WithinAbs;
using Catch::WithinRel;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace ode_test {

const OdeMethod kMethods[] = {OdeMethod::dopri5, OdeMethod::fehlberg78, OdeMethod::rosenbrock4};

std::vector<double> linear_grid(double from, double to, int intervals) {
  std::vector<double> grid;
  for (int k = 0; k <= intervals; ++k) grid.push_back(from + (to - from) * k / intervals);
  return grid;
}

VectorXd vector(std::initializer_list<double> values) {
  VectorXd v(static_cast<Eigen::Index>(values.size()));
  std::copy(values.begin(), values.end(), v.data());
  return v;
}

// Non-linear and explicitly time dependent, with a known solution: u = 1/(1+t^2), (p, q) = (cos t,
// -sin t).
void test_rhs(double t, const VectorXd& x, VectorXd& dxdt) {
  dxdt[0] = -2 * t * x[0] * x[0];
  dxdt[1] = x[2];
  dxdt[2] = -x[1];
}
void test_jacobian(double t, const VectorXd& x, MatrixXd& jacobian, VectorXd& dfdt) {
  jacobian(0, 0) = -4 * t * x[0];
  jacobian(1, 2) = 1;
  jacobian(2, 1) = -1;
  dfdt[0] = -2 * x[0] * x[0];
}
VectorXd test_solution(double t) { return vector({1 / (1 + t * t), std::cos(t), -std::sin(t)}); }
const VectorXd kTestStart = vector({1, 1, 0});

double largest_error(const OdeResult& result, const std::vector<double>& times) {
  double worst = 0;
  for (Eigen::Index k = 0; k < result.states.cols(); ++k) {
    const VectorXd exact = test_solution(times[static_cast<std::size_t>(k)]);
    worst = std::max(worst, (result.states.col(k) - exact).lpNorm<Eigen::Infinity>());
  }
  return worst;
}

// Steps of fixed length: a tolerance that accepts everything, and first step = largest step.
OdeOptions fixed_step(OdeMethod method, double step) {
  return {.method = method,
          .relative_tolerance = 0,
          .absolute_tolerance = 1e6,
          .first_step = step,
          .max_step = step,
          .jacobian = test_jacobian};
}

TEST_CASE("solve_ode: every stepper converges with its order", "[solvers][ode]") {
  struct Case {
    OdeMethod method;
    double order;
    int steps;  // few enough that round-off stays far below the error
  };
  for (const auto& c : {Case{OdeMethod::dopri5, 5, 80},
                        Case{OdeMethod::fehlberg78, 8, 10},
                        Case{OdeMethod::rosenbrock4, 4, 80}}) {
    const std::vector<double> times{0, 2};
    const OdeResult coarse =
        solve_ode(test_rhs, kTestStart, times, fixed_step(c.method, 2.0 / c.steps));
    const OdeResult fine =
        solve_ode(test_rhs, kTestStart, times, fixed_step(c.method, 1.0 / c.steps));
    REQUIRE(coarse.finished());
    CHECK(coarse.accepted_steps == c.steps);
    CHECK(fine.accepted_steps == 2 * c.steps);
    const double order = std::log2(largest_error(coarse, times) / largest_error(fine, times));
    INFO("method " << static_cast<int>(c.method));
    CHECK_THAT(order, WithinAbs(c.order, 0.3));  // the next term of the expansion shifts it by O(h)
  }
}

TEST_CASE("solve_ode: output inside the steps of dopri5 converges with order 5", "[solvers][ode]") {
  // 7 output times per step, so that most lie inside steps.
  const auto error = [](int steps) {
    const std::vector<double> times = linear_grid(0, 2, 7 * steps);
    return largest_error(
        solve_ode(test_rhs, kTestStart, times, fixed_step(OdeMethod::dopri5, 2.0 / steps)), times);
  };
  CHECK_THAT(std::log2(error(40) / error(80)), WithinAbs(5, 0.3));
}

TEST_CASE("solve_ode_order8: steps and output inside them converge with order 8",
          "[solvers][ode]") {
  const auto error = [](int steps, int outputs) {
    const std::vector<double> times = linear_grid(0, 2, outputs * steps);
    return largest_error(
        solve_ode_order8(
            test_rhs, kTestStart, times, fixed_step(OdeMethod::rosenbrock4, 2.0 / steps)),
        times);
  };
  for (const int outputs : {1, 7}) {
    INFO(outputs << " output times a step");
    CHECK(std::log2(error(6, outputs) / error(12, outputs)) > 7.4);
  }
}

TEST_CASE("solve_ode_order8: output keeps the tolerance, at fewer evaluations than dopri5",
          "[solvers][ode]") {
  for (const double tolerance : {1e-4, 1e-7, 1e-10, 1e-12}) {
    const std::vector<double> times = linear_grid(0, 10, 997);
    const OdeOptions options{.relative_tolerance = tolerance, .absolute_tolerance = tolerance};
    const OdeResult result = solve_ode_order8(test_rhs, kTestStart, times, options);
    REQUIRE(result.finished());
    INFO("tolerance " << tolerance << " steps " << result.accepted_steps);
    CHECK(largest_error(result, times) < 10 * tolerance);
    if (tolerance <= 1e-10) {
      const OdeResult fifth = solve_ode(test_rhs, kTestStart, times, options);
      CHECK(2 * result.rhs_evaluations < fifth.rhs_evaluations);
    }
  }
  // Of a state that is zero, and of one whose numbers are far from one.
  const OdeRhs growth = [](double, const VectorXd& x, VectorXd& dxdt) { dxdt = x; };
  const OdeResult far =
      solve_ode_order8(growth,
                       vector({0, 1e-200, 1e200}),
                       std::vector<double>{0, 0.5, 2},
                       {.relative_tolerance = 1e-10, .absolute_tolerance = 1e-300});
  REQUIRE(far.finished());
  CHECK(far.states(0, 2) == 0);
  CHECK_THAT(far.states(1, 2), WithinRel(1e-200 * std::exp(2.0), 1e-9));
  CHECK_THAT(far.states(2, 1), WithinRel(1e200 * std::exp(0.5), 1e-9));
}

void test_pair_rhs(const Eigen::Array2d& t, const Eigen::Array2Xd& x, Eigen::Array2Xd& dxdt) {
  dxdt.col(0) = -2 * t * x.col(0) * x.col(0);
  dxdt.col(1) = x.col(2);
  dxdt.col(2) = -x.col(1);
}

TEST_CASE("solve_ode_pair_order8: each of two solutions is that of solve_ode_order8",
          "[solvers][ode]") {
  Eigen::Array2Xd start(2, 3);
  start << kTestStart.transpose().array(), 0.3 * kTestStart.transpose().array();
  for (const int outputs : {1, 40, 997}) {
    const std::vector<double> times = linear_grid(0, 10, outputs);
    std::array<OdeOptions, 2> options;
    options[0] = {.relative_tolerance = 1e-11, .absolute_tolerance = 1e-13};
    options[1] = {.relative_tolerance = 1e-5, .absolute_tolerance = 1e-7, .max_step = 0.9};
    for (int turn = 0; turn < 2; ++turn) {
      const auto both = solve_ode_pair_order8(test_pair_rhs, start, times, options);
      REQUIRE(both);
      for (const std::size_t l : {0, 1}) {
        const VectorXd x0 = start.row(static_cast<Eigen::Index>(l)).transpose().matrix();
        const OdeResult one = solve_ode_order8(test_rhs, x0, times, options[l]);
        CHECK(((*both)[l] - one.states).cwiseAbs().maxCoeff() < 1e-13);
      }
      std::swap(options[0], options[1]);
    }
  }
}

TEST_CASE("solve_ode_pair_order8: empty where one of the two ends early", "[solvers][ode]") {
  // x' = x^2 is infinite at 1/x(0): rejected steps on the way, and no step beyond.
  const OdePairRhs square = [](const auto&, const auto& x, auto& dxdt) { dxdt = x * x; };
  const std::array<OdeOptions, 2> options;
  const std::vector<double> times{0, 0.5, 1.5};
  Eigen::Array2Xd start(2, 1);
  start << 0.5, 0.6;
  const auto both = solve_ode_pair_order8(square, start, times, options);
  REQUIRE(both);
  CHECK_THAT((*both)[0](0, 2), WithinRel(2.0, 1e-6));
  CHECK_THAT((*both)[1](0, 2), WithinRel(6.0, 1e-6));
  for (const auto& [a, b] : {std::pair{0.5, 1.0}, std::pair{1.0, 0.5}, std::pair{2.0, 2.0}}) {
    start << a, b;
    CHECK_FALSE(solve_ode_pair_order8(square, start, times, options));
  }
  const OdePairRhs nan = [](const auto&, const auto& x, auto& dxdt) { dxdt = 0 / (x - x); };
  CHECK_FALSE(solve_ode_pair_order8(nan, start, times, options));
  start << 1, std::numeric_limits<double>::infinity();
  CHECK_THROWS_AS(solve_ode_pair_order8(square, start, times, options), Error);
  start << 1, 1;
  CHECK_THROWS_AS(solve_ode_pair_order8(square, start, std::vector<double>{0, 0}, options), Error);
}

TEST_CASE("solve_ode: output keeps the tolerance at the ends of steps and inside them",
          "[solvers][ode]") {
  for (OdeMethod method : kMethods) {
    for (double tolerance : {1e-4, 1e-7, 1e-10}) {
      const std::vector<double> times = linear_grid(0, 10, 997);
      const OdeResult result = solve_ode(test_rhs,
                                         kTestStart,
                                         times,
                                         {.method = method,
                                          .relative_tolerance = tolerance,
                                          .absolute_tolerance = tolerance,
                                          .jacobian = test_jacobian});
      REQUIRE(result.finished());
      REQUIRE(result.states.cols() == 998);
      INFO("method " << static_cast<int>(method) << " tolerance " << tolerance << " steps "
                     << result.accepted_steps);
      // Errors of all steps add up in the rotation (p, q); the estimate is of the lower order
      // solution.
      CHECK(largest_error(result, times) < 10 * tolerance);
    }
  }
}

TEST_CASE("solve_ode: statistics count every step and call", "[solvers][ode]") {
  std::int64_t calls = 0, seen = 0;
  double last = -1;
  const std::vector<double> times{0, 3};
  const OdeResult result = solve_ode(
      [&](double t, const VectorXd& x, VectorXd& dxdt) {
        ++calls;
        test_rhs(t, x, dxdt);
      },
      kTestStart,
      times,
      {.observer = [&](double t, const VectorXd&) {
        CHECK(t > last);
        last = t;
        ++seen;
      }});
  CHECK(result.rhs_evaluations == calls);
  CHECK(seen == result.accepted_steps + 1);
  CHECK(result.time == 3);
  CHECK(last == 3);
  CHECK(result.state == result.states.col(1));
  // First evaluation, one more to choose the first step, six for each step (first same as last).
  CHECK(calls == 2 + 6 * (result.accepted_steps + result.rejected_steps));
}

TEST_CASE("solve_ode: output times of log grids are met exactly", "[solvers][ode]") {
  const std::vector<double> times{0, 1e-6, 1e-3, 1, 1000};
  for (OdeMethod method : kMethods) {
    const OdeResult result = solve_ode(
        [](double, const VectorXd& x, VectorXd& dxdt) { dxdt = -x; },
        VectorXd::Ones(1),
        times,
        {.method = method,
         .jacobian = [](double, const VectorXd&, MatrixXd& j, VectorXd&) { j(0, 0) = -1; }});
    REQUIRE(result.finished());
    for (std::size_t k = 0; k < times.size(); ++k) {
      CHECK_THAT(result.states(0, static_cast<Eigen::Index>(k)),
                 WithinAbs(std::exp(-times[k]), 1e-8));
    }
  }
}

TEST_CASE("solve_ode: stops at an event, to 1e-12 in time", "[solvers][ode]") {
  for (OdeMethod method : kMethods) {
    INFO("method " << static_cast<int>(method));
    OdeOptions options{.method = method,
                       .relative_tolerance = 1e-13,
                       .absolute_tolerance = 1e-13,
                       .jacobian = test_jacobian};
    options.event = [](double, const VectorXd& x) { return x[1]; };
    const std::vector<double> times = linear_grid(0, 4, 40);
    const OdeResult result = solve_ode(test_rhs, kTestStart, times, options);
    REQUIRE(result.status == OdeStatus::event);
    // The integration's own error at this tolerance is of order 1e-12 too.
    CHECK_THAT(result.time, WithinAbs(std::numbers::pi / 2, 4e-12));
    CHECK_THAT(result.state[1], WithinAbs(0, 2e-12));
    CHECK(result.states.cols() == 16);  // 0, 0.1 .. 1.5
    CHECK(largest_error(result, times) < 1e-10);
  }
  // Linear in time, so that only the location matters; the zero at the start does not count.
  OdeOptions options;
  options.event = [](double t, const VectorXd&) { return t * (t - 0.3); };
  const OdeResult result = solve_ode([](double, const VectorXd&, VectorXd& dxdt) { dxdt[0] = 1; },
                                     VectorXd::Zero(1),
                                     std::vector<double>{0, 1},
                                     options);
  REQUIRE(result.status == OdeStatus::event);
  CHECK_THAT(result.time, WithinAbs(0.3, 1e-12));
  CHECK_THAT(result.state[0], WithinAbs(0.3, 1e-12));
}

TEST_CASE("solve_ode: a blow-up stops and names the time", "[solvers][ode]") {
  for (OdeMethod method : kMethods) {
    const OdeResult result = solve_ode(
        [](double, const VectorXd& x, VectorXd& dxdt) { dxdt = x.cwiseAbs2(); },
        VectorXd::Ones(1),
        std::vector<double>{0, 0.5, 2},
        {.method = method, .jacobian = [](double, const VectorXd& x, MatrixXd& j, VectorXd&) {
           j(0, 0) = 2 * x[0];
         }});
    INFO(describe(result));
    CHECK((result.status == OdeStatus::step_too_small || result.status == OdeStatus::non_finite));
    CHECK_THAT(result.time, WithinAbs(1, 1e-6));
    CHECK(result.states.cols() == 2);
    CHECK_THAT(result.states(0, 1), WithinRel(2.0, 1e-6));
    CHECK(result.accepted_steps + result.rejected_steps < 5000);
    CHECK_THAT(describe(result),
               Catch::Contains("at time 0.99999") || Catch::Contains("at time 1"));
  }
}

TEST_CASE("solve_ode: non-finite right-hand sides are never stepped over", "[solvers][ode]") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const auto decay_until = [](double end, double then) {
    return [=](double t, const VectorXd& x, VectorXd& dxdt) {
      dxdt = -x;
      if (t > end) dxdt[0] = then;
    };
  };
  const OdeJacobian jacobian = [](double, const VectorXd&, MatrixXd& j, VectorXd&) {
    j.diagonal().setConstant(-1);
  };
  for (OdeMethod method : kMethods) {
    for (double bad : {kNan, std::numeric_limits<double>::infinity()}) {
      const OdeOptions options{.method = method, .jacobian = jacobian};
      const std::vector<double> times{0, 0.25, 1};
      const OdeResult later = solve_ode(decay_until(0.5, bad), VectorXd::Ones(2), times, options);
      CHECK(later.status == OdeStatus::non_finite);
      CHECK_THAT(later.time, WithinAbs(0.5, 1e-12));
      CHECK(later.state.allFinite());
      CHECK(later.states.cols() == 2);
      const OdeResult at_once = solve_ode(decay_until(-1, bad), VectorXd::Ones(2), times, options);
      CHECK(at_once.status == OdeStatus::non_finite);
      CHECK(at_once.time == 0);
      CHECK(at_once.states.cols() == 1);
    }
    // A single bad evaluation costs a rejected step, not the solution.
    std::int64_t calls = 0;
    const OdeResult once = solve_ode(
        [&](double, const VectorXd& x, VectorXd& dxdt) {
          dxdt = -x;
          if (++calls == 4) dxdt[1] = kNan;
        },
        VectorXd::Ones(2),
        std::vector<double>{0, 1},
        {.method = method, .jacobian = jacobian});
    CHECK(once.finished());
    CHECK(once.rejected_steps >= 1);
    CHECK_THAT(once.state[1], WithinAbs(std::exp(-1.0), 1e-8));
  }
}

TEST_CASE("solve_ode: the number of steps is capped", "[solvers][ode]") {
  for (OdeMethod method : kMethods) {
    const OdeResult result =
        solve_ode(test_rhs,
                  kTestStart,
                  std::vector<double>{0, 1000},
                  {.method = method, .max_steps = 17, .jacobian = test_jacobian});
    CHECK(result.status == OdeStatus::step_limit);
    CHECK(result.accepted_steps + result.rejected_steps == 17);
    CHECK((result.time > 0 && result.time < 1000));
  }
}

TEST_CASE("solve_ode: Robertson's stiff reaction", "[solvers][ode]") {
  const OdeRhs rhs = [](double, const VectorXd& y, VectorXd& dydt) {
    dydt[0] = -0.04 * y[0] + 1e4 * y[1] * y[2];
    dydt[2] = 3e7 * y[1] * y[1];
    dydt[1] = -dydt[0] - dydt[2];
  };
  const OdeJacobian jacobian = [](double, const VectorXd& y, MatrixXd& j, VectorXd&) {
    j << -0.04, 1e4 * y[2], 1e4 * y[1],               //
        0.04, -1e4 * y[2] - 6e7 * y[1], -1e4 * y[1],  //
        0, 6e7 * y[1], 0;
  };
  const std::vector<double> times{0, 0.4, 40};
  const OdeResult stiff = solve_ode(rhs,
                                    vector({1, 0, 0}),
                                    times,
                                    {.method = OdeMethod::rosenbrock4,
                                     .relative_tolerance = 1e-7,
                                     .absolute_tolerance = 1e-13,
                                     .jacobian = jacobian});
  REQUIRE(stiff.finished());
  CHECK(stiff.accepted_steps < 1000);  // an explicit method would need more than 10^4
  // Values of the sample output in Hindmarsh, ODEPACK (1983), printed to seven digits.
  CHECK_THAT(stiff.state[0], WithinRel(0.7158271, 1e-6));
  CHECK_THAT(stiff.state[1], WithinRel(9.185535e-6, 1e-6));
  CHECK_THAT(stiff.state[2], WithinRel(0.2841637, 1e-6));
  // An explicit method agrees on the short interval it can afford.
  const OdeResult explicit_one =
      solve_ode(rhs,
                vector({1, 0, 0}),
                std::vector<double>{0, 0.4},
                {.relative_tolerance = 1e-10, .absolute_tolerance = 1e-14});
  REQUIRE(explicit_one.finished());
  CHECK((stiff.states.col(1) - explicit_one.state).cwiseAbs().maxCoeff() < 1e-8);
}

TEST_CASE("solve_ode: bad input is refused by name", "[solvers][ode]") {
  const auto refused = [](const VectorXd& x0, std::vector<double> times, OdeOptions options) {
    try {
      (void)solve_ode(test_rhs, x0, times, options);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::input);
      return error.parameter();
    }
    return std::string("accepted");
  };
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const std::vector<double> times{0, 1};
  CHECK(refused(VectorXd(), times, {}) == "x0");
  CHECK(refused(vector({1, kInf, 0}), times, {}) == "x0[1]");
  CHECK(refused(kTestStart, {}, {}) == "times");
  CHECK(refused(kTestStart, {0, 2, 1}, {}) == "times[2]");
  CHECK(refused(kTestStart, {0, 1, 1}, {}) == "times[2]");
  CHECK(refused(kTestStart, {0, std::nan("")}, {}) == "times[1]");
  CHECK(refused(kTestStart, times, {.relative_tolerance = -1e-3}) == "relative_tolerance");
  CHECK(refused(kTestStart, times, {.absolute_tolerance = 0}) == "absolute_tolerance");
  CHECK(refused(kTestStart, times, {.absolute_tolerance = std::nan("")}) == "absolute_tolerance");
  CHECK(refused(kTestStart, times, {.first_step = -1}) == "first_step");
  CHECK(refused(kTestStart, times, {.max_step = 0}) == "max_step");
  CHECK(refused(kTestStart, times, {.max_steps = 0}) == "max_steps");
  CHECK(refused(kTestStart, times, {.method = OdeMethod::rosenbrock4}) == "jacobian");
  const auto resize = [](double, const VectorXd&, VectorXd& dxdt) { dxdt.setZero(7); };
  CHECK_THROWS_AS((void)solve_ode(resize, kTestStart, times), Error);
}

}  // namespace ode_test
