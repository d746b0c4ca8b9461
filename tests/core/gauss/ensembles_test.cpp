#include "attica/core/gauss/ensembles.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "attica/core/error.hpp"
#include "reference_values.hpp"
#include "refused.hpp"

using namespace attica;
using namespace attica::testing;
using Catch::Matchers::Contains;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

TEST_CASE("ar1_covariance: its inverse is tridiagonal", "[core][gaussian_ensembles]") {
  const double rho = -0.4;
  const Eigen::MatrixXd precision = ar1_covariance(5, rho).inverse() * (1 - rho * rho);
  CHECK_THAT(precision(0, 0), WithinAbs(1, 1e-14));
  CHECK_THAT(precision(2, 2), WithinAbs(1 + rho * rho, 1e-14));
  CHECK_THAT(precision(1, 2), WithinAbs(-rho, 1e-14));
  CHECK_THAT(precision(0, 2), WithinAbs(0, 1e-14));
  CHECK(ar1_covariance(3, 0).isIdentity(0));
}

TEST_CASE("equi_covariance and arrow_covariance: known spectra", "[core][gaussian_ensembles]") {
  using Solver = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>;
  const Eigen::VectorXd equi = Solver(equi_covariance(5, -0.2)).eigenvalues();
  CHECK_THAT(equi[0], WithinAbs(0.2, 1e-14));
  CHECK_THAT(equi[4], WithinAbs(1.2, 1e-14));
  const Eigen::VectorXd arrow = Solver(arrow_covariance(7, 0.6)).eigenvalues();
  CHECK_THAT(arrow[0], WithinAbs(0.4, 1e-14));
  CHECK_THAT(arrow[3], WithinAbs(1, 1e-14));
  CHECK_THAT(arrow[6], WithinAbs(1.6, 1e-14));
  CHECK_THAT(arrow_covariance(7, -0.6)(0, 3), WithinRel(-0.6 / std::sqrt(6.0), 1e-15));
}

TEST_CASE("precision_covariance_from: reference matrix", "[core][gaussian_ensembles]") {
  const Reference reference = reference_values("potts").at("precision_ensemble_det");
  const auto sites = reference.at("L").get<Eigen::Index>();
  const Eigen::MatrixXd omega =
      Eigen::MatrixXd::NullaryExpr(sites, sites, [](Eigen::Index i, Eigen::Index j) {
        const auto sum = static_cast<double>(i + j);
        const auto product = static_cast<double>(i * j);
        return std::sqrt(2.0) * std::sin(1 + 3.7 * sum + 1.9 * product);
      });
  const Eigen::MatrixXd covariance = precision_covariance_from(omega, reference.at("nu"));
  for (Eigen::Index i = 0; i < sites; ++i) {
    for (Eigen::Index j = 0; j < sites; ++j) {
      // The reference itself is asymmetric at the level of 1e-15.
      CHECK_THAT(
          covariance(i, j),
          WithinAbs(reference.at("Sigma")[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]
                        .get<double>(),
                    1e-14));
    }
  }
}

TEST_CASE("precision_covariance: moments of the drawn matrix", "[core][gaussian_ensembles]") {
  RandomStream stream({.seed = 3, .id = StreamId::model});
  const Eigen::Index sites = 200;
  const double tau = 0.5;
  const Eigen::MatrixXd covariance =
      precision_covariance({.sites = sites, .nu = 2, .tau = tau}, stream);
  Eigen::MatrixXd omega = covariance.inverse();
  omega.diagonal().array() -= 2;
  omega *= std::sqrt(static_cast<double>(sites));
  const double count = 0.5 * static_cast<double>(sites * (sites - 1));
  const double off_diagonal = 0.5 * (omega.squaredNorm() - omega.diagonal().squaredNorm()) / count;
  // Mean of n squared normals: relative standard deviation √(2/n); five of them.
  CHECK_THAT(off_diagonal, WithinRel(tau * tau, 5 * std::sqrt(2 / count)));
  CHECK_THAT(omega.diagonal().squaredNorm() / static_cast<double>(sites),
             WithinRel(2 * tau * tau, 5 * std::sqrt(2.0 / static_cast<double>(sites))));
  CHECK(covariance == covariance.transpose());
}

TEST_CASE("covariance builders: refuse parameters outside their range, by name",
          "[core][gaussian_ensembles]") {
  const double nan = std::nan("");
  CHECK(refused([] { ar1_covariance(1, 0.5); }) == "sites");
  CHECK(refused([] { ar1_covariance(4, 1); }) == "rho");
  CHECK(refused([&] { ar1_covariance(4, nan); }) == "rho");
  CHECK(refused([] { equi_covariance(0, 0.5); }) == "sites");
  CHECK(refused([] { equi_covariance(5, -0.25); }) == "rho");
  CHECK(refused([] { equi_covariance(5, 1); }) == "rho");
  CHECK(refused([&] { equi_covariance(5, nan); }) == "rho");
  CHECK(refused([] { arrow_covariance(1, 0.5); }) == "sites");
  CHECK(refused([] { arrow_covariance(4, -1); }) == "rho");
  CHECK(refused([&] { arrow_covariance(4, nan); }) == "rho");

  RandomStream stream({.seed = 1, .id = StreamId::model});
  CHECK(refused([&] { precision_covariance({.sites = 1}, stream); }) == "sites");
  CHECK(refused([&] { precision_covariance({.sites = 4, .nu = 2, .tau = 1}, stream); }) == "nu");
  CHECK(refused([&] { precision_covariance({.sites = 4, .nu = nan}, stream); }) == "nu");
  CHECK(refused([&] { precision_covariance({.sites = 4, .tau = -1}, stream); }) == "tau");
  CHECK(refused([&] { precision_covariance({.sites = 4, .tau = nan}, stream); }) == "tau");

  const Eigen::MatrixXd omega = -3 * Eigen::MatrixXd::Identity(4, 4);
  CHECK(refused([&] { precision_covariance_from(omega, 1); }) == "nu");  // 1 - 3/2 < 0
  CHECK(refused([&] { precision_covariance_from(omega, nan); }) == "nu");
  CHECK(refused([&] { precision_covariance_from(omega.leftCols(3), 1); }) == "omega");
}
