/// Regression on single tokens: reference flow, reduction of the whole network, refused input.

#include "attica/theory/joma/one_token.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/theory/joma/flow.hpp"
#include "core/joma/reference.hpp"

using namespace attica;
using attica::testing::numbers;
using attica::testing::reference_values;
using Catch::Matchers::Contains;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace joma_one_token_test {

OneTokenRegression reference_problem() {
  const auto row = reference_values("joma")["bounce_hblt"]["one_token"];
  const std::vector<double> p = numbers(row["P"]);
  const std::vector<double> y = numbers(row["y"]);
  return {Eigen::Map<const VectorXd>(p.data(), 4), Eigen::Map<const VectorXd>(y.data(), 4)};
}

TEST_CASE("one_token_flow: reference values", "[theory][joma]") {
  const auto row = reference_values("joma")["bounce_hblt"]["one_token"];
  const OneTokenRegression problem = reference_problem();
  std::vector<double> times = numbers(row["t"]);
  times.insert(times.begin(), 0.0);
  const OdeResult flow = one_token_flow(problem, times);
  REQUIRE(flow.finished());
  const VectorXd fixed = one_token_fixed_point(problem);
  double fastest = 0;
  for (Eigen::Index l = 0; l < 4; ++l) {
    const auto i = static_cast<std::size_t>(l);
    for (std::size_t k = 1; k < times.size(); ++k) {
      CHECK(flow.states(l, static_cast<Eigen::Index>(k)) ==
            Approx(row["v"][k - 1][i].get<double>()).epsilon(1e-8));
    }
    CHECK(fixed[l] == Approx(row["v_inf"][i].get<double>()).epsilon(1e-14));
    fastest = std::max(fastest, row["rate"][i].get<double>() / problem.probability[l]);
  }
  CHECK(one_token_rate(problem) == Approx(fastest).epsilon(1e-12));
}

TEST_CASE("one_token_flow: is the flow of the whole network", "[theory][joma]") {
  const OneTokenRegression problem = reference_problem();
  const JomaModel model({.attention = JomaAttention::exponential,
                         .loss = JomaLoss::squared,
                         .residual = 0,
                         .top = problem.target},
                        {.contexts = MatrixXd::Identity(4, 4),
                         .queries = {0, 0, 0, 0},
                         .labels = {0, 1, 2, 3},
                         .weights = problem.probability});
  const JomaState zero{MatrixXd::Zero(1, 4), MatrixXd::Zero(1, 1), MatrixXd::Zero(1, 4)};
  const std::vector<double> times = {0.0, 0.2, 0.7};
  const JomaFlow whole = joma_flow(model, zero, times);
  const OdeResult reduced = one_token_flow(problem, times);
  REQUIRE(whole.solution.finished());
  for (Eigen::Index k = 0; k < 3; ++k) {
    const VectorXd v = whole.states[static_cast<std::size_t>(k)].v.transpose();
    CHECK((v - reduced.states.col(k)).cwiseAbs().maxCoeff() < 1e-8);
  }
}

TEST_CASE("one_token: bad input is refused by name", "[theory][joma]") {
  OneTokenRegression problem = reference_problem();
  problem.probability[0] = 0.5;
  CHECK_THROWS_WITH(validate(problem), Contains("model.probability"));
  problem = reference_problem();
  problem.target[0] = NAN;
  CHECK_THROWS_WITH(validate(problem), Contains("model.target"));
}

}  // namespace joma_one_token_test
