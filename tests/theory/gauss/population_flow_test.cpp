#include "attica/theory/gauss/population_flow.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <vector>

#include "attica/core/gauss/ensembles.hpp"
#include "attica/theory/gauss/ridge.hpp"
#include "reference_values.hpp"

using namespace attica;
using attica::testing::reference_values;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using Eigen::MatrixXd;

TEST_CASE("population_errors: reference values", "[theory][population]") {
  const nlohmann::json& entry = reference_values("potts").at("population_gf");
  const GaussianMlm problem(ar1_covariance(9, 0.6));
  std::vector<ResidualFilter> filters;
  for (const double time : entry.at("t")) filters.push_back(flow_filter(time));
  const MatrixXd errors = population_errors(problem, {.attention = MatrixXd::Zero(9, 9)}, filters);
  for (Eigen::Index k = 0; k < errors.cols(); ++k) {
    for (Eigen::Index i = 0; i < 9; ++i) {
      CHECK_THAT(
          errors(i, k),
          WithinRel(entry.at("risk")[static_cast<std::size_t>(k)][static_cast<std::size_t>(i)]
                        .get<double>(),
                    1e-12));
    }
  }
}

TEST_CASE("population_flow: integration agrees with the closed form from any start, with decay",
          "[theory][population]") {
  RandomStream stream({.seed = 4, .id = StreamId::initialisation});
  const GaussianMlm problem(ar1_covariance(7, 0.6));
  MatrixXd attention = MatrixXd::NullaryExpr(7, 7, [&] { return stream.normal(); });
  attention.diagonal().setZero();
  const std::vector<double> times{0, 0.2, 1, 6, 40};
  std::vector<ResidualFilter> filters;
  for (const double time : times) filters.push_back(flow_filter(time));
  for (const double lambda : {0.0, 0.3}) {
    const PopulationStart start{.attention = attention, .lambda = lambda};
    const PopulationFlow flow = population_flow(problem, start, times);
    REQUIRE(flow.solution.finished());
    const MatrixXd closed = population_errors(problem, start, filters);
    CHECK((flow.errors - closed).cwiseAbs().maxCoeff() <
          1e-7);  // tolerance of the integration 1e-8
    CHECK((closed.col(0) - attention_errors(problem, attention)).cwiseAbs().maxCoeff() < 1e-12);
  }
  // Long after the start: noise without decay, the ridge estimator of infinitely many samples with
  // it.
  const std::vector<ResidualFilter> late{flow_filter(1e4)};
  const MatrixXd bayes = population_errors(problem, {.attention = attention}, late);
  CHECK((bayes.col(0) - problem.noise_variances()).cwiseAbs().maxCoeff() < 1e-12);
  const MatrixXd ridge = population_errors(problem, {.attention = attention, .lambda = 0.3}, late);
  CHECK_THAT(ridge(2, 0), WithinAbs(ridge_site(problem, 2, 1e9, 0.3).test_error, 1e-8));
}

TEST_CASE("population_errors: gradient descent, step by step", "[theory][population]") {
  const GaussianMlm problem(ar1_covariance(6, 0.5));
  const double eta = 0.2;
  MatrixXd attention = MatrixXd::Zero(6, 6);
  for (int step = 0; step < 5; ++step) {
    MatrixXd gradient = attention * problem.covariance() - problem.covariance();
    gradient.diagonal().setZero();
    attention -= eta * gradient;
  }
  const std::vector<ResidualFilter> filters{descent_filter(eta, 5)};
  const MatrixXd errors = population_errors(problem, {.attention = MatrixXd::Zero(6, 6)}, filters);
  CHECK((errors.col(0) - attention_errors(problem, attention)).cwiseAbs().maxCoeff() < 1e-13);
}

TEST_CASE("population_errors: bad input is refused by name", "[theory][population]") {
  const GaussianMlm problem(ar1_covariance(4, 0.5));
  const std::vector<ResidualFilter> filters{flow_filter(1)};
  CHECK_THROWS_WITH(population_errors(problem, {.attention = MatrixXd::Zero(3, 3)}, filters),
                    Catch::Contains("'attention'"));
  CHECK_THROWS_WITH(population_errors(problem, {.attention = MatrixXd::Identity(4, 4)}, filters),
                    Catch::Contains("'attention'"));
  CHECK_THROWS_WITH(
      population_errors(problem, {.attention = MatrixXd::Zero(4, 4), .lambda = -1}, filters),
      Catch::Contains("'lambda'"));
}
