#include "attica/theory/gauss/population_flow.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "attica/core/gauss/ensembles.hpp"
#include "reference_values.hpp"

using attica::testing::Reference;
using namespace attica;
using attica::testing::reference_values;
using Catch::Matchers::WithinRel;
using Eigen::MatrixXd;

TEST_CASE("population_errors: reference values", "[theory][population]") {
  const Reference entry = reference_values("potts").at("population_gf");
  const GaussianMlm problem(ar1_covariance(9, 0.6));
  std::vector<ResidualFilter> filters;
  for (const double time : entry.at("t")) filters.push_back(flow_filter(time));
  const MatrixXd errors = population_errors(problem, filters);
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

TEST_CASE("population_flow: integration agrees with the closed form", "[theory][population]") {
  const GaussianMlm problem(ar1_covariance(7, 0.6));
  const std::vector<double> times{0.2, 1, 6, 40};
  std::vector<ResidualFilter> filters;
  for (const double time : times) filters.push_back(flow_filter(time));
  const PopulationFlow flow = population_flow(problem, times);
  REQUIRE(flow.status == OdeStatus::finished);
  const MatrixXd closed = population_errors(problem, filters);
  // The tolerance of the integration is 1e-8.
  CHECK((flow.errors - closed).cwiseAbs().maxCoeff() < 1e-7);
  // Long after the start noise is left.
  const std::vector<ResidualFilter> late{flow_filter(1e4)};
  const MatrixXd bayes = population_errors(problem, late);
  CHECK((bayes.col(0) - problem.noise_variances()).cwiseAbs().maxCoeff() < 1e-12);
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
  const MatrixXd errors = population_errors(problem, filters);
  const MatrixXd residual = MatrixXd::Identity(6, 6) - attention;
  const Eigen::VectorXd expected =
      (residual * problem.covariance() * residual.transpose()).diagonal();
  CHECK((errors.col(0) - expected).cwiseAbs().maxCoeff() < 1e-13);
}
