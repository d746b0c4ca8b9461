#include "attica/sim/gauss/flow.hpp"

#include <Eigen/Eigenvalues>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "attica/core/gauss/ensembles.hpp"
#include "attica/sim/gauss/ridge.hpp"
#include "reference_values.hpp"

using attica::testing::Reference;
using namespace attica;
using attica::testing::reference_values;
using Catch::Matchers::WithinAbs;
using Eigen::MatrixXd;

namespace gauss_flow_test {

/// Z_mu,j = sin(1 + 1.7 mu + 2.3 j + 0.31 mu j), the data of the reference values.
MatrixXd sine_data(Eigen::Index samples, Eigen::Index sites) {
  return MatrixXd::NullaryExpr(samples, sites, [](Eigen::Index mu, Eigen::Index j) {
    const double m = static_cast<double>(mu);
    const double site = static_cast<double>(j);
    return std::sin(1 + 1.7 * m + 2.3 * site + 0.31 * m * site);
  });
}

/// A(t) site by site, from the eigenvectors of its own inputs.
MatrixXd attention_at(const MatrixXd& data, double time) {
  const Eigen::Index sites = data.cols();
  const auto samples = static_cast<double>(data.rows());
  MatrixXd attention(sites, sites);
  for (Eigen::Index i = 0; i < sites; ++i) {
    MatrixXd inputs = data;
    inputs.col(i).setZero();  // an input that is always 0 is never used
    const Eigen::SelfAdjointEigenSolver<MatrixXd> spectrum(
        MatrixXd(inputs.transpose() * inputs / samples));
    const Eigen::VectorXd label =
        spectrum.eigenvectors().transpose() * inputs.transpose() * data.col(i) / samples;
    Eigen::VectorXd filtered = Eigen::VectorXd::Zero(sites);
    for (Eigen::Index k = 0; k < sites; ++k) {
      const double s = spectrum.eigenvalues()[k];
      if (s > 1e-12) filtered[k] = -std::expm1(-s * time) / s * label[k];
    }
    attention.row(i) = spectrum.eigenvectors() * filtered;
  }
  return attention;
}

/// Gradient descent step by step, A <- A - eta offdiag(A S - S) with S = Z^T Z/M, which for small
/// eta follows the flow at t = eta steps.
TrainingErrors gradient_descent(const GaussianMlm& problem,
                                const MatrixXd& data,
                                double eta,
                                const std::vector<std::int64_t>& steps) {
  const Eigen::Index sites = problem.sites();
  const MatrixXd gram = data.transpose() * data / static_cast<double>(data.rows());
  TrainingErrors errors{.test = MatrixXd(sites, static_cast<Eigen::Index>(steps.size())),
                        .train = {}};
  errors.train.resizeLike(errors.test);
  MatrixXd residual = MatrixXd::Identity(sites, sites);  // 1 - A
  MatrixXd gradient(sites, sites);
  std::int64_t done = 0;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    for (; done < steps[k]; ++done) {
      gradient.noalias() = residual * gram;
      gradient.diagonal().setZero();
      residual -= eta * gradient;
    }
    const auto column = static_cast<Eigen::Index>(k);
    errors.test.col(column) =
        (residual * problem.covariance()).cwiseProduct(residual).rowwise().sum();
    errors.train.col(column) = (residual * gram).cwiseProduct(residual).rowwise().sum();
  }
  return errors;
}

TEST_CASE("gradient_flow: reference values", "[sim][flow]") {
  const Reference entry = reference_values("potts").at("gf_given_data");
  const MatrixXd data = sine_data(7, 5);
  const GaussianMlm problem(ar1_covariance(5, 0.6));
  for (const auto c : entry.at("cases")) {
    const double time = c.at("t");
    const TrainingErrors errors = gradient_flow(problem, data, std::vector<double>{time});
    const MatrixXd attention = attention_at(data, time);
    for (std::size_t i = 0; i < 5; ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      CHECK_THAT(errors.test(row, 0), WithinAbs(c.at("test")[i].get<double>(), 1e-12));
      CHECK_THAT(errors.train(row, 0), WithinAbs(c.at("train")[i].get<double>(), 1e-12));
      for (std::size_t j = 0; j < 5; ++j) {
        CHECK_THAT(attention(row, static_cast<Eigen::Index>(j)),
                   WithinAbs(c.at("A")[i][j].get<double>(), 1e-12));
      }
    }
  }
}

