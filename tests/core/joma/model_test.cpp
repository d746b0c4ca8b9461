/// One-layer attention in its reduced state: gradients against reference values, discrete
/// identities, refused input.

#include "attica/core/joma/model.hpp"

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
using Catch::Matchers::Contains;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using nlohmann::json;

namespace joma_model_test {

const json& reference() { return testing::reference_values("joma")["full_model"]; }

double largest(const MatrixXd& m) { return m.cwiseAbs().maxCoeff(); }

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
  VectorXd x = c.start.flat();
  testing::check_gradient([&] { return c.model.loss(c.start.from_flat(x)); },
                          testing::entries(x),
                          testing::entries(gradient));
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

}  // namespace joma_model_test
