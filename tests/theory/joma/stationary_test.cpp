/// What moves of back-propagated gradients, and the network in which nothing does.

#include "attica/theory/joma/stationary.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "attica/core/error.hpp"
#include "core/joma/reference.hpp"

using namespace attica;
using attica::testing::joma_case;
using attica::testing::JomaCase;
using attica::testing::Reference;
using Eigen::Index;
using Eigen::MatrixXd;

namespace joma_stationary_test {

/// Softmax attention and cross-entropy, linear units, two samples of three tokens.
JomaModel small_model() {
  MatrixXd contexts(2, 3);
  contexts << 0.5, 0.3, 0.2, 0.1, 0.2, 0.7;
  return {{.attention = JomaAttention::softmax, .loss = JomaLoss::cross_entropy},
          {.contexts = contexts,
           .queries = {0, 0},
           .labels = {0, 1},
           .weights = Eigen::Vector2d(0.25, 0.75)}};
}

JomaState zero_state() {
  return {MatrixXd::Zero(2, 3), MatrixXd::Zero(2, 1), MatrixXd::Zero(1, 3)};
}

TEST_CASE("StationaryGradient: motion of two classes by hand", "[theory][joma]") {
  // With r = (a, 0) the first class has probability p = 1/(1 + e^-a) in both samples, from 1/2 on:
  // g is (1 - p, p - 1) in the first and (-p, p) in the second.
  const JomaModel model = small_model();
  const JomaState start = zero_state();
  const StationaryGradient gradient(model, start);
  JomaState later = start;
  later.r(0, 0) = 0.6;
  const double p = 1 / (1 + std::exp(-0.6));
  const GradientMotion motion = gradient.motion(model, later);
  // |g|^2 = 2 [0.25 (1-p)^2 + 0.75 p^2], |g(0)|^2 = 1/2, g - g(0) = (1/2 - p) (1, -1) in both.
  CHECK(motion.drift == Approx((p - 0.5) * 2));
  const double cosine =
      (0.25 * (1 - p) + 0.75 * p) / std::sqrt(0.25 * (1 - p) * (1 - p) + 0.75 * p * p);
  CHECK(motion.turn == Approx(std::sqrt(1 - cosine * cosine)));
  // Delta of the first unit: 0.25 (1-p) x_1 - 0.75 p x_2, of the second the opposite.
  const Eigen::RowVector3d mean =
      0.25 * model.samples().contexts.row(0) + 0.75 * model.samples().contexts.row(1);
  const Eigen::RowVector3d before =
      0.125 * model.samples().contexts.row(0) - 0.375 * model.samples().contexts.row(1);
  CHECK(motion.delta_drift == Approx((p - 0.5) * mean.norm() / before.norm()));
  CHECK(gradient.motion(model, start).drift == 0);
}

TEST_CASE("StationaryGradient: descends as the network does at the start, and goes on so",
          "[theory][joma]") {
  for (const Reference row : testing::reference_values("joma")["full_model"]["gradients"]) {
    const JomaCase c = joma_case(row);
    if (c.model.law().activation != JomaActivation::linear) {
      CHECK_THROWS_AS(StationaryGradient(c.model, c.start), Error);
      continue;
    }
    const StationaryGradient gradient(c.model, c.start);
    JomaState of_network;
    JomaState of_stationary;
    c.model.loss(c.start, &of_network);
    gradient.model().loss(c.start, &of_stationary);
    CHECK((of_network.flat() - of_stationary.flat()).norm() < 1e-14);
    const JomaState later = c.start.from_flat(2 * c.start.flat());
    CHECK((gradient.model().back_propagated(later) - c.model.back_propagated(c.start)).norm() <
          1e-14);
  }
}

TEST_CASE("relative_distance: of weights over the distance moved", "[theory][joma]") {
  const JomaState start = zero_state();
  JomaState state = start;
  state.v(0, 1) = 3;
  JomaState other = start;
  other.v(1, 2) = 4;
  CHECK(relative_distance(state, other, start) == Approx(5.0 / 3));
  CHECK(relative_distance(state, start, start) == 1);
  CHECK(relative_distance(start, other, start) == 0);
}

}  // namespace joma_stationary_test
