/// One-layer attention in its reduced state: gradients against reference values, discrete
/// identities, refused input.

#include "attica/core/joma/model.hpp"

#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "attica/core/error.hpp"
#include "core/joma/reference.hpp"
#include "finite_differences.hpp"

using namespace attica;
using attica::testing::joma_case;
using attica::testing::JomaCase;
using attica::testing::matrix;
using attica::testing::Reference;
using Catch::Matchers::Contains;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace joma_model_test {

Reference reference() { return testing::reference_values("joma")["full_model"]; }

double largest(const MatrixXd& m) { return m.cwiseAbs().maxCoeff(); }

/// Tokens 0, 2 and 3 overlap (0 and 3 only through 2), the others are orthogonal to all.
MatrixXd gram_of(Eigen::Index tokens) {
  MatrixXd gram = MatrixXd::Identity(tokens, tokens);
  gram(0, 2) = gram(2, 0) = 0.4;
  gram(2, 3) = gram(3, 2) = -0.3;
  return gram;
}

/// The network of a reference row with overlapping embeddings.
JomaModel overlapping(const JomaCase& c) {
  JomaLaw law = c.model.law();
  law.gram = gram_of(c.model.tokens());
  return {law, c.model.samples()};
}

JomaState moved(const JomaState& state, double step, const JomaState& direction) {
  return state.from_flat(state.flat() + step * direction.flat());
}

TEST_CASE("JomaModel: losses and gradients of all reference combinations", "[core][joma]") {
  for (const Reference row : reference()["gradients"]) {
    const JomaCase c = joma_case(row);
    JomaState descent;
    CAPTURE(row["attn"], row["phi"], row["loss"]);
    CHECK(c.model.loss(c.start, &descent) == Approx(row["L"].get<double>()).epsilon(1e-14));
    CHECK(largest(descent.v - matrix(row["mdV"])) < 1e-15);
    CHECK(largest(descent.r - matrix(row["mdR"])) < 1e-15);
    CHECK(largest(descent.z - matrix(row["mdZ"])) < 1e-15);
  }
}

TEST_CASE("JomaModel: gradients are those of the loss", "[core][joma]") {
  const Reference row = reference()["gradients"].back();
  const JomaCase c = joma_case(row);
  JomaState descent;
  c.model.loss(c.start, &descent);
  const VectorXd gradient = -descent.flat();
  VectorXd x = c.start.flat();
  testing::check_gradient([&] { return c.model.loss(c.start.from_flat(x)); },
                          testing::entries(x),
                          testing::entries(gradient));
}

TEST_CASE("JomaModel: back-propagated gradients are the slopes of each sample's loss",
          "[core][joma]") {
  constexpr double kStep = 1e-6;
  for (const Reference row : reference()["gradients"]) {
    const JomaCase c = joma_case(row);
    if (c.model.law().activation == JomaActivation::relu) continue;  // kinks
    const MatrixXd back = c.model.back_propagated(c.start);
    for (Eigen::Index i = 0; i < back.rows(); ++i) {
      const std::vector<int> alone = {static_cast<int>(i)};
      const std::vector<double> weight = {1};
      const int query = c.model.samples().queries[static_cast<std::size_t>(i)];
      for (Eigen::Index k = 0; k < back.cols(); ++k) {
        // s_k moves with r_km at the rate kappa = 1.
        const auto loss = [&](double by) {
          JomaState s = c.start;
          s.r(k, query) += by;
          return c.model.loss(s, alone, weight);
        };
        CHECK(back(i, k) == Approx(-(loss(kStep) - loss(-kStep)) / (2 * kStep)).margin(1e-8));
      }
    }
  }
}

TEST_CASE("JomaModel: the identity of descent holds to rounding", "[core][joma]") {
  for (const Reference row : reference()["sgd_identity"]) {
    JomaCase c = joma_case(row);
    JomaState state = c.start;
    VectorXd accumulated = VectorXd::Zero(c.model.tokens());
    const std::vector<double> third(3, 1.0 / 3);
    for (int s = 0; s < row["steps"].get<int>(); ++s) {
      const std::vector<int> chosen = {(2 * s) % 6, (2 * s + 3) % 6, (5 * s + 1) % 6};
      JomaState d;
      const double loss = c.model.loss(state, chosen, third, &d);
      CHECK(loss == Approx(row["minibatch_losses"][static_cast<std::size_t>(s)].get<double>()));
      const double eta = row["eta"];
      d = d.from_flat(eta * d.flat());
      state = state.from_flat(state.flat() + d.flat());
      accumulated += c.model.invariant_step(d);
    }
    CHECK(largest(state.v - matrix(row["V"])) < 1e-14);
    CHECK(largest(state.z - matrix(row["Z"])) < 1e-14);
    const VectorXd change = c.model.invariant(state) - c.model.invariant(c.start);
    CHECK((change - accumulated).cwiseAbs().maxCoeff() < 1e-15);
  }
}

TEST_CASE("JomaModel: overlapping embeddings descend as weights and key-query matrix do",
          "[core][joma]") {
  // Token embeddings U with U^T U = K and query embeddings orthogonal to them, in one more
  // dimension than needed; the loss as a function of W and Q, by finite differences.
  for (const Reference row : reference()["gradients"]) {
    const JomaCase c = joma_case(row);
    if (c.model.law().activation == JomaActivation::relu) continue;  // kinks
    const JomaModel model = overlapping(c);
    const Eigen::Index tokens = model.tokens();
    const Eigen::Index queries = model.queries();
    const Eigen::Index dimension = tokens + queries + 1;
    MatrixXd u = MatrixXd::Zero(dimension, tokens);
    u.topRows(tokens) = Eigen::LLT<MatrixXd>(model.law().gram).matrixU();
    MatrixXd of_queries = MatrixXd::Zero(dimension, queries);
    of_queries.middleRows(tokens, queries).setIdentity();
    // A start with these v, r, z: weights in the span of the embeddings.
    const MatrixXd dual = u * model.law().gram.inverse();
    MatrixXd w = c.start.v * dual.transpose() + c.start.r * of_queries.transpose();
    MatrixXd q = of_queries * c.start.z * dual.transpose();
    const auto seen = [&] {
      return JomaState{w * u, w * of_queries, of_queries.transpose() * q * u};
    };
    CHECK(largest(seen().v - c.start.v) + largest(seen().z - c.start.z) < 1e-14);
    const auto slopes = [&](MatrixXd& of) {
      MatrixXd gradient(of.rows(), of.cols());
      for (Eigen::Index i = 0; i < of.size(); ++i) {
        gradient(i) = testing::central_difference([&] { return c.model.loss(seen()); },
                                                  testing::entries(of),
                                                  static_cast<std::size_t>(i));
      }
      return gradient;
    };
    const MatrixXd dw = -slopes(w);
    const MatrixXd dq = -slopes(q);
    JomaState descent;
    model.loss(c.start, &descent);
    CAPTURE(row["attn"], row["phi"], row["loss"]);
    CHECK(largest(descent.v - dw * u) < 1e-8);
    CHECK(largest(descent.r - dw * of_queries) < 1e-8);
    CHECK(largest(descent.z - of_queries.transpose() * dq * u) < 1e-8);
  }
}

TEST_CASE("JomaModel: overlap leaves one conserved quantity for each connected set of tokens",
          "[core][joma]") {
  for (const Reference row : reference()["gradients"]) {
    const JomaCase c = joma_case(row);
    if (c.model.law().activation == JomaActivation::relu) continue;
    CAPTURE(row["attn"], row["phi"], row["loss"]);
    const JomaModel model = overlapping(c);
    CHECK(model.conserved() == model.tokens() - 2);
    const auto rate = [&](const JomaState& s) {
      JomaState descent;
      model.loss(s, &descent);
      return descent;
    };
    // Runge and Kutta's steps; their error at 1/50 is below 1e-8.
    JomaState s = c.start;
    constexpr double kStep = 0.02;
    for (int k = 0; k < 50; ++k) {
      const JomaState k1 = rate(s);
      const JomaState k2 = rate(moved(s, kStep / 2, k1));
      const JomaState k3 = rate(moved(s, kStep / 2, k2));
      const JomaState k4 = rate(moved(s, kStep, k3));
      s = s.from_flat(s.flat() +
                      kStep / 6 * (k1.flat() + 2 * k2.flat() + 2 * k3.flat() + k4.flat()));
    }
    if (model.law().attention == JomaAttention::softmax) {
      CHECK((model.logit_sums(s) - model.logit_sums(c.start)).norm() < 1e-12);
      continue;
    }
    CHECK(largest(model.invariant(s) - model.invariant(c.start)) < 1e-8);
    // What orthonormal embeddings conserve does move, but for tokens that overlap with none.
    const VectorXd old = c.model.invariant(s) - c.model.invariant(c.start);
    CHECK(largest(old) > 1e-5);
    CHECK(std::abs(old[1]) < 1e-8);

    // A whole step, however large: the identity to rounding.
    const JomaState descent = rate(c.start);
    const JomaState step = descent.from_flat(0.7 * descent.flat());
    const VectorXd change = model.invariant(moved(c.start, 1, step)) - model.invariant(c.start);
    CHECK(largest(change - model.invariant_step(step)) < 1e-14);

    // And the rate of the old one is that of its formula.
    constexpr double kSmall = 1e-5;
    const VectorXd slope = (c.model.invariant(moved(c.start, kSmall, descent)) -
                            c.model.invariant(moved(c.start, -kSmall, descent))) /
                           (2 * kSmall);
    CHECK(largest(slope -
                  model.overlap_rates(c.start).cwiseProduct(model.law().gram).rowwise().sum()) <
          1e-9);
  }
}

TEST_CASE("JomaModel: bad input is refused by name", "[core][joma]") {
  const auto build = [](const std::function<void(JomaLaw&, JomaSamples&)>& spoil) {
    JomaLaw law{.attention = JomaAttention::softmax, .top = MatrixXd::Ones(2, 3)};
    JomaSamples samples{.contexts = MatrixXd::Constant(2, 4, 0.25),
                        .queries = {0, 0},
                        .labels = {0, 1},
                        .weights = VectorXd::Constant(2, 0.5)};
    spoil(law, samples);
    return JomaModel(law, samples);
  };
  CHECK_NOTHROW(build([](auto&, auto&) {}));
  CHECK_THROWS_WITH(build([](auto&, auto& s) { s.contexts(0, 0) = -1; }),
                    Contains("model.contexts"));
  CHECK_THROWS_WITH(build([](auto&, auto& s) { s.contexts(0, 0) = NAN; }),
                    Contains("model.contexts"));
  CHECK_THROWS_WITH(build([](auto&, auto& s) { s.contexts.row(0).setZero(); }),
                    Contains("softmax"));
  CHECK_THROWS_WITH(build([](auto&, auto& s) { s.weights[0] = 0.6; }), Contains("sum of 1"));
  CHECK_THROWS_WITH(build([](auto&, auto& s) { s.weights[0] = NAN; }), Contains("model.weights"));
  CHECK_THROWS_WITH(build([](auto&, auto& s) { s.labels[0] = 2; }), Contains("model.labels"));
  CHECK_THROWS_WITH(build([](auto&, auto& s) { s.queries[0] = -1; }), Contains("model.queries"));
  CHECK_THROWS_WITH(build([](auto& l, auto&) { l.temperature = 0; }),
                    Contains("model.temperature"));
  CHECK_THROWS_WITH(build([](auto& l, auto&) { l.amplitude = 0; }), Contains("model.amplitude"));
  CHECK_THROWS_WITH(build([](auto& l, auto&) { l.top.resize(0, 0); }), Contains("model.top"));
  CHECK_THROWS_WITH(build([](auto& l, auto&) { l.gram = MatrixXd::Identity(3, 3); }),
                    Contains("model.gram"));
  CHECK_THROWS_WITH(build([](auto& l, auto&) { l.gram = MatrixXd::Ones(4, 4); }),
                    Contains("independent"));
  CHECK_THROWS_WITH(build([](auto& l, auto&) {
                      l.gram = MatrixXd::Identity(4, 4);
                      l.gram(0, 1) = 0.1;
                    }),
                    Contains("symmetric"));
}

}  // namespace joma_model_test
