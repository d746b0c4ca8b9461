/// Gradient descent of small attention networks: reference steps, the random walk of SGD, sampled
/// trees.

#include "attica/sim/joma/descent.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "attica/core/error.hpp"
#include "attica/sim/joma/latent_tree_sampler.hpp"
#include "attica/sim/joma/networks.hpp"
#include "attica/solvers/statistics/distributions.hpp"
#include "core/joma/reference.hpp"

using namespace attica;
using attica::testing::joma_case;
using attica::testing::JomaCase;
using attica::testing::numbers;
using attica::testing::reference_values;
using attica::testing::vector;
using Catch::Matchers::Contains;
using Eigen::Index;
using Eigen::VectorXd;

TEST_CASE("JomaTokens: moments and whole-population descent of the reference", "[sim][joma]") {
  const auto row = reference_values("joma")["bounce_hblt"]["sgd_law"];
  const JomaTokens tokens{.classes = vector(row["Pn"]),
                          .rewards = vector(row["g"]),
                          .tokens = attica::testing::matrix(row["Pl"])};
  validate(tokens);
  CHECK((tokens.delta() - vector(row["Delta"])).norm() < 1e-15);
  CHECK((tokens.variance(row["T_ctx"]) - vector(row["Var"])).norm() < 1e-15);
  for (const int factor : {1, 2}) {
    const std::vector<std::int64_t> steps = {row["steps"].get<std::int64_t>() * factor};
    VectorXd end;
    descend_erf(tokens,
                {.eta = row["eta"].get<double>() / factor, .batch = 0},
                steps,
                {},
                [&](std::size_t, const ErfReached& at) { end = at.v; });
    CHECK((end - vector(row[factor == 1 ? "gd_v_eta" : "gd_v_eta/2"])).norm() < 1e-12);
  }
  const std::vector<double> wanted = {0.3, -0.2, 0.0, 0.05};
  const JomaTokens made = JomaTokens::with_delta(wanted);
  CHECK_NOTHROW(validate(made));
  for (Index l = 0; l < 4; ++l) {
    CHECK(made.delta()[l] == Approx(wanted[static_cast<std::size_t>(l)]).margin(1e-16));
  }
}

TEST_CASE("descend_erf: SGD has the mean and spread of its samples", "[sim][joma]") {
  const JomaTokens tokens = JomaTokens::with_delta({0.2, -0.1, 0.0});
  const ErfDescent options{.eta = 0.02, .batch = 8, .context = 4};
  const std::vector<std::int64_t> steps = {100};
  constexpr int kRuns = 400;
  VectorXd sum = VectorXd::Zero(3);
  VectorXd squares = VectorXd::Zero(3);
  for (int r = 0; r < kRuns; ++r) {
    descend_erf(tokens,
                options,
                steps,
                {.seed = 5, .replicate = static_cast<std::uint64_t>(r)},
                [&](std::size_t, const ErfReached& at) {
                  const VectorXd y = at.v.unaryExpr([](double x) {
                    return std::sqrt(std::numbers::pi / 2) * std::erf(x / std::numbers::sqrt2);
                  });
                  sum += y;
                  squares += y.cwiseAbs2();
                });
  }
  const VectorXd mean = sum / kRuns;
  const VectorXd variance = squares / kRuns - mean.cwiseAbs2();
  const VectorXd noise = options.eta * 2.0 / options.batch * tokens.variance(options.context);
  for (Index l = 0; l < 3; ++l) {
    // Four standard errors; the mean's bias of order eta is below 0.003 here.
    CHECK(std::abs(mean[l] - 2 * tokens.delta()[l]) < 4 * std::sqrt(noise[l] / kRuns) + 0.003);
    CHECK(variance[l] == Approx(noise[l]).epsilon(4 * std::sqrt(2.0 / kRuns)));
  }
}

TEST_CASE("JomaDescent: the identity holds for any minibatches", "[sim][joma]") {
  for (const auto row : reference_values("joma")["full_model"]["gradients"]) {
    const JomaCase c = joma_case(row);
    JomaDescent descent(c.model, c.start, 0.05, 2, {.seed = 1, .id = StreamId::minibatch});
    for (int n = 0; n < 50; ++n) descent.step();
    REQUIRE_FALSE(descent.blown_up());
    if (c.model.law().attention == JomaAttention::softmax) {
      CHECK(descent.state().z.sum() == Approx(c.start.z.sum()).margin(1e-13));
      continue;
    }
    const VectorXd change = c.model.invariant(descent.state()) - c.model.invariant(c.start);
    const double scale = std::max(1.0, descent.state().z.cwiseAbs().maxCoeff());
    CHECK((change - descent.accumulated()).cwiseAbs().maxCoeff() < 1e-12 * scale * scale);
  }
}

