/// Belief propagation on filtered trees against sums over all hidden states and reference values;
/// floors by three routes; what is a bound and what is not.

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "attica/core/random.hpp"
#include "attica/theory/trees/belief.hpp"
#include "attica/theory/trees/floors.hpp"
#include "attica/theory/trees/sequence_laws.hpp"
#include "reference_values.hpp"
#include "refused.hpp"

using namespace attica;
using attica::testing::Reference;
using attica::testing::reference_values;
using attica::testing::refused;
using attica::testing::vector;
using Catch::WithinAbs;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace filtered_floors_test {

constexpr FloorSampling kPlan{.sequences = 20000};

Reference values(const char* part) { return reference_values("filtered-trees")[part]; }

/// Numbers of nested lists in their order.
void flatten(Reference value, std::vector<double>& out) {
  if (!value.is_array()) {
    out.push_back(value.real());
    return;
  }
  for (const Reference part : value) flatten(part, out);
}

MatrixXd rule_of(Reference rule) {
  const auto rows = static_cast<Index>(rule.size());
  std::vector<double> all;
  flatten(rule, all);
  return Eigen::Map<MatrixXd>(all.data(), static_cast<Index>(all.size()) / rows, rows).transpose();
}

FilteredTree tree_of(Reference c) {
  FilteredTree tree{.alphabet = c["q"].get<int>(),
                    .children = c["s"].get<int>(),
                    .depth = c["l"].get<int>(),
                    .root = vector(c["root"]),
                    .rules = {}};
  if (c.contains("rules")) {
    for (const Reference rule : c["rules"]) tree.rules.push_back(rule_of(rule));
  } else {
    tree.rules = {rule_of(c["rule"])};
  }
  // Printed with fifteen digits, or four.
  tree.root /= tree.root.sum();
  for (MatrixXd& rule : tree.rules) {
    for (Index y = 0; y < rule.rows(); ++y) rule.row(y) /= rule.row(y).sum();
  }
  validate(tree);
  return tree;
}

FilteredTree drawn_tree(const DrawnRules& law, int depth, bool by_level, std::uint64_t root_seed) {
  FilteredTree tree{.alphabet = law.alphabet,
                    .children = law.children,
                    .depth = depth,
                    .root = VectorXd(law.alphabet),
                    .rules = draw_rules(law, by_level ? depth : 1)};
  RandomStream stream({.seed = root_seed, .id = StreamId::self_test});
  for (double& p : tree.root) p = stream.uniform();
  tree.root /= tree.root.sum();
  validate(tree);
  return tree;
}

std::vector<int> letters(Index number, const FilteredTree& tree) {
  std::vector<int> x(static_cast<std::size_t>(tree.leaves()));
  for (std::size_t m = x.size(); m-- > 0; number /= tree.alphabet) {
    x[m] = static_cast<int>(number % tree.alphabet);
  }
  return x;
}

/// P_k(x, root) as a sum over every assignment of the hidden nodes, one after the other: nothing
/// is shared with the products of laws.
double probability(const FilteredTree& tree, int level, const std::vector<int>& x, int root) {
  // The law of x below a node, by its definition.
  const std::function<double(int, Index, int)> below = [&](int d, Index node, int letter) {
    if (d == tree.depth) return x[static_cast<std::size_t>(node)] == letter ? 1.0 : 0.0;
    double sum = 0;
    for (Index c = 0; c < tree.tuples(); ++c) {
      double product = tree.rule(d)(letter, c);
      Index rest = c;
      for (int i = tree.children; i-- > 0 && product > 0; rest /= tree.alphabet) {
        product *= below(d + 1, node * tree.children + i, static_cast<int>(rest % tree.alphabet));
      }
      sum += product;
    }
    return sum;
  };
  // The letter of a head by a walk from the root, child after child.
  const int head = tree.depth - level;
  const std::function<double(int, Index, Index, int)> walk =
      [&](int d, Index node, Index block, int letter) {
        if (d == head) return below(d, node, letter);
        Index stride = 1;
        for (int k = d + 1; k < head; ++k) stride *= tree.children;
        const Index child = block / stride % tree.children;
        double sum = 0;
        for (Index c = 0; c < tree.tuples(); ++c) {
          if (tree.rule(d)(letter, c) == 0) continue;
          Index rest = c;
          for (Index i = tree.children; i-- > child + 1;) rest /= tree.alphabet;
          sum += tree.rule(d)(letter, c) * walk(d + 1,
                                                node * tree.children + child,
                                                block,
                                                static_cast<int>(rest % tree.alphabet));
        }
        return sum;
      };
  double product = tree.root[root];
  for (Index block = 0; block < tree.nodes(head); ++block) product *= walk(0, 0, block, root);
  return product;
}

TEST_CASE("BeliefPropagation: laws equal the sum over all hidden states", "[theory][trees]") {
  struct Shape {
    int q, s, l;
    Index tuples;
  };
  std::uint64_t seed = 0;
  for (const Shape& shape :
       {Shape{2, 2, 2, 2}, {2, 2, 3, 0}, {2, 2, 3, 1}, {3, 2, 2, 3}, {3, 2, 2, 0}, {2, 3, 2, 4}}) {
    for (const bool by_level : {false, true}) {
      ++seed;
      const FilteredTree tree = drawn_tree({.alphabet = shape.q,
                                            .children = shape.s,
                                            .tuples_each = shape.tuples,
                                            .sigma = 1.5,
                                            .seed = seed},
                                           shape.l,
                                           by_level,
                                           seed);
      for (int k = 0; k <= shape.l; ++k) {
        CAPTURE(shape.q, shape.s, shape.l, shape.tuples, by_level, k);
        const VectorXd law = sequence_law(tree, k);
        CHECK_THAT(law.sum(), WithinAbs(1, 1e-13));
        RandomStream stream({.seed = seed, .id = StreamId::self_test, .step = 1});
        BeliefPropagation messages(tree, k);
        for (int trial = 0; trial < 4; ++trial) {
          Index number = 0;
          do number = static_cast<Index>(stream.below(static_cast<std::uint64_t>(law.size())));
          while (law[number] == 0);
          const std::vector<int> x = letters(number, tree);
          VectorXd roots(shape.q);
          for (int r = 0; r < shape.q; ++r) roots[r] = probability(tree, k, x, r);
          CHECK_THAT(law[number], WithinAbs(roots.sum(), 1e-14));
          messages.pass(x);
          CHECK_THAT(messages.log_evidence(), WithinAbs(std::log(roots.sum()), 1e-12));
          CHECK((messages.root() - roots / roots.sum()).lpNorm<Eigen::Infinity>() < 1e-12);
          // Any number of hidden leaves: marginals by summation of the enumerated law.
          std::vector<int> seen = x;
          for (int& letter : seen) {
            if (stream.uniform() < 0.3 * trial) letter = -1;
          }
          messages.pass(seen);
          MatrixXd marginals = MatrixXd::Zero(shape.q, tree.leaves());
          double evidence = 0;
          for (Index y = 0; y < law.size(); ++y) {
            if (law[y] == 0) continue;
            const std::vector<int> other = letters(y, tree);
            Index differs = -1;  // at this seen leaf alone; -2: at more
            for (std::size_t m = 0; m < other.size(); ++m) {
              if (seen[m] >= 0 && seen[m] != other[m]) {
                differs = differs == -1 ? static_cast<Index>(m) : -2;
              }
            }
            if (differs == -2) continue;
            if (differs == -1) evidence += law[y];
            for (std::size_t m = 0; m < other.size(); ++m) {
              if (differs == -1 || differs == static_cast<Index>(m)) {
                marginals(other[m], static_cast<Index>(m)) += law[y];
              }
            }
          }
          for (Index m = 0; m < marginals.cols(); ++m) marginals.col(m) /= marginals.col(m).sum();
          CHECK_THAT(messages.log_evidence(), WithinAbs(std::log(evidence), 1e-12));
          CHECK((messages.leaf_laws() - marginals).lpNorm<Eigen::Infinity>() < 1e-12);
        }
      }
    }
  }
}

TEST_CASE("BeliefPropagation: posteriors of the reference", "[theory][trees]") {
  for (const Reference c : values("bp")) {
    CAPTURE(c.dump());
    const FilteredTree tree = tree_of(c);
    BeliefPropagation messages(tree, c["k"].get<int>());
    messages.pass(c["leaves"].get<std::vector<int>>());
    CHECK_THAT(messages.log_evidence(), WithinAbs(c["log_evidence"].real(), 1e-12));
    CHECK((messages.root() - vector(c["root_posterior"])).lpNorm<Eigen::Infinity>() < 1e-12);
    for (std::size_t j = 0; j < c["masked"].size(); ++j) {
      const VectorXd law = vector(c["posterior"][j]);
      CHECK((messages.leaf_laws().col(c["masked"][j].get<int>()) - law).lpNorm<Eigen::Infinity>() <
            1e-12);
    }
  }
}

TEST_CASE("BeliefPropagation: impossible leaves are named with the level", "[theory][trees]") {
  FilteredTree tree{.alphabet = 2,
                    .children = 2,
                    .depth = 1,
                    .root = VectorXd::Constant(2, 0.5),
                    .rules = {MatrixXd{{1, 0, 0, 0}, {0, 0, 0, 1}}}};
  BeliefPropagation messages(tree, 1);
  CHECK(refused([&] { messages.pass(std::vector<int>{0, 1}); }) == "leaves");
  CHECK(refused([&] { messages.pass(std::vector<int>{0, 2}); }) == "leaves");
  CHECK(refused([&] { messages.pass(std::vector<int>{0}); }) == "leaves");
  CHECK(refused([&] { BeliefPropagation(tree, 2); }) == "level");
  messages.pass(std::vector<int>{0, -1});
  CHECK(messages.leaf_laws()(0, 1) == 1);
}

TEST_CASE("floors: enumeration matches the reference", "[theory][trees]") {
  const auto check = [](Reference c) {
    CAPTURE(c.dump());
    const FilteredTree tree = tree_of(c);
    constexpr auto route = FloorRoute::enumeration;
    for (int k = 0; k <= tree.depth; ++k) {
      CHECK_THAT(own_floor(tree, k, route, kPlan).value, WithinAbs(c["own"][k].real(), 1e-12));
      CHECK_THAT(full_floor(tree, k, route, kPlan).value, WithinAbs(c["full"][k].real(), 1e-12));
      CHECK_THAT(window_floor(tree, k, route, kPlan).value,
                 WithinAbs(c["window"][k].real(), 1e-12));
      if (c.contains("root_entropy")) {
        CHECK_THAT(root_floor(tree, k, route, kPlan).value,
                   WithinAbs(c["root_entropy"][k].real(), 1e-12));
      }
      for (int j = 0; j <= tree.depth; ++j) {
        const Reference cross = c["cross"][j][k];
        const double found = cross_floor(tree, j, k, route, kPlan).value;
        if (cross.is_null()) {
          CHECK(found == std::numeric_limits<double>::infinity());
        } else {
          CHECK_THAT(found, WithinAbs(cross.real(), 1e-12));
        }
      }
    }
  };
  for (const Reference c : values("floors")) check(c);
  const auto trees = values("trained_trees").items();
  for (const auto& [name, c] : trees) check(c);
}

TEST_CASE("floors: siblings, enumeration and Monte Carlo are one", "[theory][trees]") {
  for (const Reference c : values("floors")) {
    const FilteredTree tree = tree_of(c);
    for (int k = 0; k <= tree.depth; ++k) {
      CAPTURE(c["tree"].text(), k);
      for (const auto& floor : {own_floor, full_floor, window_floor, root_floor}) {
        const Floor exact = floor(tree, k, FloorRoute::enumeration, kPlan);
        CHECK(exact.error == 0);
        if (has_route(tree, k, FloorRoute::siblings)) {
          CHECK_THAT(floor(tree, k, FloorRoute::siblings, kPlan).value,
                     WithinAbs(exact.value, 1e-12));
        }
        const Floor drawn = floor(tree, k, FloorRoute::monte_carlo, {.sequences = 2000});
        // Three standard errors; four in the many comparisons made here.
        CHECK_THAT(drawn.value, WithinAbs(exact.value, 4.0 / 3 * drawn.error + 1e-9));
        CHECK(drawn.error < 0.04);
      }
    }
  }
}

TEST_CASE("floors: the size of the literature, by siblings and Monte Carlo", "[theory][trees]") {
  const Reference c = values("paper_size")[0];
  const FilteredTree tree = tree_of(c);
  for (int k = 1; k <= 4; ++k) {
    CAPTURE(k);
    CHECK_FALSE(has_route(tree, k, FloorRoute::enumeration));
    // The reference's rule is printed with four digits.
    CHECK_THAT(own_floor(tree, k, FloorRoute::automatic, kPlan).value,
               WithinAbs(c["own_exact_k1to4"][k - 1].real(), 2e-4));
    CHECK_THAT(full_floor(tree, k, FloorRoute::automatic, kPlan).value,
               WithinAbs(c["full_exact_k1to4"][k - 1].real(), 2e-4));
    CHECK_THAT(window_floor(tree, k, FloorRoute::automatic, kPlan).value,
               WithinAbs(c["window"][k].real(), 2e-4));
  }
  CHECK_FALSE(has_route(tree, 0, FloorRoute::siblings));
  const Floor own = own_floor(tree, 0, FloorRoute::automatic, kPlan);
  CHECK_THAT(own.value, WithinAbs(c["monte_carlo"]["own"][0].real(), 2e-4 + 2 * own.error));
  const Floor full = full_floor(tree, 0, FloorRoute::automatic, kPlan);
  CHECK_THAT(full.value, WithinAbs(c["monte_carlo"]["full"][0].real(), 2e-4 + 2 * full.error));
}

TEST_CASE("floors: a rule for each level", "[theory][trees]") {
  for (const int depth : {2, 3}) {
    const FilteredTree tree = drawn_tree(
        {.alphabet = 2, .children = 2, .tuples_each = 2, .sigma = 1, .seed = 5}, depth, true, 9);
    for (int k = 0; k <= depth; ++k) {
      for (const auto& floor : {own_floor, full_floor, window_floor, root_floor}) {
        CHECK_THAT(floor(tree, k, FloorRoute::siblings, kPlan).value,
                   WithinAbs(floor(tree, k, FloorRoute::enumeration, kPlan).value, 1e-12));
      }
    }
  }
}

TEST_CASE("floors: windows fall, and a block's own loss is below its window", "[theory][trees]") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    for (const Index tuples : {Index{0}, Index{2}, Index{3}}) {
      const FilteredTree tree = drawn_tree(
          {.alphabet = 3, .children = 2, .tuples_each = tuples, .sigma = 1, .seed = seed},
          tuples == 3 ? 3 : 2,
          false,
          seed);
      std::vector<double> window;
      for (int k = 0; k <= tree.depth; ++k) {
        CAPTURE(seed, tuples, k);
        window.push_back(window_floor(tree, k, FloorRoute::enumeration, kPlan).value);
        if (k > 0) CHECK(window[k] <= window[k - 1] + 1e-12);
        CHECK(own_floor(tree, k, FloorRoute::enumeration, kPlan).value <= window.back() + 1e-12);
        for (int j = 0; j <= tree.depth; ++j) {
          CHECK(cross_floor(tree, j, k, FloorRoute::enumeration, kPlan).value >=
                own_floor(tree, k, FloorRoute::enumeration, kPlan).value - 1e-12);
        }
      }
      CHECK_THAT(
          window.back(),
          WithinAbs(own_floor(tree, tree.depth, FloorRoute::enumeration, kPlan).value, 1e-12));
    }
  }
}

