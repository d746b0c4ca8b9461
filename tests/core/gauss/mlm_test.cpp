#include "attica/core/gauss/mlm.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/core/gauss/ensembles.hpp"

using namespace attica;
using Catch::Matchers::Contains;
using Catch::Matchers::WithinRel;

TEST_CASE("GaussianMlm: eigenpairs rebuild the covariance", "[core][gaussian_mlm]") {
  const Eigen::MatrixXd covariance = ar1_covariance(9, -0.6);
  const GaussianMlm problem(covariance);
  CHECK(problem.sites() == 9);
  CHECK(problem.rank() == 9);
  const Eigen::MatrixXd rebuilt = problem.eigenvectors() * problem.eigenvalues().asDiagonal() *
                                  problem.eigenvectors().transpose();
  CHECK((rebuilt - covariance).cwiseAbs().maxCoeff() < 1e-14);  // a few roundings of O(1) entries
  CHECK_THAT(problem.mean_eigenvalue(), WithinRel(1.0, 1e-14));
  CHECK(problem.kernel_weights().isZero(0));
}

TEST_CASE("GaussianMlm: condition number of equal correlations is (1+(L-1)rho)/(1-rho)",
          "[core][gaussian_mlm]") {
  CHECK_THAT(GaussianMlm(equi_covariance(5, 0.5)).condition_number(), WithinRel(6.0, 1e-13));
}

TEST_CASE("GaussianMlm: noise variances are the inverse diagonal precisions",
          "[core][gaussian_mlm]") {
  // A stationary AR(1) process: 1 - rho² at the ends, (1-rho²)/(1+rho²) inside.
  const double rho = 0.7;
  const Eigen::VectorXd noise = GaussianMlm(ar1_covariance(6, rho)).noise_variances();
  CHECK_THAT(noise[0], WithinRel(1 - rho * rho, 1e-14));
  CHECK_THAT(noise[3], WithinRel((1 - rho * rho) / (1 + rho * rho), 1e-14));
  // Condition number 2e12: Cholesky keeps sigma² to (condition number) x eps relative.
  const double close = 1 - 1e-12;
  CHECK_THAT(GaussianMlm(ar1_covariance(2, close)).noise_variances()[0],
             WithinRel((1 - close) * (1 + close), 1e-3));
}

TEST_CASE("GaussianMlm: the factor squares to the covariance, at full and at deficient rank",
          "[core][gaussian_mlm]") {
  const Eigen::MatrixXd full = ar1_covariance(5, 0.8);
  const Eigen::MatrixXd factor = GaussianMlm(full).factor();
  CHECK((factor * factor.transpose() - full).cwiseAbs().maxCoeff() < 1e-15);
  CHECK(factor.isLowerTriangular());

  const Eigen::MatrixXd thin = full.leftCols(3);
  const Eigen::MatrixXd deficient = thin * thin.transpose();
  const Eigen::MatrixXd root = GaussianMlm(deficient, Definiteness::semi_positive).factor();
  CHECK((root * root.transpose() - deficient).cwiseAbs().maxCoeff() < 1e-14);
}

TEST_CASE("GaussianMlm: a duplicated site makes both copies noise-free and leaves the others",
          "[core][gaussian_mlm]") {
  const Eigen::MatrixXd original = ar1_covariance(5, 0.6);
  const std::vector<int> order = {0, 1, 1, 2, 3, 4};
  const Eigen::MatrixXd doubled = original(order, order);
  const GaussianMlm problem(doubled, Definiteness::semi_positive);
  CHECK(problem.rank() == 5);
  CHECK(problem.eigenvalues()[0] == 0);
  CHECK(std::isinf(problem.condition_number()));
  // The kernel is (e_1 - e_2)/√2.
  CHECK_THAT(problem.kernel_weights()[1], WithinRel(0.5, 1e-13));
  CHECK(problem.kernel_weights()[0] == 0);
  CHECK(problem.noise_variances()[1] == 0);
  CHECK(problem.noise_variances()[2] == 0);
  const Eigen::VectorXd noise = GaussianMlm(original).noise_variances();
  CHECK_THAT(problem.noise_variances()[0], WithinRel(noise[0], 1e-13));
  CHECK_THAT(problem.noise_variances()[3], WithinRel(noise[2], 1e-13));
}

TEST_CASE("GaussianMlm: tiny asymmetry is averaged away", "[core][gaussian_mlm]") {
  Eigen::MatrixXd covariance = ar1_covariance(4, 0.5);
  covariance(0, 1) += 1e-12;
  const GaussianMlm problem(covariance);
  CHECK(problem.covariance()(0, 1) == problem.covariance()(1, 0));
}

TEST_CASE("GaussianMlm: refuses what is not a covariance, naming it", "[core][gaussian_mlm]") {
  auto message = [](const Eigen::MatrixXd& covariance,
                    Definiteness definiteness = Definiteness::positive) -> std::string {
    try {
      const GaussianMlm problem(covariance, definiteness);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::input);
      CHECK(error.parameter() == "covariance");
      return error.what();
    }
    return "accepted";
  };
  const Eigen::MatrixXd good = ar1_covariance(4, 0.5);
  CHECK_THAT(message(good.leftCols(3)), Contains("4 x 3"));
  CHECK_THAT(message(Eigen::MatrixXd::Ones(1, 1)), Contains("at least 2 x 2"));
  CHECK_THAT(message(Eigen::MatrixXd(0, 0)), Contains("0 x 0"));

  Eigen::MatrixXd bad = good;
  bad(0, 1) += 1e-9;
  CHECK_THAT(message(bad), Contains("(0, 1)") && Contains("symmetric"));
  bad = good;
  bad(2, 2) = std::nan("");
  CHECK_THAT(message(bad), Contains("finite"));
  bad(2, 2) = std::numeric_limits<double>::infinity();
  CHECK_THAT(message(bad), Contains("finite"));

  Eigen::MatrixXd indefinite = Eigen::MatrixXd::Identity(2, 2);
  indefinite(0, 1) = indefinite(1, 0) = 1.5;  // eigenvalues -0.5, 2.5
  CHECK_THAT(message(indefinite), Contains("smallest eigenvalue -0.5"));
  CHECK_THAT(message(indefinite, Definiteness::semi_positive),
             Contains("smallest eigenvalue -0.5"));
  CHECK_THAT(message(Eigen::MatrixXd::Ones(3, 3)), Contains("positive-definite"));
  CHECK(message(Eigen::MatrixXd::Ones(3, 3), Definiteness::semi_positive) == "accepted");
  CHECK_THAT(message(Eigen::MatrixXd::Zero(3, 3), Definiteness::semi_positive),
             Contains("positive eigenvalue"));
}
