/// Drift of invariants under overlapping embeddings: against gradient descent, to its order in the
/// step and in the overlap, and against random embeddings.

#include "attica/theory/joma/overlap.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/random.hpp"
#include "core/joma/reference.hpp"

using namespace attica;
using attica::testing::joma_case;
using attica::testing::JomaCase;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace joma_overlap_test {

/// Smooth networks with exponential and linear attention.
std::vector<JomaCase> cases() {
  std::vector<JomaCase> all;
  for (const auto row : testing::reference_values("joma")["full_model"]["gradients"]) {
    if (row["attn"] == "softmax" || row["phi"] == "relu") continue;
    all.push_back(joma_case(row));
  }
  REQUIRE(all.size() >= 4);
  return all;
}

JomaModel with_gram(const JomaCase& c, const MatrixXd& gram) {
  JomaLaw law = c.model.law();
  law.gram = gram;
  return {law, c.model.samples()};
}

MatrixXd overlapping(Index tokens, double cosine) {
  MatrixXd gram = MatrixXd::Constant(tokens, tokens, cosine);
  gram.diagonal().setOnes();
  return gram;
}

/// Change of the orthonormal invariant under descent, without what single steps add.
VectorXd drift_of_descent(const JomaCase& c, const JomaModel& model, double time, int steps) {
  JomaState state = c.start;
  JomaState d;
  VectorXd whole = VectorXd::Zero(model.tokens());
  for (int n = 0; n < steps; ++n) {
    model.loss(state, &d);
    d = d.from_flat(time / steps * d.flat());
    state = state.from_flat(state.flat() + d.flat());
    whole += c.model.invariant_step(d);
  }
  return c.model.invariant(state) - c.model.invariant(c.start) - whole;
}

TEST_CASE("overlap_moves: the drift of descent, to first and second order in the step",
          "[theory][joma]") {
  constexpr double kTime = 2;
  for (const JomaCase& c : cases()) {
    const MatrixXd gram = overlapping(c.model.tokens(), 0.3);
    const JomaModel model = with_gram(c, gram);
    const auto error = [&](int steps, int orders) {
      const MatrixXd moves = overlap_moves(model, c.start, kTime, kTime / steps, orders);
      const VectorXd drift = moves.cwiseProduct(gram).rowwise().sum();
      return (drift - drift_of_descent(c, model, kTime, steps)).norm();
    };
    const double drift = drift_of_descent(c, model, kTime, 40).norm();
    CHECK(drift > 1e-4);
    CHECK(error(40, 2) < 1e-4 * drift);
    // What is left is the next order in the step.
    CHECK(error(20, 1) / error(40, 1) == Approx(4).epsilon(0.3));
    CHECK(error(20, 2) / error(40, 2) == Approx(8).epsilon(0.3));
  }
}

TEST_CASE("overlap_moves: orthonormal moves are the first order in the overlap", "[theory][joma]") {
  constexpr double kTime = 2;
  for (const JomaCase& c : cases()) {
    const MatrixXd first = overlap_moves(c.model, c.start, kTime, 0);
    const auto error = [&](double cosine) {
      const MatrixXd gram = overlapping(c.model.tokens(), cosine);
      const MatrixXd moves = overlap_moves(with_gram(c, gram), c.start, kTime, 0);
      return ((moves - first).cwiseProduct(gram)).rowwise().sum().norm();
    };
    CHECK(error(0.02) / error(0.01) == Approx(4).epsilon(0.1));
  }
}

TEST_CASE("random_mean_square_drift: the mean over sampled directions", "[theory][joma]") {
  RandomStream stream({.seed = 4, .id = StreamId::self_test});
  constexpr Index kTokens = 5;
  constexpr Index kDimension = 12;
  MatrixXd moves(kTokens, kTokens);
  for (double& a : moves.reshaped()) a = stream.normal();
  moves.diagonal().setZero();
  constexpr int kDraws = 20000;
  double sum = 0;
  double squares = 0;
  for (int k = 0; k < kDraws; ++k) {
    MatrixXd u(kDimension, kTokens);
    for (double& x : u.reshaped()) x = stream.normal();
    u.colwise().normalize();
    const double value = mean_square_drift(moves, u.transpose() * u);
    sum += value;
    squares += value * value;
  }
  const double mean = sum / kDraws;
  const double error = std::sqrt((squares / kDraws - mean * mean) / kDraws);
  CHECK(std::abs(mean - random_mean_square_drift(moves, kDimension)) < 4 * error);
}

}  // namespace joma_overlap_test
