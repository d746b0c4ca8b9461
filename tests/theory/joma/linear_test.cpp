/// Closed forms of the joint dynamics with a linear MLP: reference values, integration of the
/// equations, sampled gradient descent.

#include "attica/theory/joma/linear.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "attica/core/error.hpp"
#include "attica/solvers/ode.hpp"
#include "core/joma/reference.hpp"

using namespace attica;
using attica::testing::number;
using attica::testing::numbers;
using attica::testing::reference_values;
using Catch::Matchers::Contains;

namespace joma_linear_test {
// Reference values carry 16 digits; inverse erf amplifies rounding by v e^{v^2/2} below t*.
constexpr double kRelative = 1e-13;

TEST_CASE("erf_values: reference trajectories, attention and entropy", "[theory][joma]") {
  const auto reference = reference_values("joma")["reduced"]["linear_exp"];
  const std::vector<double> delta = numbers(reference["Delta"]);
  CHECK(joint_blowup_time(delta) == Approx(number(reference["t_blowup"])).epsilon(kRelative));
  for (std::size_t l = 0; l + 1 < delta.size(); ++l) {
    CHECK(erf_blowup_time({.delta = delta[l]}) ==
          Approx(number(reference["t_star"][l])).epsilon(kRelative));
  }
  CHECK(std::isinf(erf_blowup_time({.delta = 0})));
  for (const auto point : reference["points"]) {
    const std::vector<double> v = erf_values(delta, number(point["fraction"]));
    const std::vector<double> p = joma_attention(v);
    for (std::size_t l = 0; l < v.size(); ++l) {
      CHECK(v[l] == Approx(number(point["v"][l])).epsilon(kRelative).margin(1e-16));
      CHECK(p[l] == Approx(number(point["softmax_attention"][l])).epsilon(kRelative));
    }
    CHECK(attention_entropy(p) == Approx(number(point["entropy"])).epsilon(kRelative));
  }
  for (const auto row : reference["near_blowup"]) {
    const double v = erf_values_at_gap({0.8}, number(row["rel_gap"]))[0];
    CHECK(v == Approx(number(row["v_winner"])).epsilon(kRelative));
    CHECK(0.5 * v * v == Approx(number(row["z_winner"])).epsilon(kRelative));
  }
}

TEST_CASE("erf_values: digits at both ends of the way", "[theory][joma]") {
  constexpr double kEarly = 1e-12;
  const std::vector<double> early = erf_values({0.3, -0.03}, kEarly);
  CHECK(early[0] == Approx(std::sqrt(std::numbers::pi / 2) * kEarly).epsilon(1e-14));
  CHECK(early[1] == Approx(-0.1 * early[0]).epsilon(1e-14));
  // A runner-up a hair behind: at the winner's blow-up its own gap is what it is behind by.
  constexpr double kBehind = 0x1p-40;
  CHECK(erf_values_at_gap({1, 1 - kBehind}, 1e-200)[1] ==
        Approx(erf_values_at_gap({1}, kBehind)[0]).epsilon(1e-14));
  // The gap is that of the fraction, whatever the size of delta.
  const double late = 1 - 1e-15;
  CHECK(erf_values({1e-300}, late)[0] ==
        Approx(erf_values_at_gap({1}, 1 - late)[0]).epsilon(1e-14));
}

TEST_CASE("erf_value: general starts", "[theory][joma]") {
  for (const auto row : reference_values("joma")["reduced"]["linear_exp_general"]) {
    const ErfToken token{
        .delta = number(row["Delta"]), .start = number(row["v0"]), .offset = number(row["c"])};
    const double blowup = erf_blowup_time(token);
    CHECK(blowup == Approx(number(row["t_star"])).epsilon(kRelative));
    for (const auto point : row["points"]) {
      CHECK(erf_value(token, number(point["t"])) == Approx(number(point["v"])).epsilon(kRelative));
    }
  }
}

TEST_CASE("erf_value: solves its equation", "[theory][joma]") {
  const ErfToken token{.delta = -0.7, .start = 0.3, .offset = -0.5};
  const double time = 0.6 * erf_blowup_time(token);
  const OdeResult flow = solve_ode(
      [&](double, const Eigen::VectorXd& x, Eigen::VectorXd& dxdt) {
        dxdt[0] = token.delta * std::exp(token.offset + 0.5 * x[0] * x[0]);
      },
      Eigen::VectorXd::Constant(1, token.start),
      std::vector<double>{0, time},
      {.relative_tolerance = 1e-12, .absolute_tolerance = 1e-13});
  REQUIRE(flow.finished());
  CHECK(erf_value(token, time) == Approx(flow.state[0]).epsilon(1e-10));
}

TEST_CASE("ErfWalk: reference bias and spread", "[theory][joma]") {
  const auto bias = reference_values("joma")["transformer_metrics"]["bias_law"];
  double previous = 1;
  for (const auto row : bias["rows"]) {
    const double eta = row["eta"];
    const ErfWalk walk{.delta = bias["Delta"], .variance = 0, .eta = eta, .batch = 1};
    const double predicted = walk.bias(eta * row["steps"].get<double>());
    CHECK(predicted == Approx(number(row["dy_pred"])).epsilon(1e-10));
    // Full-batch descent: the law holds to first order in eta.
    const double error = std::abs(number(row["dy"]) / predicted - 1);
    CHECK(error < 2 * eta);
    CHECK(error < previous);
    previous = error;
  }
  const auto law = reference_values("joma")["bounce_hblt"]["sgd_law"];
  for (std::size_t l = 0; l < law["Delta"].size(); ++l) {
    const ErfWalk walk{
        .delta = law["Delta"][l], .variance = law["Var"][l], .eta = law["eta"], .batch = law["B"]};
    CHECK(walk.deviation(law["t"]) == Approx(number(law["y_std"][l])).epsilon(1e-12));
  }
  CHECK(ErfWalk{.delta = 0, .variance = 1, .eta = 0.1}.bias(3) == 0);
}

TEST_CASE("ErfWalk: bias of whole steps from a start, by descent in v and z", "[theory][joma]") {
  struct Start {
    double delta, v, z;
  };
  for (const Start& s : {Start{0.3, 0.5, -0.2}, Start{-0.2, 0.8, 0.4}, Start{0.3, -1.1, 0}}) {
    const double offset = s.z - s.v * s.v / 2;
    const double drift = s.delta * std::exp(offset);
    const double time = 0.7 * erf_blowup_time({.delta = s.delta, .start = s.v, .offset = offset});
    double previous = 1;
    for (const int steps : {500, 2000}) {
      const double eta = time / steps;
      double v = s.v;
      double z = s.z;
      for (int n = 0; n < steps; ++n) {
        const double push = eta * s.delta * std::exp(z);
        z += push * v;
        v += push;
      }
      const double off = erf_coordinate(v) - erf_coordinate(s.v) - drift * time;
      const double predicted =
          ErfWalk{.delta = drift, .variance = 0, .eta = eta, .batch = 1, .start = s.v}.bias(time);
      const double error = std::abs(off / predicted - 1);
      CAPTURE(s.delta, s.v, steps, off, predicted);
      CHECK(error < 0.02);
      CHECK(error < 0.3 * previous);  // of first order in eta: a quarter
      previous = error;
    }
  }
}

TEST_CASE("erf closed forms: bad input is refused, and t* is named", "[theory][joma]") {
  CHECK_THROWS_WITH(erf_value({.delta = 1}, 1.3), Contains("t* = 1.2533"));
  CHECK_THROWS_WITH(erf_value({.delta = 1}, -1), Contains("time"));
  CHECK_THROWS_WITH(erf_values({1.0, 0.5}, 1), Contains("time_fraction"));
  CHECK_THROWS_WITH(erf_values_at_gap({1}, 0), Contains("gap"));
  // All Delta = 0: the constant solution, never a blow-up.
  CHECK(erf_values({0, 0}, 0.5) == std::vector<double>{0, 0});
  CHECK(erf_value({.delta = 0, .start = 0.2}, 1e9) == 0.2);
}

}  // namespace joma_linear_test
