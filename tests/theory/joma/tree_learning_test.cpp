/// Signals of a latent tree's tokens: enumeration of all states, closed forms by height, batches of
/// three.

#include "attica/theory/joma/tree_learning.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "core/joma/enumerated_tree.hpp"

using namespace attica;
using attica::testing::EnumeratedPair;
using Eigen::Index;

namespace joma_tree_learning_test {

LatentTree tree_of(int depth, double rho) {
  LatentTree tree;
  tree.depth = depth;
  tree.prior = Eigen::Vector3d(0.5, 0.2, 0.3);
  tree.root_child = Eigen::MatrixXd(2, 3);
  tree.root_child << 0.9, 0.2, 0.6, 0.3, 0.7, 0.5;
  tree.rho = rho;
  return tree;
}

TEST_CASE("token_signal: mean and variance over all states and all batches of three",
          "[theory][joma]") {
  const std::vector<double> rewards = {1, -0.5, 2};
  for (const double rho : {0.7, -0.4}) {
    const LatentTree tree = tree_of(3, rho);
    for (const Index l : {1, 2, 3, 4, 7}) {
      const EnumeratedPair pair(tree, l);
      // One outcome: class and token, given the query.
      std::vector<double> p, g, x;
      for (Index k = 0; k < 3; ++k) {
        for (const int occurs : {0, 1}) {
          p.push_back(pair.given_query(k, occurs));
          g.push_back(rewards[static_cast<std::size_t>(k)]);
          x.push_back(occurs);
        }
      }
      for (const bool centred : {false, true}) {
        CAPTURE(rho, l, centred);
        double mean = 0;
        double square = 0;
        for (std::size_t a = 0; a < p.size(); ++a) {
          for (std::size_t b = 0; b < p.size(); ++b) {
            for (std::size_t c = 0; c < p.size(); ++c) {
              const double weight = p[a] * p[b] * p[c];
              const double product = (g[a] * x[a] + g[b] * x[b] + g[c] * x[c]) / 3;
              const double means = (g[a] + g[b] + g[c]) / 3 * (x[a] + x[b] + x[c]) / 3;
              const double estimate = centred ? (product - means) * 3 / 2 : product;
              mean += weight * estimate;
              square += weight * estimate * estimate;
            }
          }
        }
        const TokenSignal signal = token_signal(tree, rewards, l, 0, centred, 3);
        CHECK(signal.delta == Approx(mean).margin(1e-14));
        CHECK(signal.variance == Approx(3 * (square - mean * mean)).margin(1e-14));
      }
    }
  }
}

TEST_CASE("token_signal: below a root child, by moments of the prior", "[theory][joma]") {
  const std::vector<double> rewards = {1, -0.5, 2};
  for (const double rho : {0.9, 0.3, -0.6}) {
    const LatentTree tree = tree_of(5, rho);
    const Eigen::Array3d s(1, -0.5, 2);
    const Eigen::Array3d mu = 2 * tree.root_child.row(0).transpose().array() - 1;
    const auto mean = [&](const Eigen::Array3d& f) { return (tree.prior.array() * f).sum(); };
    const double r = std::pow(rho, 4);
    const double query = 0.5 * (1 + r * mean(mu));
    const double covariance = mean(s * mu) - mean(s) * mean(mu);
    for (int height = 1; height < 5; ++height) {
      CAPTURE(rho, height);
      const double h = std::pow(rho, 2 * height);
      const Index l = LatentTree::partner(height);
      CHECK(token_signal(tree, rewards, l, 0, false, 8).delta ==
            Approx(((1 + h) * mean(s) + 2 * r * mean(s * mu)) / (4 * query)));
      CHECK(token_signal(tree, rewards, l, 0, true, 8).delta ==
            Approx((1 - h) * r * covariance / (8 * query * query)));
    }
  }
}

TEST_CASE("token_signal: rewards of mean 0 push all heights alike, unless they are centred",
          "[theory][joma]") {
  const LatentTree tree = tree_of(4, 0.8);
  const std::vector<double> rewards = {1, -1, -1};  // the prior of the first class is 1/2
  double last = 0;
  for (int height = 1; height < 4; ++height) {
    const Index l = LatentTree::partner(height);
    CHECK(token_signal(tree, rewards, l, 0, false, 8).delta ==
          Approx(token_signal(tree, rewards, 1, 0, false, 8).delta));
    const double centred = token_signal(tree, rewards, l, 0, true, 8).delta;
    CHECK(centred > 1.05 * last);
    last = centred;
  }
}

}  // namespace joma_tree_learning_test
