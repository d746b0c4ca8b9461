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
  const auto& row = reference_values("joma")["bounce_hblt"]["sgd_law"];
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
  for (const auto& row : reference_values("joma")["full_model"]["gradients"]) {
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

TEST_CASE("LatentTreeSampler: class and leaf pairs have the exact law", "[sim][tree]") {
  LatentTree tree{
      .depth = 3, .prior = VectorXd(2), .root_child = Eigen::MatrixXd(2, 2), .rho = 0.6};
  tree.prior << 0.3, 0.7;
  tree.root_child << 0.9, 0.2, 0.4, 0.7;
  const LatentTreeSampler sampler(tree);
  RandomStream stream({.seed = 11});
  std::vector<int> leaves;
  constexpr int kSamples = 20000;
  // Leaves 0 and 2 share the first root child; given it they are independent chains of 2 edges.
  Eigen::ArrayXd counts = Eigen::ArrayXd::Zero(8);
  for (int i = 0; i < kSamples; ++i) {
    const int k = sampler.draw(stream, leaves);
    counts[4 * k + 2 * leaves[0] + leaves[2]] += 1;
  }
  const double keep = 0.5 * (1 + 0.36);
  double chi_square = 0;
  for (int k = 0; k < 2; ++k) {
    for (int a = 0; a < 2; ++a) {
      for (int b = 0; b < 2; ++b) {
        double p = 0;
        for (int y = 0; y < 2; ++y) {
          const double q = tree.root_child(0, k);
          p += (y == 1 ? q : 1 - q) * (a == y ? keep : 1 - keep) * (b == y ? keep : 1 - keep);
        }
        const double expected = kSamples * tree.prior[k] * p;
        const double off = counts[4 * k + 2 * a + b] - expected;
        chi_square += off * off / expected;
      }
    }
  }
  CHECK(chi_square_tail(chi_square, 7) > 1e-4);
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
  descend_saturating(mu, 0, 0.3, 0.5, steps, [&](std::size_t k, const VectorXd& v) {
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