TEST_CASE("JomaDescent: blow-up is a status, bad input is refused", "[sim][joma]") {
  const JomaCase c =
      joma_case(reference_values("joma")["full_model"]["flow"][10]);  // exp, linear, linear
  JomaDescent descent(c.model, c.start, 0.5, 0, {});
  int steps = 0;
  while (!descent.blown_up() && steps < 10000) {
    descent.step();
    ++steps;
  }
  CHECK(steps < 1000);
  CHECK_THROWS_WITH(JomaDescent(c.model, c.start, 0, 0, {}), Contains("sim.eta"));
  CHECK_THROWS_WITH(JomaDescent(c.model, c.start, 0.1, -1, {}), Contains("sim.batch"));
  JomaState wrong = c.start;
  wrong.v.conservativeResize(2, Eigen::NoChange);
  CHECK_THROWS_WITH(JomaDescent(c.model, wrong, 0.1, 0, {}), Contains("units"));
}

TEST_CASE("descend_one_token: tends to the flow's fixed point", "[sim][joma]") {
  VectorXd p(2);
  p << 0.6, 0.4;
  VectorXd y(2);
  y << 2, -1;
  const std::vector<std::int64_t> steps = {20000};
  descend_one_token(
      p, y, 0.01, 4, steps, {.seed = 2}, [&](std::size_t, const VectorXd& v, const VectorXd& z) {
        // Noise vanishes at the minimum; the step bias shifts the invariant.
        for (Index l = 0; l < 2; ++l) {
          CHECK(v[l] * std::exp(z[l]) == Approx(y[l]).epsilon(1e-6));
          CHECK(z[l] == Approx(0.5 * v[l] * v[l]).margin(0.02));
        }
      });
}

/// The words of a block, drawn edge by edge and sequence by sequence: the whole random number of an
/// edge is put together before it is compared.
TreeBlock read_block(const LatentTree& tree, RandomStream& stream) {
  TreeBlock block;
  std::array<double, 64> uniform{};
  stream.fill_uniform(uniform);
  for (std::size_t s = 0; s < 64; ++s) {
    double cumulative = tree.prior[0];
    int k = 0;
    while (k + 1 < tree.classes() && uniform[s] >= cumulative) cumulative += tree.prior[++k];
    block.classes[s] = k;
  }
  std::vector<std::array<bool, 64>> level;
  for (Index a = 0; a < tree.root_child.rows(); ++a) {
    stream.fill_uniform(uniform);
    level.emplace_back();
    for (std::size_t s = 0; s < 64; ++s) {
      level.back()[s] = uniform[s] < tree.root_child(a, block.classes[s]);
    }
  }
  const double rare = 0.5 * (1 - std::abs(tree.rho));
  BulkBits bulk(stream);
  for (int depth = 2; depth <= tree.depth; ++depth) {
    std::vector<std::array<bool, 64>> next(2 * level.size());
    const std::size_t groups = (next.size() + 7) / 8;
    for (std::size_t group = groups; group-- > 0 && rare > 0;) {
      std::array<std::uint64_t, 64> digits{};  // digit d of edge i: word 8 d + i
      bulk.fill(digits);
      for (std::size_t i = 0; i < 8; ++i) {
        for (std::size_t s = 0; s < 64; ++s) {
          std::uint64_t first = 0;
          for (std::size_t d = 0; d < 8; ++d) first = 2 * first + (digits[8 * d + i] >> s & 1U);
          const auto border = static_cast<std::uint64_t>(std::ldexp(rare, 64));
          bool changes = first < border >> 56U;
          if (first == border >> 56U) changes = stream.bits() < border << 8U;
          const std::size_t child = 8 * group + i;
          if (child < next.size()) next[child][s] = changes;
        }
      }
    }
    for (std::size_t child = 0; child < next.size(); ++child) {
      for (std::size_t s = 0; s < 64; ++s) {
        const bool opposite = tree.rho < 0;
        next[child][s] = level[child / 2][s] ^ opposite ^ next[child][s];
      }
    }
    level = next;
  }
  for (const auto& leaf : level) {
    block.leaves.push_back(0);
    for (std::size_t s = 0; s < 64; ++s) block.leaves.back() |= std::uint64_t{leaf[s]} << s;
  }
  return block;
}