TEST_CASE("gradient_flow: small steps of descent converge to it in first order", "[sim][flow]") {
  const GaussianMlm problem(ar1_covariance(5, 0.6));
  for (const Eigen::Index samples : {3, 7}) {  // fewer and more samples than inputs
    const MatrixXd data = sine_data(samples, 5);
    const TrainingErrors flow = gradient_flow(problem, data, std::vector<double>{0, 1, 4});
    const auto distance = [&](std::int64_t per_time) {
      const TrainingErrors descent =
          gradient_descent(problem,
                           data,
                           1 / static_cast<double>(per_time),
                           std::vector<std::int64_t>{0, per_time, 4 * per_time});
      return std::max((descent.test - flow.test).cwiseAbs().maxCoeff(),
                      (descent.train - flow.train).cwiseAbs().maxCoeff());
    };
    const double coarse = distance(400);
    CHECK(coarse < 0.02);
    CHECK_THAT(coarse / distance(800), WithinAbs(2, 0.03));  // next order: a factor 1 + O(1/400)
  }
}

TEST_CASE("gradient_flow: a site's own eigenvectors give it at every time", "[sim][flow]") {
  const Eigen::Index sites = 9;
  const GaussianMlm problem(ar1_covariance(sites, 0.8));
  RandomStream stream({.seed = 3});
  for (const Eigen::Index samples : {1, 5, 9, 40}) {
    const MatrixXd data = gaussian_samples(problem.factor(), true, samples, stream);
    for (const double time : {0.0, 1e-3, 0.4, 7.0, 300.0, 1e6}) {
      const TrainingErrors errors = gradient_flow(problem, data, std::vector<double>{time});
      const MatrixXd residual = MatrixXd::Identity(sites, sites) - attention_at(data, time);
      const MatrixXd gram = data.transpose() * data / static_cast<double>(samples);
      const auto distance = [&](const MatrixXd& found, const MatrixXd& covariance) {
        return (found.col(0) - (residual * covariance).cwiseProduct(residual).rowwise().sum())
            .cwiseAbs()
            .maxCoeff();
      };
      CHECK(distance(errors.test, problem.covariance()) < 1e-9);
      CHECK(distance(errors.train, gram) < 1e-9);
    }
  }
}

TEST_CASE("gradient_flow: ends at the minimum-norm solution", "[sim][flow]") {
  const GaussianMlm problem(ar1_covariance(6, 0.5));
  RandomStream stream({.seed = 2});
  for (const Eigen::Index samples : {3, 12}) {
    const MatrixXd data = gaussian_samples(problem.factor(), true, samples, stream);
    const TrainingErrors flow = gradient_flow(problem, data, std::vector<double>{1e7});
    const RidgeFit ridgeless = RidgeFits(data, problem.factor()).fit(0);
    CHECK((flow.test.col(0) - ridgeless.test).cwiseAbs().maxCoeff() < 1e-9);
    CHECK((flow.train.col(0) - ridgeless.train).cwiseAbs().maxCoeff() < 1e-9);
  }
}

TEST_CASE("gradient_flow: from a start on the way it goes on as before", "[sim][flow]") {
  const GaussianMlm problem(ar1_covariance(6, 0.5));
  RandomStream stream({.seed = 3});
  for (const Eigen::Index samples : {3, 12}) {
    const MatrixXd data = gaussian_samples(problem.factor(), true, samples, stream);
    MatrixXd start = attention_at(data, 0.7);
    start.diagonal().setConstant(5);  // takes no part
    const TrainingErrors whole = gradient_flow(problem, data, std::vector<double>{0.7, 1, 3.7});
    const TrainingErrors rest = gradient_flow(problem, data, std::vector<double>{0, 0.3, 3}, start);
    CHECK((whole.test - rest.test).cwiseAbs().maxCoeff() < 1e-11);
    CHECK((whole.train - rest.train).cwiseAbs().maxCoeff() < 1e-11);
  }
}

TEST_CASE("gradient_flow: bad input is refused by name", "[sim][flow]") {
  const GaussianMlm problem(ar1_covariance(5, 0.6));
  const MatrixXd data = sine_data(7, 5);
  CHECK_THROWS_WITH(gradient_flow(problem, MatrixXd(0, 5), std::vector<double>{1}),
                    Catch::Contains("'data'"));
  CHECK_THROWS_WITH(gradient_flow(problem, sine_data(7, 4), std::vector<double>{1}),
                    Catch::Contains("'data'"));
  CHECK_THROWS_WITH(gradient_flow(problem, data, std::vector<double>{-1}),
                    Catch::Contains("'times'"));
}

}  // namespace gauss_flow_test
