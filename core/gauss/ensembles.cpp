#include "attica/core/gauss/ensembles.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <cmath>

#include "attica/core/error.hpp"

namespace attica {
namespace {

void require_sites(Eigen::Index sites) {
  require(sites >= 2, "sites", static_cast<double>(sites), "at least 2");
}

}  // namespace

Eigen::MatrixXd ar1_covariance(Eigen::Index sites, double rho) {
  require_sites(sites);
  require(std::abs(rho) < 1, "rho", rho, "-1 < rho < 1");
  return Eigen::MatrixXd::NullaryExpr(sites, sites, [rho](Eigen::Index i, Eigen::Index j) {
    return std::pow(rho, static_cast<double>(std::abs(i - j)));
  });
}

Eigen::MatrixXd equi_covariance(Eigen::Index sites, double rho) {
  require_sites(sites);
  // Eigenvalues: 1 - rho (L-1 times) and 1 + (L-1) rho.
  const double lowest = -1.0 / static_cast<double>(sites - 1);
  require(rho > lowest && rho < 1, "rho", rho, fmt::format("{} < rho < 1", lowest));
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Constant(sites, sites, rho);
  covariance.diagonal().setOnes();
  return covariance;
}

Eigen::MatrixXd arrow_covariance(Eigen::Index sites, double rho) {
  require_sites(sites);
  // Eigenvalues: 1 (L-2 times) and 1 ± rho.
  require(std::abs(rho) < 1, "rho", rho, "-1 < rho < 1");
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Identity(sites, sites);
  const double entry = rho / std::sqrt(static_cast<double>(sites - 1));
  covariance.row(0).tail(sites - 1).setConstant(entry);
  covariance.col(0).tail(sites - 1).setConstant(entry);
  return covariance;
}

Eigen::MatrixXd precision_covariance(const PrecisionEnsemble& ensemble, RandomStream& stream) {
  require_sites(ensemble.sites);
  require(std::isfinite(ensemble.tau) && ensemble.tau >= 0, "tau", ensemble.tau, "tau >= 0");
  require(std::isfinite(ensemble.nu) && ensemble.nu > 2 * ensemble.tau,
          "nu",
          ensemble.nu,
          fmt::format("nu > 2 tau = {}", 2 * ensemble.tau));
  Eigen::MatrixXd omega(ensemble.sites, ensemble.sites);
  for (Eigen::Index i = 0; i < ensemble.sites; ++i) {
    for (Eigen::Index j = 0; j < i; ++j) {
      omega(i, j) = omega(j, i) = ensemble.tau * stream.normal();
    }
    omega(i, i) = std::sqrt(2.0) * ensemble.tau * stream.normal();
  }
  return precision_covariance_from(omega, ensemble.nu);
}

Eigen::MatrixXd precision_covariance_from(const Eigen::MatrixXd& omega, double nu) {
  const Eigen::Index sites = omega.rows();
  require_sites(sites);
  if (omega.cols() != sites || !omega.allFinite() || omega != omega.transpose()) {
    throw invalid_parameter("omega",
                            fmt::format("{} x {} matrix", sites, omega.cols()),
                            "a finite symmetric square matrix");
  }
  require(std::isfinite(nu), "nu", nu, "a finite number");
  Eigen::MatrixXd precision = omega / std::sqrt(static_cast<double>(sites));
  precision.diagonal().array() += nu;
  const Eigen::LLT<Eigen::MatrixXd> cholesky(precision);
  if (cholesky.info() != Eigen::Success) {
    const double smallest = precision.selfadjointView<Eigen::Lower>().eigenvalues()[0];
    throw invalid_parameter(
        "nu",
        nu,
        fmt::format("a shift that makes the precision matrix positive definite (its smallest "
                    "eigenvalue is {})",
                    smallest));
  }
  const Eigen::MatrixXd covariance = cholesky.solve(Eigen::MatrixXd::Identity(sites, sites));
  return 0.5 * (covariance + covariance.transpose());
}

}  // namespace attica
