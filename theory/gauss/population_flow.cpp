#include "attica/theory/gauss/population_flow.hpp"

#include <vector>

#include "attica/core/parallel.hpp"
#include "attica/theory/gauss/site_regression.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd population_errors(const GaussianMlm& problem, std::span<const ResidualFilter> filters) {
  MatrixXd errors(problem.sites(), static_cast<Index>(filters.size()));
  in_parallel(static_cast<std::size_t>(problem.sites()), [&](std::size_t number) {
    const auto i = static_cast<Index>(number);
    const SiteRegression site = site_regression(problem, i);
    for (Index k = 0; k < errors.cols(); ++k) {
      const ResidualFilter& filter = filters[static_cast<std::size_t>(k)];
      const Eigen::ArrayXd left =
          site.s.unaryExpr([&](double z) { return filter(z); }) * site.teacher.array();
      errors(i, k) = site.bayes_error + (site.s * left.square()).sum();
    }
  });
  return errors;
}

PopulationFlow population_flow(const GaussianMlm& problem,
                               std::span<const double> times,
                               const OdeOptions& options) {
  const Index sites = problem.sites();
  const MatrixXd& sigma = problem.covariance();
  const OdeRhs rhs = [&](double, const VectorXd& x, VectorXd& dxdt) {
    const Eigen::Map<const MatrixXd> a(x.data(), sites, sites);
    Eigen::Map<MatrixXd> rate(dxdt.data(), sites, sites);
    rate = sigma;
    rate.noalias() -= a * sigma;
    rate.diagonal().setZero();
  };
  std::vector<double> all{0};
  all.insert(all.end(), times.begin(), times.end());
  const OdeResult solution = solve_ode(rhs, VectorXd::Zero(sites * sites), all, options);
  PopulationFlow flow{.status = solution.status, .errors = {}};
  flow.errors.resize(sites, solution.states.cols() - 1);
  for (Index k = 0; k < flow.errors.cols(); ++k) {
    MatrixXd residual = -solution.states.col(k + 1).reshaped(sites, sites);
    residual.diagonal().array() += 1;
    flow.errors.col(k) = (residual * sigma).cwiseProduct(residual).rowwise().sum();
  }
  return flow;
}

}  // namespace attica
