/// One-layer attention in its reduced state: gradients against reference values, discrete
/// identities, the softmax invariant, refused input.

#include "attica/core/joma_model.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "attica/core/error.hpp"
#include "attica/core/joma_softmax.hpp"
#include "core/joma_reference.hpp"

using namespace attica;
using attica::testing::joma_case;
using attica::testing::JomaCase;
using attica::testing::matrix;
using Catch::Matchers::Contains;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using nlohmann::json;

namespace {

const json& reference() { return testing::reference_values("joma")["full_model"]; }

double largest(const MatrixXd& m) { return m.cwiseAbs().maxCoeff(); }

}  // namespace

TEST_CASE("JomaModel: losses and gradients of all reference combinations", "[core][joma]") {
  for (const json& row : reference()["gradients"]) {
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
  const json& row = reference()["gradients"].back();
  const JomaCase c = joma_case(row);
  JomaState descent;
  c.model.loss(c.start, &descent);
  const VectorXd gradient = -descent.flat();
  const VectorXd x = c.start.flat();
  constexpr double kStep = 1e-5;  // error of a central difference about 1e-10
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    VectorXd shifted = x;
    shifted[i] += kStep;
    const double above = c.model.loss(c.start.from_flat(shifted));
    shifted[i] -= 2 * kStep;
    const double below = c.model.loss(c.start.from_flat(shifted));
    CHECK((above - below) / (2 * kStep) == Approx(gradient[i]).margin(1e-9));
  }
}

TEST_CASE("JomaModel: the identity of descent holds to rounding", "[core][joma]") {
  for (const json& row : reference()["sgd_identity"]) {
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

TEST_CASE("SoftmaxInvariant: descent of the reference figure", "[core][joma]") {
  constexpr int kTokens = 20;
  for (const std::string inputs : {"gaussian", "random"}) {
    MatrixXd x(kTokens, kTokens);  // row i = context of class i
    JomaState state{MatrixXd(kTokens, kTokens), MatrixXd(kTokens, 1), MatrixXd(1, kTokens)};
    for (int i = 0; i < kTokens; ++i) {
      for (int l = 0; l < kTokens; ++l) {
        const double d = l - 10 * i / 20.0;
        x(i, l) = inputs == "gaussian" && l < 10
                      ? std::exp(-d * d / 30)
                      : 0.25 * (1 + std::sin(1.7 * (l + 1) + 0.9 * (i + 1) * (l + 2)));
        state.v(i, l) = 0.01 * std::sin(2.3 * (i + 1) + 1.1 * (l + 1) * (i + 2));
      }
      x.row(i) /= x.row(i).sum();
      state.r(i, 0) = 0.01 * std::cos(3.1 * (i + 1));
      state.z(0, i) = 0.01 * std::cos(0.7 * (i + 1) * (i + 1));
    }
    std::vector<int> labels;
    for (int i = 0; i < kTokens; ++i) labels.push_back(i);
    const JomaModel model(
        {.attention = JomaAttention::softmax, .loss = JomaLoss::cross_entropy, .temperature = 0.5},
        {.contexts = x,
         .queries = std::vector<int>(kTokens, 0),
         .labels = labels,
         .weights = VectorXd::Constant(kTokens, 1.0 / kTokens)});
    const SoftmaxInvariant invariant(model, state);
    const json& rows = reference()["fig2"][inputs];
    int step = 0;
    JomaState d;
    for (const json& row : rows) {
      if (row["step"] > 500) break;
      for (; step < row["step"].get<int>(); ++step) {
        model.loss(state, &d);
        state = state.from_flat(state.flat() + 0.1 * d.flat());
      }
      const SoftmaxAgreement a = invariant.compare(state);
      CAPTURE(inputs, step);
      CHECK(a.correlation == Approx(row["NC"].get<double>()).epsilon(0).margin(1e-8));
      CHECK(a.correlation_weights == Approx(row["NC1"].get<double>()).epsilon(0).margin(1e-8));
      CHECK(a.correlation_norm == Approx(row["NC2"].get<double>()).epsilon(0).margin(1e-8));
      CHECK(a.slope == Approx(row["slope_z_on_zhat"].get<double>()).epsilon(0).margin(1e-8));
      CHECK(a.residual == Approx(row["rel_residual"].get<double>()).epsilon(0).margin(1e-8));
      CHECK(model.loss(state) == Approx(row["loss"].get<double>()).epsilon(1e-10));
    }
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
}
