/// Descent on sequences that hold the query: sampled signals against enumeration, the path of
/// tokens that are always there, times of passage.

#include "attica/sim/joma/tree_learning.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/error.hpp"
#include "core/joma/enumerated_tree.hpp"

using namespace attica;
using attica::testing::EnumeratedPair;
using Catch::Matchers::Contains;
using Eigen::Index;
using Eigen::VectorXd;

namespace joma_tree_learning_test {

LatentTree two_classes() {
  LatentTree tree;
  tree.depth = 2;
  tree.prior = Eigen::Vector2d(0.6, 0.4);
  tree.root_child = Eigen::MatrixXd(2, 2);
  tree.root_child << 0.9, 0.2, 0.6, 0.3;
  tree.rho = 0.7;
  return tree;
}

TEST_CASE("descend_tree: batches are the next sequences with the query", "[sim][joma]") {
  const LatentTree tree = two_classes();
  const LatentTreeSampler sampler(tree);
  // 50 sequences a step: batches end within blocks of 64 and go across them.
  const TreeDescent options{
      .eta = 1e-3, .batch = 50, .threshold = 1e9, .horizon = 0, .rewards = {1, -0.5}};
  constexpr int kSteps = 20;
  RandomStream stream({.seed = 3});
  const auto units = descend_tree(sampler, options, std::vector<std::int64_t>{kSteps}, stream);
  RandomStream same({.seed = 3});
  TreeSequences sequences(sampler, same);
  VectorXd plain = VectorXd::Zero(4);
  VectorXd centred = VectorXd::Zero(4);
  std::vector<int> leaves;
  for (int step = 0; step < kSteps; ++step) {
    Eigen::MatrixXd x(50, 4);
    VectorXd g(50);
    for (Index i = 0; i < 50; ++i) {
      int k = sequences.draw(leaves);
      while (leaves.front() == 0) k = sequences.draw(leaves);
      g[i] = options.rewards[static_cast<std::size_t>(k)];
      x.row(i) = Eigen::Map<const Eigen::RowVectorXi>(leaves.data(), 4).cast<double>();
    }
    plain += x.transpose() * g / 50 / kSteps;
    const VectorXd off = g.array() - g.mean();
    centred += x.transpose() * off / 49 / kSteps;
  }
  for (Index l = 1; l < 4; ++l) {
    CHECK(units[kPlain].salience[l] == Approx(plain[l]).epsilon(1e-12));
    CHECK(units[kCentred].salience[l] == Approx(centred[l]).epsilon(1e-11));
  }
}

TEST_CASE("descend_tree: the mean push is E[g x] and Cov(g, x) of all states", "[sim][joma]") {
  const LatentTree tree = two_classes();
  const LatentTreeSampler sampler(tree);
  // Batches of two: a covariance that is divided by the batch would be half as large.
  const TreeDescent options{
      .eta = 1e-3, .batch = 2, .threshold = 1e9, .horizon = 0, .rewards = {1, -0.5}};
  const std::vector<std::int64_t> steps = {20, 40000};
  RandomStream stream({.seed = 5});
  const auto units = descend_tree(sampler, options, steps, stream);
  for (Index l = 1; l < 4; ++l) {
    CAPTURE(l);
    const EnumeratedPair pair(tree, l);
    double reward = 0;
    double product = 0;
    for (Index k = 0; k < 2; ++k) {
      const double g = options.rewards[static_cast<std::size_t>(k)];
      reward += g * (pair.given_query(k, 0) + pair.given_query(k, 1));
      product += g * pair.given_query(k, 1);
    }
    const double occurs = pair.given_query(0, 1) + pair.given_query(1, 1);
    // The deviation of a batch's estimate is below 0.7.
    const double margin = 4.5 * 0.7 / std::sqrt(40000.0);
    CHECK(units[kPlain].salience[l] == Approx(product).margin(margin));
    CHECK(units[kCentred].salience[l] == Approx(product - reward * occurs).margin(margin));
  }
}

TEST_CASE("descend_tree: tokens that are always there follow the recursion", "[sim][joma]") {
  LatentTree tree;
  tree.depth = 2;
  tree.prior = VectorXd::Ones(1);
  tree.root_child = Eigen::MatrixXd::Ones(2, 1);
  tree.rho = 1;
  const LatentTreeSampler sampler(tree);
  const TreeDescent options{
      .eta = 0.05, .batch = 4, .threshold = 0.8, .horizon = 3, .rewards = {-1}};
  const std::vector<std::int64_t> steps = {5, 13, 100};
  RandomStream stream({.seed = 7});
  const auto units = descend_tree(sampler, options, steps, stream);
  double v = 0;
  double z = 0;
  double passage = 0;
  for (int step = 0; step < 100 && v > -2.4; ++step) {
    for (const Index record : {0, 1}) {
      if (steps[static_cast<std::size_t>(record)] == step) {
        CHECK(units[kPlain].v(record, 2) == Approx(v).epsilon(1e-12));
      }
    }
    const double next = v - 0.05 * std::exp(z);
    if (v > -0.8 && next <= -0.8) passage = 0.05 * (step + (0.8 + v) / (v - next));
    z += (next - v) * v;
    v = next;
  }
  CHECK(passage > 0.6);
  CHECK(units[kPlain].passage[1] == Approx(passage).epsilon(1e-12));
  CHECK(units[kPlain].passage[3] == Approx(passage).epsilon(1e-12));
  CHECK(std::isnan(units[kPlain].v(2, 1)));  // far beyond the threshold
  CHECK(units[kPlain].salience[1] == Approx(-1));
  // Nothing varies with the class.
  CHECK(units[kCentred].v.rightCols(3).cwiseAbs().maxCoeff() == 0);
  CHECK(std::isnan(units[kCentred].passage[1]));
}

TEST_CASE("descend_tree: refuses batches without a covariance", "[sim][joma]") {
  const LatentTreeSampler sampler(two_classes());
  RandomStream stream({.seed = 1});
  const std::vector<std::int64_t> steps = {1};
  CHECK_THROWS_WITH(descend_tree(sampler, {.batch = 1, .rewards = {1, -1}}, steps, stream),
                    Contains("sim.batch"));
  CHECK_THROWS_WITH(descend_tree(sampler, {.eta = 0, .rewards = {1, -1}}, steps, stream),
                    Contains("sim.eta"));
}

}  // namespace joma_tree_learning_test