TEST_CASE("floors: the broadcast rule has closed forms and one step less", "[theory][trees]") {
  constexpr double kReference = 5e-12;  // rounding of the reference's own sums
  for (const Reference c : values("broadcast")) {
    const double rho = c["rho"];
    FilteredTree tree{.alphabet = 2,
                      .children = 2,
                      .depth = c["l"].get<int>(),
                      .root = VectorXd::Constant(2, 0.5),
                      .rules = {broadcast_rule(2, 2, rho)}};
    for (int k = 0; k <= tree.depth; ++k) {
      CAPTURE(rho, k);
      CHECK_THAT(own_floor(tree, k, FloorRoute::enumeration, kPlan).value,
                 WithinAbs(c["own"][k].real(), kReference));
      CHECK_THAT(full_floor(tree, k, FloorRoute::enumeration, kPlan).value,
                 WithinAbs(c["full"][k].real(), kReference));
      CHECK_THAT(window_floor(tree, k, FloorRoute::enumeration, kPlan).value,
                 WithinAbs(c["window"][k].real(), kReference));
      // Correlations of spins: rho^2h below a common head, else that of two paths to the root.
      const VectorXd law = sequence_law(tree, k);
      for (int h = 1; h <= tree.depth; ++h) {
        const Index first = Index{1} << (tree.leaves() - 1);
        const Index second = first >> (Index{1} << (h - 1));
        double correlation = 0;
        for (Index x = 0; x < law.size(); ++x) {
          correlation += ((x & first) != 0) == ((x & second) != 0) ? law[x] : -law[x];
        }
        CHECK_THAT(correlation, WithinAbs(std::pow(rho, h <= k ? 2 * h : 2 * tree.depth), 1e-13));
      }
    }
    const double pair = rho * rho;
    const double loss =
        -(1 + pair) / 2 * std::log((1 + pair) / 2) - (1 - pair) / 2 * std::log((1 - pair) / 2);
    CHECK_THAT(window_floor(tree, 1, FloorRoute::enumeration, kPlan).value, WithinAbs(loss, 1e-12));
  }
}

