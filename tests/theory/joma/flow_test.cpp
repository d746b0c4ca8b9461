/// Gradient flow of the whole network: reference states, conserved quantities, the exact defect of
/// softmax, the law of descent with whole steps.

#include "attica/theory/joma/flow.hpp"

#include <catch2/catch.hpp>

#include "attica/theory/joma/softmax.hpp"
#include "core/joma/reference.hpp"

using namespace attica;
using attica::testing::joma_case;
using attica::testing::JomaCase;
using attica::testing::matrix;
using attica::testing::numbers;
using attica::testing::reference_values;
using Eigen::VectorXd;

TEST_CASE("joma_flow: reference states, invariants, exact defect", "[theory][joma]") {
  constexpr double kState = 1e-9;       // integrated to 1e-11
  constexpr double kConserved = 1e-10;  // drift of the integration
  for (const auto row : reference_values("joma")["full_model"]["flow"]) {
    const JomaCase c = joma_case(row);
    CAPTURE(row["attn"], row["phi"], row["loss"]);
    const SoftmaxInvariant softmax(c.model, c.start);
    const JomaFlow flow = joma_flow(c.model, c.start, numbers(row["t"]), [&](const JomaState& s) {
      return c.model.softmax_defect_rate(s, softmax.mean_context());
    });
    REQUIRE(flow.solution.finished());
    for (std::size_t k = 0; k < flow.states.size(); k += 2) {  // every second state is stored
      const JomaState& s = flow.states[k];
      CHECK((s.v - matrix(row["states"][k / 2]["V"])).cwiseAbs().maxCoeff() < kState);
      CHECK((s.r - matrix(row["states"][k / 2]["R"])).cwiseAbs().maxCoeff() < kState);
      CHECK((s.z - matrix(row["states"][k / 2]["Z"])).cwiseAbs().maxCoeff() < kState);
      if (c.model.law().attention == JomaAttention::softmax) {
        const VectorXd defect = flow.integrals.col(static_cast<Eigen::Index>(k));
        CHECK((softmax.defect(s) - defect).cwiseAbs().maxCoeff() < kConserved);
        CHECK(s.z.sum() == Approx(c.start.z.sum()).margin(kConserved));
      } else {
        const VectorXd change = c.model.invariant(s) - c.model.invariant(c.start);
        CHECK(change.cwiseAbs().maxCoeff() < kConserved);
      }
    }
  }
}

TEST_CASE("joma_flow: descent follows the modified flow to its order", "[theory][joma]") {
  const JomaCase c =
      joma_case(reference_values("joma")["full_model"]["flow"][1]);  // tanh, cross entropy
  const std::vector<double> times = {0.0, 4.0};
  const auto error = [&](double eta, int orders) {
    JomaState state = c.start;
    JomaState d;
    for (int n = 0; n < static_cast<int>(std::lround(4 / eta)); ++n) {
      c.model.loss(state, &d);
      state = state.from_flat(state.flat() + eta * d.flat());
    }
    const JomaFlow flow = joma_flow(c.model, c.start, times, {}, eta, orders);
    return (state.flat() - flow.states.back().flat()).norm();
  };
  // Half the step: a quarter, an eighth of the error, up to the next order.
  CHECK(error(0.2, 1) / error(0.1, 1) == Approx(4).epsilon(0.15));
  CHECK(error(0.2, 2) / error(0.1, 2) == Approx(8).epsilon(0.15));
}
