/// Latent trees: reference values, enumeration of all states, closed form against messages.

#include "attica/theory/joma/latent_tree.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/error.hpp"
#include "core/joma/reference.hpp"

using namespace attica;
using attica::testing::numbers;
using attica::testing::reference_values;
using Catch::Matchers::Contains;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace joma_latent_tree_test {

LatentTree reference_tree(double rho, int depth) {
  const auto hblt = reference_values("joma")["bounce_hblt"]["hblt"];
  const std::vector<double> p = numbers(hblt["p0"]);
  return {.depth = depth,
          .prior = Eigen::Map<const VectorXd>(p.data(), 3),
          .root_child = attica::testing::matrix(hblt["p1"]),
          .rho = rho};
}

/// Sum over all states of the nodes: P(leaves fit the evidence, class).
VectorXd enumerate(const LatentTree& tree, const std::vector<int>& leaves) {
  std::vector<int> first = {0};  // of each level in the list of nodes
  for (int level = 1; level <= tree.depth; ++level) {
    first.push_back(first.back() + static_cast<int>(tree.nodes(level)));
  }
  VectorXd joint = VectorXd::Zero(tree.classes());
  for (unsigned state = 0; state < (1U << first.back()); ++state) {
    const auto value = [&](int level, Index i) {
      return static_cast<int>(
          (state >> (first[static_cast<std::size_t>(level - 1)] + static_cast<int>(i))) & 1U);
    };
    bool fits = true;
    for (Index i = 0; i < tree.leaves(); ++i) {
      const int seen = leaves[static_cast<std::size_t>(i)];
      fits = fits && (seen < 0 || seen == value(tree.depth, i));
    }
    if (!fits) continue;
    double edges = 1;
    for (int level = 2; level <= tree.depth; ++level) {
      for (Index i = 0; i < tree.nodes(level); ++i) {
        const bool same = value(level, i) == value(level - 1, i / 2);
        edges *= 0.5 * (1 + (same ? tree.rho : -tree.rho));
      }
    }
    for (Index k = 0; k < tree.classes(); ++k) {
      double p = tree.prior[k] * edges;
      for (Index a = 0; a < tree.root_child.rows(); ++a) {
        const double q = tree.root_child(a, k);
        p *= value(1, a) == 1 ? q : 1 - q;
      }
      joint[k] += p;
    }
  }
  return joint;
}

TEST_CASE("latent_tree: reference values", "[theory][tree]") {
  const auto hblt = reference_values("joma")["bounce_hblt"]["hblt"];
  for (const auto row : hblt["cases"]) {
    const LatentTree tree = reference_tree(row["rho"], row["L"]);
    CAPTURE(tree.rho, tree.depth);
    CHECK(leaf_probability(tree, 0) == Approx(row["P1"].get<double>()).epsilon(1e-14));
    const std::vector<std::pair<std::string, Index>> partners = {
        {"H=1", 1}, {"H=2", 2}, {"H=root", tree.leaves() / 2}};
    for (const auto& [name, leaf] : partners) {
      CHECK(conditional_probability(tree, leaf, 0) ==
            Approx(row["cond"][name].get<double>()).epsilon(1e-14));
      for (Index k = 0; k < 3; ++k) {
        CHECK(conditional_probability(tree, leaf, 0, k) ==
              Approx(row["per_class"][name][static_cast<std::size_t>(k)].get<double>())
                  .epsilon(1e-14));
      }
    }
    std::vector<int> evidence(8, -1);
    evidence[0] = 1;
    TreePosterior p = tree_posterior(tree, evidence);
    for (Index k = 0; k < 3; ++k) {
      CHECK(p.classes[k] ==
            Approx(row["P_class_given_leaf0"][static_cast<std::size_t>(k)].get<double>())
                .epsilon(1e-13));
    }
    evidence[3] = 0;
    evidence[5] = 1;
    p = tree_posterior(tree, evidence);
    for (Index k = 0; k < 3; ++k) {
      CHECK(std::exp(p.log_evidence) * p.classes[k] ==
            Approx(row["joint_class_and_leaf0=1_leaf3=0_leaf5=1"][static_cast<std::size_t>(k)]
                       .get<double>())
                .epsilon(1e-13));
    }
    const std::vector<int> pattern = {1, 0, 1, 1, 0, 0, 1, 0};
    CHECK(std::exp(tree_posterior(tree, pattern).log_evidence) ==
          Approx(row["P_leaf_pattern_10110010"].get<double>()).epsilon(1e-13));
  }
  for (const auto row : hblt["formula"]) {
    // Theorem 5: (1 + rho^{2H} - 2 rho^{L-1} rho_0) / (2 (1 - rho^{L-1} rho_0)).
    const LatentTree tree{
        .depth = row["L"],
        .prior = VectorXd::Ones(1),
        .root_child = MatrixXd::Constant(2, 1, 0.5 * (1 - row["rho0"].get<double>())),
        .rho = row["rho"]};
    const int height = row["H"];
    CHECK(conditional_probability(tree, LatentTree::partner(height), 0) ==
          Approx(row["P"].get<double>()).epsilon(1e-13));
  }
}

TEST_CASE("latent_tree: the law of sequences is the sum over all states", "[theory][tree]") {
  LatentTree tree{.depth = 3, .prior = VectorXd(2), .root_child = MatrixXd(2, 2), .rho = -0.35};
  tree.prior << 0.3, 0.7;
  tree.root_child << 0.8, 0.1, 0.4, 0.95;
  const MatrixXd law = sequence_law(tree);
  REQUIRE(law.rows() == 256);
  CHECK(law.sum() == Approx(1).epsilon(1e-14));
  for (const Index x : {0, 1, 2, 16, 77, 200, 255}) {
    std::vector<int> leaves;
    for (Index l = 0; l < 8; ++l) leaves.push_back(static_cast<int>(x >> l & 1));
    CHECK((law.row(x).transpose() - enumerate(tree, leaves)).norm() < 1e-15);
  }
  tree.rho = 1;  // leaves below a child of the root are equal
  const MatrixXd equal = sequence_law(tree);
  CHECK(equal(0b00001111, 1) == Approx(0.7 * 0.1 * 0.05).epsilon(1e-14));
  CHECK(equal(0b00000111, 1) == 0);
  tree.depth = 5;
  CHECK_THROWS_WITH(sequence_law(tree), Contains("model.depth"));
}

TEST_CASE("latent_tree: messages equal the sum over all states", "[theory][tree]") {
  LatentTree tree{.depth = 3, .prior = VectorXd(2), .root_child = MatrixXd(2, 2), .rho = -0.35};
  tree.prior << 0.3, 0.7;
  tree.root_child << 0.8, 0.1, 0.4, 0.95;
  const std::vector<int> leaves = {1, -1, 0, -1, -1, 1, 1, -1};
  const VectorXd joint = enumerate(tree, leaves);
  const TreePosterior p = tree_posterior(tree, leaves);
  CHECK(p.log_evidence == Approx(std::log(joint.sum())).epsilon(1e-13));
  CHECK((p.classes - joint / joint.sum()).norm() < 1e-14);
  // A node's posterior: the same sum with that leaf's value added to the evidence.
  for (Index i = 0; i < tree.leaves(); ++i) {
    std::vector<int> more = leaves;
    if (more[static_cast<std::size_t>(i)] == 0) continue;
    more[static_cast<std::size_t>(i)] = 1;
    CHECK(p.nodes.back()[i] == Approx(enumerate(tree, more).sum() / joint.sum()).epsilon(1e-12));
  }
  // Closed forms for pairs of leaves, different root children included.
  for (Index l = 0; l < tree.leaves(); ++l) {
    for (Index m = 0; m < tree.leaves(); ++m) {
      if (l == m) continue;
      std::vector<int> pair(8, -1);
      pair[static_cast<std::size_t>(m)] = 1;
      const double condition = enumerate(tree, pair).sum();
      pair[static_cast<std::size_t>(l)] = 1;
      CHECK(conditional_probability(tree, l, m) ==
            Approx(enumerate(tree, pair).sum() / condition).epsilon(1e-12));
    }
  }
  // A latent in the middle: perfect copies make it equal to its leaves.
  tree.rho = 1;
  const std::vector<int> one = {1, -1, -1, -1, -1, -1, -1, -1};
  const TreePosterior sure = tree_posterior(tree, one);
  CHECK(sure.nodes[0][0] == Approx(1));
  CHECK(sure.nodes[1][1] == Approx(1));
}

TEST_CASE("latent_tree: rare tokens keep their digits", "[theory][tree]") {
  // rho = 1: all leaves below a child are equal, and children are independent.
  constexpr double kRare = 1e-10;
  LatentTree tree{.depth = 3,
                  .prior = VectorXd::Ones(1),
                  .root_child = MatrixXd::Constant(2, 1, kRare),
                  .rho = 1};
  CHECK(leaf_probability(tree, 0) == Approx(kRare).epsilon(1e-15));
  CHECK(conditional_probability(tree, 3, 0) == Approx(1).epsilon(1e-15));
  CHECK(conditional_probability(tree, 4, 0) == Approx(kRare).epsilon(1e-15));
  // Only rare flips make tokens: of two below one node, both by one flip above it.
  constexpr double kFlip = 1e-10;
  tree.root_child.setZero();
  tree.rho = 1 - 2 * kFlip;
  CHECK(leaf_probability(tree, 0) == Approx(2 * kFlip).epsilon(1e-6));
  CHECK(conditional_probability(tree, 1, 0) == Approx(0.5).epsilon(1e-9));
  // The same with every value exchanged at every edge.
  tree.rho = -tree.rho;
  CHECK(leaf_probability(tree, 0) == Approx(2 * kFlip).epsilon(1e-6));
  CHECK(conditional_probability(tree, 1, 0) == Approx(0.5).epsilon(1e-9));
}

TEST_CASE("latent_tree: bad input is refused by name", "[theory][tree]") {
  LatentTree tree = reference_tree(0.5, 3);
  CHECK_NOTHROW(validate(tree));
  tree.rho = 1.1;
  CHECK_THROWS_WITH(validate(tree), Contains("rho"));
  tree.rho = 0.5;
  tree.prior[0] = 0.6;
  CHECK_THROWS_WITH(validate(tree), Contains("sum to 1"));
  tree = reference_tree(0.5, 0);
  CHECK_THROWS_WITH(validate(tree), Contains("depth"));
  tree = reference_tree(0.5, 3);
  tree.root_child(0, 0) = -0.1;
  CHECK_THROWS_WITH(validate(tree), Contains("root_child"));
  tree = reference_tree(1, 2);
  tree.root_child.setZero();
  CHECK_THROWS_WITH(conditional_probability(tree, 0, 1), Contains("rho"));
  CHECK_THROWS_WITH(tree_posterior(tree, std::vector<int>{1, 0, 0, 0}), Contains("leaves"));
  CHECK_THROWS_WITH(bit_tree(3, 1, 0.5, 0.1, 0.9), Contains("classes"));
}

TEST_CASE("pair_chi_square_p: 1 at the exact law, small far from it, 0 where impossible",
          "[theory][tree]") {
  LatentTree tree{.depth = 2, .prior = VectorXd(2), .root_child = MatrixXd(2, 2), .rho = 0.5};
  tree.prior << 0.5, 0.5;
  tree.root_child << 0.9, 0.1, 0.9, 0.1;
  const Index leaf = LatentTree::partner(2);
  CHECK(tree.ancestor_height(0, leaf) == 2);
  constexpr double kSamples = 1000;
  MatrixXd counts(2, 4);
  for (Index k = 0; k < 2; ++k) {
    const double both = pair_probability(tree, leaf, 0, k);
    const double one = leaf_probability(tree, 0, k) - both;
    counts.row(k) << 1 - both - 2 * one, one, one, both;
  }
  counts *= kSamples / counts.sum();
  CHECK(pair_chi_square_p(tree, leaf, counts) == Approx(1));
  counts(0, 0) += 100;
  CHECK(pair_chi_square_p(tree, leaf, counts) < 1e-4);
  tree.prior << 1, 0;
  CHECK(pair_chi_square_p(tree, leaf, counts) == 0);
}

}  // namespace joma_latent_tree_test