TEST_CASE("floors: usual coding errors cost what the reference says", "[theory][trees]") {
  for (const Reference c : values("wrong_predictors")) {
    FilteredTree right;
    for (const Reference f : values("floors")) {
      if (f["tree"].text() == c["tree"].text()) right = tree_of(f);
    }
    for (const WrongPredictor wrong : {WrongPredictor::level_below,
                                       WrongPredictor::level_above,
                                       WrongPredictor::children_exchanged,
                                       WrongPredictor::heads_alone}) {
      for (int k = 0; k <= right.depth; ++k) {
        CAPTURE(c["tree"].text(), static_cast<int>(wrong), k);
        Reference expected = c["level_minus_1"][k];
        if (wrong == WrongPredictor::level_above) expected = c["level_plus_1"][k];
        if (wrong == WrongPredictor::children_exchanged) {
          expected = c["sums"]["children_exchanged"][k];
        }
        if (wrong == WrongPredictor::heads_alone) expected = c["sums"]["no_message_to_heads"][k];
        if (expected.is_null()) continue;
        const double found =
            masked_loss(sequence_law(right, k), wrong_predictor(right, k, wrong), right.alphabet);
        CHECK_THAT(found, WithinAbs(expected.real(), 1e-12));
      }
    }
    // Without its prior.
    FilteredTree flat = right;
    flat.root.setConstant(1.0 / right.alphabet);
    for (int k = 0; k <= right.depth; ++k) {
      CHECK_THAT(masked_loss(sequence_law(right, k), sequence_law(flat, k), right.alphabet),
                 WithinAbs(c["sums"]["flat_prior"][k].real(), 1e-12));
    }
  }
}

