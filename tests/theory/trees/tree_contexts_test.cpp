/// Measures of predictors on all contexts: what bounds hold, and what exact predictors have.

#include "attica/theory/trees/tree_contexts.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "attica/core/random.hpp"
#include "attica/theory/trees/floors.hpp"
#include "refused.hpp"

using namespace attica;
using attica::testing::refused;
using Catch::WithinAbs;
using Eigen::Index;
using Eigen::MatrixXd;

namespace tree_contexts_test {

FilteredTree test_tree(int depth, Index tuples) {
  return {.alphabet = 3,
          .children = 2,
          .depth = depth,
          .root = Eigen::Vector3d(0.5, 0.3, 0.2),
          .rules = draw_rules(
              {.alphabet = 3, .children = 2, .tuples_each = tuples, .sigma = 1.5, .seed = 4}, 1)};
}

TEST_CASE("TreeContexts: exact predictors have the floors' losses", "[theory][trees]") {
  for (const Index tuples : {Index{3}, Index{0}}) {
    const FilteredTree tree = test_tree(tuples == 3 ? 3 : 2, tuples);
    const TreeContexts contexts(tree);
    for (int j = 0; j <= tree.depth; ++j) {
      const TreeMeasures bp = contexts.measure(contexts.bp_table(j));
      const TreeMeasures window = contexts.measure(contexts.window_table(j));
      const auto at = static_cast<std::size_t>(j);
      CHECK_THAT(bp.bp_divergence[at], WithinAbs(0, 1e-12));
      CHECK_THAT(window.window_divergence[at], WithinAbs(0, 1e-12));
      CHECK_THAT(window.test_loss(), WithinAbs(contexts.window()[at], 1e-12));
      for (int k = 0; k <= tree.depth; ++k) {
        CAPTURE(tuples, j, k);
        const double cross = cross_floor(tree, j, k, FloorRoute::enumeration, {}).value;
        CHECK_THAT(bp.data_loss[static_cast<std::size_t>(k)], WithinAbs(cross, 1e-12));
      }
      CHECK_THAT(contexts.own()[at],
                 WithinAbs(own_floor(tree, j, FloorRoute::enumeration, {}).value, 1e-12));
      CHECK_THAT(contexts.window()[at],
                 WithinAbs(window_floor(tree, j, FloorRoute::enumeration, {}).value, 1e-12));
      // A reader of blocks of height j has learnt levels 1 to j, and nothing above.
      const std::vector<double> gains = contexts.gains(window);
      for (int k = 1; k <= tree.depth; ++k) {
        CAPTURE(tuples, j, k);
        CHECK_THAT(gains[static_cast<std::size_t>(k) - 1], WithinAbs(k <= j ? 1 : 0, 1e-10));
      }
    }
  }
}

TEST_CASE("TreeContexts: no predictor is below the floors", "[theory][trees]") {
  const FilteredTree tree = test_tree(2, 3);
  const TreeContexts contexts(tree);
  for (std::uint64_t trial = 1; trial <= 20; ++trial) {
    // Laws at random, near the best predictor or far from it.
    RandomStream stream({.seed = trial, .id = StreamId::self_test});
    MatrixXd table = contexts.bp_table(2);
    for (double& value : table.reshaped()) {
      value += 0.1 * static_cast<double>(trial) * stream.normal();
    }
    for (Index m = 0; m < table.cols(); ++m) {
      const Index stride = contexts.stride(m);
      for (Index x = 0; x < table.rows(); ++x) {
        if (x / stride % 3 != 0) continue;
        double sum = 0;
        for (Index a = 0; a < 3; ++a) sum += std::exp(table(x + a * stride, m));
        for (Index a = 0; a < 3; ++a) table(x + a * stride, m) -= std::log(sum);
      }
    }
    const TreeMeasures found = contexts.measure(table);
    for (std::size_t k = 0; k <= 2; ++k) {
      CAPTURE(trial, k);
      CHECK(found.data_loss[k] >= contexts.own()[k] - 1e-12);
      CHECK(found.block_loss[k] >= contexts.window()[k] - 1e-12);
      CHECK(found.bp_divergence[k] >= 0);
      CHECK(found.window_divergence[k] >= 0);
    }
    CHECK_THAT(found.block_loss[2], WithinAbs(found.test_loss(), 1e-12));
    // The loss in gains.
    const std::vector<double> gains = contexts.gains(found);
    double loss = found.block_loss[0];
    for (std::size_t k = 0; k < 2; ++k) {
      loss -= gains[k] * (contexts.window()[k] - contexts.window()[k + 1]);
    }
    CHECK_THAT(found.test_loss(), WithinAbs(loss, 1e-12));
    // Blurred to a loss between letters alone and its own.
    const double wanted = (contexts.window()[0] + std::min(found.test_loss(), 1.0)) / 2;
    if (found.test_loss() > wanted) continue;
    const TreeMeasures blurred = contexts.measure(contexts.blurred(table, wanted));
    CHECK_THAT(blurred.test_loss(), WithinAbs(wanted, 1e-6));
  }
  FilteredTree large = tree;
  large.depth = 4;
  CHECK(refused([&] { TreeContexts{large}; }) == "model.depth");
}

}  // namespace tree_contexts_test