LatentTree lopsided_tree(double rho, int depth = 3) {
  LatentTree tree{
      .depth = depth, .prior = VectorXd(3), .root_child = Eigen::MatrixXd(3, 3), .rho = rho};
  tree.prior << 0.3, 0.2, 0.5;
  tree.root_child << 0.9, 0.2, 0.5, 0.4, 0.7, 0, 1, 0.3, 0.6;
  return tree;
}

TEST_CASE("LatentTreeSampler: the bits of a sampler of single edges", "[sim][tree]") {
  for (const double rho : {0.9, 0.6, 0.0, -0.4, 1.0, -1.0, 0.99999}) {
    for (const int depth : {1, 2, 3, 5}) {
      CAPTURE(rho, depth);
      const LatentTree tree = lopsided_tree(rho, depth);
      const LatentTreeSampler sampler(tree);
      RandomStream stream({.seed = 4});
      RandomStream same({.seed = 4});
      TreeBlock block;
      for (int n = 0; n < 3; ++n) {
        sampler.draw(stream, block);
        const TreeBlock readable = read_block(tree, same);
        CHECK(block.classes == readable.classes);
        CHECK(block.leaves == readable.leaves);
      }
      CHECK(stream.bits() == same.bits());
    }
  }
}

TEST_CASE("LatentTreeSampler: class and all leaves have the exact law", "[sim][tree]") {
  // Two root children with two leaves each: 3 classes, 16 states of the leaves.
  const double rho = GENERATE(0.6, 0.98, -0.3);
  LatentTree tree = lopsided_tree(rho, 2);
  tree.root_child.conservativeResize(2, 3);
  const LatentTreeSampler sampler(tree);
  RandomStream stream({.seed = 11});
  TreeSequences sequences(sampler, stream);
  std::vector<int> leaves;
  constexpr int kSamples = 200000;
  Eigen::MatrixXd counts = Eigen::MatrixXd::Zero(3, 16);
  for (int i = 0; i < kSamples; ++i) {
    const int k = sequences.draw(leaves);
    counts(k, 8 * leaves[0] + 4 * leaves[1] + 2 * leaves[2] + leaves[3]) += 1;
  }
  double chi_square = 0;
  int cells = 0;
  for (int k = 0; k < 3; ++k) {
    for (int state = 0; state < 16; ++state) {
      double p = tree.prior[k];
      for (int a = 0; a < 2; ++a) {
        double child = 0;
        for (int y = 0; y < 2; ++y) {
          const double q = tree.root_child(a, k);
          double both = y == 1 ? q : 1 - q;
          for (int l = 2 * a; l < 2 * a + 2; ++l) {
            both *= 0.5 * ((state >> (3 - l) & 1) == y ? 1 + rho : 1 - rho);
          }
          child += both;
        }
        p *= child;
      }
      const double off = counts(k, state) - kSamples * p;
      chi_square += off * off / (kSamples * p);
      ++cells;
    }
  }
  CHECK(chi_square_tail(chi_square, cells - 1) > 1e-4);
}