TEST_CASE("FilteredTree: bad rules and shapes are refused by name", "[core][trees]") {
  const FilteredTree tree{.alphabet = 2,
                          .children = 2,
                          .depth = 2,
                          .root = VectorXd::Constant(2, 0.5),
                          .rules = {broadcast_rule(2, 2, 0.5)}};
  const auto with = [&](auto change) {
    FilteredTree wrong = tree;
    change(wrong);
    return refused([&] { validate(wrong); });
  };
  CHECK(with([](FilteredTree&) {}) == "accepted");
  CHECK(with([](FilteredTree& t) { t.alphabet = 1; }) == "model.alphabet");
  CHECK(with([](FilteredTree& t) { t.children = 1; }) == "model.children");
  CHECK(with([](FilteredTree& t) { t.depth = 0; }) == "model.depth");
  CHECK(with([](FilteredTree& t) { t.depth = 40; }) == "model.depth");
  CHECK(with([](FilteredTree& t) { t.root[0] = 0.6; }) == "model.root");
  CHECK(with([](FilteredTree& t) { t.root = VectorXd::Ones(1); }) == "model.root");
  CHECK(with([](FilteredTree& t) { t.rules[0](0, 0) += 1e-8; }) == "model.rule");
  CHECK(with([](FilteredTree& t) { t.rules[0](1, 2) = -0.1; }) == "model.rule");
  CHECK(with([](FilteredTree& t) { t.rules.assign(3, t.rules[0]); }) == "model.rule");
  CHECK(refused([] { draw_rules({.alphabet = 2, .children = 2, .tuples_each = 3}, 1); }) ==
        "model.tuples");
  CHECK(refused([] { broadcast_rule(2, 2, 1.5); }) == "model.rho");
}

}  // namespace filtered_floors_test
