#include "attica/sim/trees/filtered_sampler.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

using namespace attica;

TEST_CASE("FilteredSampler: pairs of leaves of the broadcast rule", "[sim][trees]") {
  constexpr double kRho = 0.7;
  constexpr int kCount = 40000;
  const FilteredTree tree{.alphabet = 2,
                          .children = 2,
                          .depth = 3,
                          .root = Eigen::Vector2d(0.8, 0.2),
                          .rules = {broadcast_rule(2, 2, kRho)}};
  for (int k = 0; k <= tree.depth; ++k) {
    const FilteredSampler sampler(tree, k);
    RandomStream stream({.seed = 3, .id = StreamId::self_test});
    std::vector<int> leaves;
    std::vector<double> equal(4, 0);
    double roots = 0;
    for (int i = 0; i < kCount; ++i) {
      roots += sampler.draw(stream, leaves);
      REQUIRE(leaves.size() == 8);
      // The first leaf with those whose common ancestor is 1, 2 and 3 edges above.
      for (int h = 1; h <= 3; ++h) {
        equal[static_cast<std::size_t>(h)] +=
            leaves[0] == leaves[static_cast<std::size_t>(1 << (h - 1))] ? 1.0 : -1.0;
      }
    }
    CHECK(std::abs(roots / kCount - 0.2) < 4 * 0.4 / std::sqrt(kCount));
    for (int h = 1; h <= 3; ++h) {
      CAPTURE(k, h);
      // Conditionally on the root two paths are independent: E x y = E[...]^2 of spins, any root.
      const double correlation = std::pow(kRho, h <= k ? 2 * h : 6);
      CHECK(std::abs(equal[static_cast<std::size_t>(h)] / kCount - correlation) <
            4 / std::sqrt(kCount));
    }
  }
}

TEST_CASE("FilteredSampler: never what has probability 0", "[sim][trees]") {
  const FilteredTree tree{
      .alphabet = 3,
      .children = 2,
      .depth = 2,
      .root = Eigen::Vector3d(0.5, 0.5, 0),
      .rules = draw_rules({.alphabet = 3, .children = 2, .tuples_each = 1, .seed = 2}, 1)};
  const FilteredSampler sampler(tree, 2);
  RandomStream stream({.seed = 4, .id = StreamId::self_test});
  std::vector<int> leaves;
  for (int i = 0; i < 2000; ++i) {
    CHECK(sampler.draw(stream, leaves) != 2);
    for (std::size_t j = 0; j < leaves.size(); j += 2) {
      CHECK((tree.rules[0].col(3 * leaves[j] + leaves[j + 1]).array() > 0).any());
    }
  }
}