TEST_CASE("TreeSequences: the columns of blocks", "[sim][tree]") {
  const LatentTreeSampler sampler(bit_tree(5, 4, 0.9, 0.1, 0.9));
  RandomStream stream({.seed = 2});
  RandomStream same({.seed = 2});
  TreeSequences sequences(sampler, stream);
  TreeBlock block;
  std::vector<int> leaves;
  for (int n = 0; n < 2; ++n) {
    sampler.draw(same, block);
    for (std::size_t s = 0; s < 64; ++s) {
      CHECK(sequences.draw(leaves) == block.classes[s]);
      CHECK((block.of_class(block.classes[s]) >> s & 1U) == 1);
      REQUIRE(leaves.size() == 32);
      int wrong = 0;
      for (std::size_t l = 0; l < 32; ++l) {
        wrong += leaves[l] == static_cast<int>(block.leaves[l] >> s & 1U) ? 0 : 1;
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("count_leaves: what single sequences show", "[sim][tree]") {
  const LatentTree tree = lopsided_tree(0.6);
  const LatentTreeSampler sampler(tree);
  constexpr int kSamples = 150;  // two blocks and a part of a third one
  RandomStream stream({.seed = 3});
  const LeafCounts counts = count_leaves(sampler, kSamples, true, stream);
  RandomStream same({.seed = 3});
  TreeSequences sequences(sampler, same);
  std::vector<Eigen::MatrixXd> partners(3, Eigen::MatrixXd::Zero(3, 4));
  Eigen::MatrixXd pairs = Eigen::MatrixXd::Zero(12, 12);
  std::vector<int> leaves;
  for (int i = 0; i < kSamples; ++i) {
    const int k = sequences.draw(leaves);
    for (std::size_t h = 0; h < 3; ++h) partners[h](k, 2 * leaves[0] + leaves[1U << h]) += 1;
    const VectorXd x = Eigen::Map<const Eigen::VectorXi>(leaves.data(), 12).cast<double>();
    pairs += x * x.transpose();
  }
  for (std::size_t h = 0; h < 3; ++h) CHECK(counts.partners[h] == partners[h]);
  CHECK(counts.pairs == pairs);
}

TEST_CASE("count_leaves: heights and pairs of the same samples", "[sim][tree]") {
  LatentTree tree{
      .depth = 2, .prior = VectorXd::Ones(1), .root_child = Eigen::MatrixXd(2, 1), .rho = 1};
  tree.root_child << 1, 0;
  RandomStream stream({.seed = 1});
  const LeafCounts counts = count_leaves(LatentTreeSampler(tree), 10, true, stream);
  CHECK(counts.partners[0](0, 3) == 10);  // both below the first child: always 1
  CHECK(counts.partners[1](0, 2) == 10);  // the partner below the second one: always 0
  CHECK(counts.pairs.topLeftCorner(2, 2) == Eigen::MatrixXd::Constant(2, 2, 10));
  CHECK(counts.pairs.sum() == 40);
  CHECK(count_leaves(LatentTreeSampler(tree), 10, false, stream).pairs.size() == 0);
}

TEST_CASE("descend_saturating: whole steps by hand, and the fixed point", "[sim][joma]") {
  VectorXd mu(2);
  mu << 1, 2;
  const std::vector<std::int64_t> steps = {1, 20000};
  descend_saturating(mu, VectorXd::Zero(2), 0.3, 0.5, steps, [&](std::size_t k, const VectorXd& v) {
    if (k == 0) {
      CHECK((v - 0.25 * mu).norm() < 1e-15);
    } else {
      CHECK((v - mu).norm() < 1e-12);
    }
  });
}

TEST_CASE("logits_entropy: equal logits, two, and one that has all", "[sim][joma]") {
  CHECK(logits_entropy(VectorXd::Constant(5, 800)) == Approx(std::log(5)));
  const double p = 1 / (1 + std::exp(-1.5));
  VectorXd two(2);
  two << 1.5, 0;
  CHECK(logits_entropy(two) == Approx(-p * std::log(p) - (1 - p) * std::log1p(-p)));
  two << 900, 0;
  CHECK(logits_entropy(two) < 1e-300);  // vectors of exponentials end at 1e-308, not at 0
}

TEST_CASE("class_contexts, random_joma_model: contexts sum to 1; formulas need no seed",
          "[sim][joma]") {
  const JomaProblem formula = class_contexts({.tokens = 6, .classes = 3}, {});
  CHECK((formula.model.samples().contexts.rowwise().sum().array() - 1).abs().maxCoeff() < 1e-15);
  CHECK(formula.start.r(1, 0) == Approx(0.01 * std::cos(6.2)));
  const JomaProblem drawn = class_contexts({.tokens = 6, .classes = 3, .bumps = false}, 7);
  CHECK((drawn.model.samples().contexts.rowwise().sum().array() - 1).abs().maxCoeff() < 1e-15);
  CHECK(drawn.start.v != formula.start.v);
  RandomStream stream({.seed = 1});
  const JomaModel model = random_joma_model({.queries = 2}, {}, stream);
  CHECK(model.queries() == 2);
  CHECK(model.samples().labels == std::vector<int>{0, 1, 2, 0, 1, 2});
  CHECK(random_joma_start(model, 0, stream).v.isZero(0));
}
