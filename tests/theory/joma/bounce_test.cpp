/// The entropy bounce: reference minima, controls without one, a second integrator.

#include "attica/theory/joma/bounce.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/theory/joma/nonlinear.hpp"
#include "core/joma/reference.hpp"

using namespace attica;
using attica::testing::number;
using attica::testing::numbers;
using attica::testing::reference_values;
using Catch::Matchers::Contains;

namespace joma_bounce_test {

BounceKind kind_of(const std::string& name) {
  return name == "exp"       ? BounceKind::exponential
         : name == "softmax" ? BounceKind::softmax
                             : BounceKind::none;
}

TEST_CASE("bounce_summary: reference minima to 1e-8", "[theory][joma]") {
  for (const auto row : reference_values("joma")["bounce_hblt"]["bounce"]) {
    const Bounce bounce{.mu = numbers(row["mu"]),
                        .start = std::vector<double>(row["mu"].size(), number(row["v0"])),
                        .gamma = row["gamma"],
                        .kind = kind_of(row["kind"])};
    CAPTURE(bounce.gamma, row["kind"]);
    const BounceSummary s = bounce_summary(bounce);
    CHECK(s.status == OdeStatus::event);
    CHECK(s.start_entropy == Approx(number(row["H0"])).epsilon(1e-14));
    CHECK(s.final_entropy == Approx(number(row["H_inf"])).epsilon(1e-14));
    if (row["t_min"].is_null()) {
      CHECK_FALSE(s.minimum);
      CHECK(s.depth() == 0);
      continue;
    }
    REQUIRE(s.minimum);
    CHECK(s.minimum->time == Approx(number(row["t_min"])).epsilon(0).margin(1e-8));
    CHECK(s.minimum->entropy == Approx(number(row["H_min"])).epsilon(0).margin(1e-10));
    CHECK(s.depth() == Approx(number(row["bounce"])).epsilon(1e-5));
    for (Eigen::Index j = 0; j < s.minimum->v.size(); ++j) {
      CHECK(s.minimum->v[j] ==
            Approx(number(row["v_at_min"][static_cast<std::size_t>(j)])).epsilon(1e-7));
    }
  }
}

TEST_CASE("bounce_summary: no minimum where there is none", "[theory][joma]") {
  // Equal sizes: attention stays uniform.
  CHECK_FALSE(bounce_summary({.mu = {2, -2, 2}}).minimum);
  // A component that never moves takes what the others leave: monotone for these.
  CHECK_FALSE(bounce_summary({.mu = {0, 2, 2}}).minimum);
  CHECK_FALSE(bounce_summary({.mu = {1, 2, 3}, .gamma = 0}).minimum);
  CHECK(bounce_summary({.mu = {1, -2, 3}}).minimum->entropy ==
        Approx(bounce_summary({.mu = {1, 2, 3}}).minimum->entropy).epsilon(1e-12));
}

TEST_CASE("bounce_curve: authors' setting against its reference", "[theory][joma]") {
  const auto fig4 = reference_values("joma")["bounce_hblt"]["fig4"];
  Bounce bounce{.mu = {}, .gamma = 1.0 / 3, .kind = BounceKind::softmax};
  for (int i = 0; i < 10; ++i) {
    bounce.mu.push_back(1 + i / 3.0);
    bounce.start.push_back(0.05);
  }
  const std::vector<int> steps = {0, 50, 100, 200, 400, 800, 1000, 1500, 2000, 3000, 4000, 4999};
  std::vector<double> times;
  for (const int step : steps) times.push_back(0.02 * step);
  const BounceCurve curve = bounce_curve(bounce, times);
  REQUIRE(curve.status == OdeStatus::finished);
  for (std::size_t k = 0; k < steps.size(); ++k) {
    CHECK(curve.entropy[k] ==
          Approx(number(fig4["ode_entropy"][std::to_string(steps[k])])).epsilon(1e-9));
  }
}

TEST_CASE("bounce_curve: v-form with a stiff solver agrees", "[theory][joma]") {
  for (const BounceKind kind : {BounceKind::exponential, BounceKind::softmax, BounceKind::none}) {
    const Bounce bounce{
        .mu = {0, -1, 2, 3}, .start = {0.1, 0.4, -0.3, 3.5}, .gamma = 0.4, .kind = kind};
    const std::vector<double> times = {0.0, 0.3, 1.0, 4.0};
    const BounceCurve curve = bounce_curve(bounce, times);
    const OdeResult direct = bounce_direct(bounce, times);
    REQUIRE(direct.finished());
    for (Eigen::Index k = 0; k < 4; ++k) {
      const Eigen::VectorXd& v = curve.values[static_cast<std::size_t>(k)];
      CHECK((v - direct.states.col(k)).cwiseAbs().maxCoeff() < 1e-8);
    }
  }
}

TEST_CASE("bounce: components that converge within a rounding error of time", "[theory][joma]") {
  // Rates up to e^72 and e^200: no step of time resolves the fast components.
  for (const double fastest : {12.0, 20.0}) {
    Bounce bounce{.mu = {1, 5, fastest}};
    const BounceSummary exponential = bounce_summary(bounce);
    REQUIRE(exponential.status == OdeStatus::event);
    REQUIRE(exponential.minimum);
    // The slowest component by its own quadrature, which knows nothing of the others.
    const std::vector<double> times = {0.5, convergence_time_of_nats({.mu = 1}, 2.0), 20.0};
    const BounceCurve curve = bounce_curve(bounce, times);
    REQUIRE(curve.status == OdeStatus::finished);
    CHECK(curve.values[1][0] == Approx(1 - std::exp(-2.0)).epsilon(1e-11));
    CHECK(curve.entropy[2] == Approx(exponential.final_entropy).epsilon(1e-7));
    // Softmax has the same orbit: the same minimum, at the time sum_j u_j.
    bounce.kind = BounceKind::softmax;
    const BounceSummary softmax = bounce_summary(bounce);
    REQUIRE(softmax.status == OdeStatus::event);
    REQUIRE(softmax.minimum);
    CHECK(softmax.minimum->entropy == Approx(exponential.minimum->entropy).epsilon(1e-9));
  }
  // By bisection in 60 digits.
  Bounce bounce{.mu = {1, 5, 9}};
  CHECK(bounce_summary(bounce).minimum->time == Approx(0.153711144470282).epsilon(1e-11));
  CHECK(bounce_summary(bounce).minimum->entropy == Approx(2.52212253932243e-16).epsilon(1e-9));
  bounce.kind = BounceKind::softmax;
  CHECK(bounce_summary(bounce).minimum->time == Approx(44.256864303249).epsilon(1e-11));
}

/// H after steps of descent, one after the other.
double stepped_entropy(const Bounce& bounce, double eta, int steps) {
  const Eigen::ArrayXd mu = Eigen::Map<const Eigen::ArrayXd>(
      bounce.mu.data(), static_cast<Eigen::Index>(bounce.mu.size()));
  Eigen::ArrayXd v = bounce_start(bounce);
  for (int n = 0; n < steps; ++n) {
    const Eigen::ArrayXd weight = (bounce.gamma * v.square()).exp();
    v += eta * (mu - v) * weight / weight.sum();
  }
  return bounce_entropy(v.matrix(), bounce.gamma);
}

TEST_CASE("bounce_steps: off descent by the third order of the rate", "[theory][joma]") {
  for (const Bounce& bounce : {Bounce{{1, 2, 4}, {0.05, 0.6, -0.2}, 1.0, BounceKind::softmax},
                               Bounce{{0.5, 1.5}, {0.1, 0.1}, 0.3, BounceKind::softmax}}) {
    double before = 0;
    for (const int parts : {1, 2, 4}) {
      const double eta = 0.08 / parts;
      const std::vector<std::int64_t> steps{8 * parts, 12 * parts};
      const BounceSteps theory = bounce_steps(bounce, eta, steps);
      REQUIRE(theory.status == OdeStatus::finished);
      REQUIRE(theory.entropy.size() == 2);
      const double off = theory.entropy[1] - stepped_entropy(bounce, eta, 12 * parts);
      CAPTURE(bounce.gamma, parts, off, theory.order[1]);
      CHECK(std::abs(off) < 0.2 * theory.order[1]);
      CHECK(std::abs(theory.entropy[0] - stepped_entropy(bounce, eta, 8 * parts)) <
            0.2 * theory.order[0]);
      if (parts > 1) CHECK(before / off == Approx(8).margin(0.7));
      before = off;
    }
  }
  const std::vector<std::int64_t> with_start{0, 10};
  const Bounce bounce{{1, 2}, {0.1, 0.1}, 0.3, BounceKind::softmax};
  const BounceSteps theory = bounce_steps(bounce, 0.1, with_start);
  REQUIRE(theory.entropy.size() == 2);
  CHECK(theory.entropy[0] == Approx(bounce_entropy(Eigen::Vector2d(0.1, 0.1), 0.3)));
  CHECK(theory.order[0] == 0);
  CHECK_THROWS_WITH(bounce_steps({.mu = {1}}, 0.1, with_start), Contains("softmax"));
  CHECK_THROWS_WITH(bounce_summary({.mu = {1, 2}, .start = {1}}), Contains("one start for each"));
}

TEST_CASE("bounce: bad input is refused by name", "[theory][joma]") {
  CHECK_THROWS_WITH(bounce_summary({.mu = {}}), Contains("model.mu"));
  CHECK_THROWS_WITH(bounce_summary({.mu = {NAN}}), Contains("model.mu"));
  CHECK_THROWS_WITH(bounce_summary({.mu = {1}, .gamma = -0.1}), Contains("gamma"));
  CHECK_THROWS_WITH(bounce_summary({.mu = {50}}), Contains("300"));
}

}  // namespace joma_bounce_test
