// The one-layer network of topics as a model on its population.

#include "attica/theory/topics/topic_population.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/random.hpp"
#include "attica/theory/topics/loss.hpp"
#include "attica/theory/training/first_order.hpp"
#include "attica/theory/training/update.hpp"
#include "finite_differences.hpp"

using namespace attica;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace topic_population_test {

MatrixXd random_matrix(Index rows, Index columns, RandomStream& stream) {
  MatrixXd m(rows, columns);
  for (double& x : m.reshaped()) x = stream.normal();
  return m;
}

TopicMatrices random_matrices(Index tokens, Index inner) {
  RandomStream stream({.seed = 3, .id = StreamId::initialisation});
  return {.value = 0.3 * random_matrix(tokens, tokens, stream),
          .key = 0.5 * random_matrix(inner, tokens, stream),
          .query = 0.5 * random_matrix(inner, tokens, stream)};
}

TEST_CASE("TopicPositions: gradients are those of the losses", "[theory][topics]") {
  for (const double random_rate : {0.1, 0.0}) {
    const TopicModel model({.vocabulary = {3, 2},
                            .topics_per_document = 2,
                            .keep_rate = 0.3,
                            .random_rate = random_rate});
    for (const TopicLoss loss : {TopicLoss::squared, TopicLoss::cross_entropy}) {
      for (const bool value : {true, false}) {
        for (const bool attention : {true, false}) {
          if (!value && !attention) continue;
          const TopicPositions positions(model,
                                         {.loss = loss,
                                          .scale = 0.7,
                                          .value_penalty = 0.02,
                                          .attention_penalty = 0.03,
                                          .train_value = value,
                                          .train_attention = attention},
                                         random_matrices(7, 4));
          CHECK(positions.parameters() == (value ? 49 : 0) + (attention ? 56 : 0));
          VectorXd theta = positions.theta_of(random_matrices(7, 4));
          VectorXd w = positions.weights();
          for (Index k = 0; k < w.size(); ++k) w[k] *= std::cos(static_cast<double>(k));
          VectorXd losses;
          VectorXd gradient(theta.size());
          positions.pass(theta, losses, &w, &gradient);
          const auto weighted = [&] {
            VectorXd l;
            positions.pass(theta, l);
            return w.dot(l);
          };
          testing::check_gradient(weighted, testing::entries(theta), testing::entries(gradient));
        }
      }
    }
  }
}

TEST_CASE("TopicPositions: a position's loss by hand, and documents as their means",
          "[theory][topics]") {
  const TopicModel model({.vocabulary = {3, 2}, .topics_per_document = 2, .keep_rate = 0.3});
  const TopicMatrices w = random_matrices(7, 4);
  constexpr double kScale = 0.7;
  for (const TopicLoss loss : {TopicLoss::squared, TopicLoss::cross_entropy}) {
    const TopicPositions positions(model, {.loss = loss, .scale = kScale}, w);
    const VectorXd theta = positions.theta_of(w);
    VectorXd losses;
    positions.pass(theta, losses);
    // Sets {0, 1}, {0, 2}, {1, 2}; the mask and six words are shown, four words may be true.
    REQUIRE(losses.size() == 3 * 7 * 4);
    CHECK(positions.weights().sum() == Approx(1));
    // Of the second set: token 5 is shown, word 6 is true.
    const Index sample = 28 + 5 * 4 + 3;
    CHECK(positions.weights()[sample] == Approx(1.0 / 3 / 4 * (0.1 / 6)));
    CHECK(positions.weights()[sample - 1] == Approx(1.0 / 3 / 4 * (0.1 / 6 + 0.3)));
    const double shares[] = {model.mu(),
                             model.shown_inside(),
                             model.shown_inside(),
                             model.shown_outside(),
                             model.shown_outside(),
                             model.shown_inside(),
                             model.shown_inside()};
    VectorXd attention(7);
    for (Index k = 0; k < 7; ++k) {
      attention[k] = shares[k] * std::exp(kScale * w.key.col(k).dot(w.query.col(5)));
    }
    attention /= attention.sum();
    const VectorXd f = w.value * attention;
    const double by_hand = loss == TopicLoss::squared ? (f - VectorXd::Unit(7, 6)).squaredNorm()
                                                      : std::log(f.array().exp().sum()) - f[6];
    CHECK(losses[sample] == Approx(by_hand).epsilon(1e-13));

    const GroupedPopulation documents = positions.documents();
    VectorXd of_sets;
    VectorXd gradient(theta.size());
    documents.pass(theta, of_sets, &documents.weights(), &gradient);
    REQUIRE(of_sets.size() == 3);
    const VectorXd joint = positions.weights().cwiseProduct(losses);
    CHECK(of_sets[1] == Approx(3 * joint.segment(28, 28).sum()));
    CHECK(positions.loss(theta) == Approx(joint.sum()));
    VectorXd same(theta.size());
    positions.pass(theta, losses, &positions.weights(), &same);
    CHECK((gradient - same).cwiseAbs().maxCoeff() < 1e-14);
  }
}

TEST_CASE("TopicPositions: whole steps on the population are those of the 24 numbers",
          "[theory][topics]") {
  const TopicModel model({.vocabulary = {3, 2}, .topics_per_document = 2, .keep_rate = 0.3});
  const CommutantAlgebra algebra(model.vocabulary());
  constexpr double kEta = 1;
  constexpr double kEpsilon = 0.4;
  constexpr int kSteps = 80;
  const MatrixXd identity = kEpsilon * MatrixXd::Identity(7, 7);
  for (const TopicLoss loss : {TopicLoss::squared, TopicLoss::cross_entropy}) {
    for (const bool split : {false, true}) {
      const TopicDynamics dynamics{
          .loss = loss, .scale = 0.5, .value_penalty = 2e-3, .attention_penalty = 3e-3};
      TopicMatrices start{.value = MatrixXd::Zero(7, 7), .key = identity, .query = identity};
      if (split) {
        start.key = MatrixXd::Zero(14, 7);
        start.query = start.key;
        start.key.topRows(7) = identity;
        start.query.bottomRows(7) = identity;
      }
      const TopicPositions positions(model, dynamics, start);
      const TrainingPlan plan{.start = positions.theta_of(start),
                              .rate = [=](std::uint64_t) { return kEta; },
                              .recorded = {}};
      OptimiserState state(plan);
      TopicState numbers = split ? split_start(kEpsilon) : identity_start(kEpsilon);
      VectorXd losses;
      VectorXd gradient(plan.start.size());
      for (int n = 0; n < kSteps; ++n) {
        positions.pass(state.theta, losses, &positions.weights(), &gradient);
        update(state, plan, gradient);
        numbers = topic_descent_step(model, dynamics, numbers, kEta);
      }
      const TopicMatrices w = positions.matrices(state.theta);
      constexpr double kRounding = 1e-11;
      const auto distance = [&](const MatrixXd& m, const Commutant& x) {
        return (m - algebra.dense(x)).cwiseAbs().maxCoeff();
      };
      CHECK(distance(w.value, numbers.value) < kRounding);
      CHECK(distance(w.key.transpose() * w.query, numbers.m) < kRounding);
      CHECK(distance(w.key.transpose() * w.key, numbers.k) < kRounding);
      CHECK(distance(w.query.transpose() * w.query, numbers.q) < kRounding);
      CHECK(positions.loss(state.theta) == Approx(topic_loss(model, dynamics, numbers)));
    }
  }
}

}  // namespace topic_population_test
