#include "attica/theory/gauss/population_flow.hpp"

#include <fmt/format.h>

#include <cmath>

#include "attica/core/error.hpp"
#include "attica/core/parallel.hpp"
#include "attica/theory/gauss/site_regression.hpp"

namespace attica {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

void check(const GaussianMlm& problem, const PopulationStart& start) {
  const MatrixXd& a = start.attention;
  if (a.rows() != problem.sites() || a.cols() != problem.sites() || !a.allFinite() ||
      (a.diagonal().array() != 0).any()) {
    throw invalid_parameter(
        "attention",
        fmt::format("{} x {} matrix", a.rows(), a.cols()),
        fmt::format(
            "a finite {} x {} matrix with zero diagonal", problem.sites(), problem.sites()));
  }
  require(std::isfinite(start.lambda) && start.lambda >= 0,
          "lambda",
          start.lambda,
          "0 <= lambda < infinity");
}

}  // namespace

VectorXd attention_errors(const GaussianMlm& problem, const MatrixXd& attention) {
  MatrixXd residual = -attention;
  residual.diagonal().array() += 1;
  return (residual * problem.covariance()).cwiseProduct(residual).rowwise().sum();
}

MatrixXd population_errors(const GaussianMlm& problem,
                           const PopulationStart& start,
                           std::span<const ResidualFilter> filters) {
  check(problem, start);
  MatrixXd errors(problem.sites(), static_cast<Index>(filters.size()));
  in_parallel(static_cast<std::size_t>(problem.sites()), [&](std::size_t number) {
    const auto i = static_cast<Index>(number);
    const SiteRegression site = site_regression(problem, i);
    const VectorXd row = start.attention.row(i)(site.inputs).transpose();
    const Eigen::ArrayXd rate = site.s + start.lambda;
    const Eigen::ArrayXd limit = site.s * site.teacher.array() / rate;
    const Eigen::ArrayXd distance = (site.basis.transpose() * row).array() - limit;
    for (Index k = 0; k < errors.cols(); ++k) {
      const ResidualFilter& filter = filters[static_cast<std::size_t>(k)];
      const Eigen::ArrayXd deviation = limit + rate.unaryExpr([&](double z) {
        return filter(z);
      }) * distance - site.teacher.array();
      errors(i, k) = site.bayes_error + (site.s * deviation.square()).sum();
    }
  });
  return errors;
}

PopulationFlow population_flow(const GaussianMlm& problem,
                               const PopulationStart& start,
                               std::span<const double> times,
                               const OdeOptions& options) {
  check(problem, start);
  const Index sites = problem.sites();
  const MatrixXd& sigma = problem.covariance();
  const OdeRhs rhs = [&](double, const VectorXd& x, VectorXd& dxdt) {
    const Eigen::Map<const MatrixXd> a(x.data(), sites, sites);
    Eigen::Map<MatrixXd> rate(dxdt.data(), sites, sites);
    rate = sigma - start.lambda * a;
    rate.noalias() -= a * sigma;
    rate.diagonal().setZero();
  };
  const VectorXd initial = start.attention.reshaped();
  PopulationFlow result{.solution = solve_ode(rhs, initial, times, options), .errors = {}};
  result.errors.resize(sites, result.solution.states.cols());
  for (Index k = 0; k < result.errors.cols(); ++k) {
    result.errors.col(k) =
        attention_errors(problem, result.solution.states.col(k).reshaped(sites, sites));
  }
  return result;
}

}  // namespace attica
