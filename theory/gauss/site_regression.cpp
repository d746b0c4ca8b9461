#include "attica/theory/gauss/site_regression.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <numeric>

#include "attica/core/error.hpp"

namespace attica {

SiteRegression site_regression(const GaussianMlm& problem, Eigen::Index site) {
  const Eigen::Index sites = problem.sites();
  require(site >= 0 && site < sites,
          "site",
          static_cast<double>(site),
          fmt::format("0 <= site < {}", sites));
  SiteRegression result;
  result.inputs.resize(static_cast<std::size_t>(sites));
  std::iota(result.inputs.begin(), result.inputs.end(), Eigen::Index{0});
  result.inputs.erase(result.inputs.begin() + site);
  const Eigen::MatrixXd inputs = problem.covariance()(result.inputs, result.inputs);
  const Eigen::VectorXd cross = problem.covariance()(result.inputs, site);

  // C_i has the rank of Σ, or one less if the site is not determined by the others.
  const bool determined = problem.kernel_weights()[site] > 0;
  const Eigen::Index rank = determined ? problem.rank() : problem.rank() - 1;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(inputs);
  result.s = solver.eigenvalues().tail(rank);
  result.basis = solver.eigenvectors().rightCols(rank);
  result.teacher = (result.basis.transpose() * cross).array() / result.s;
  result.variance = problem.covariance()(site, site);
  if (problem.rank() == sites) {
    // With the site ordered last, its conditional variance is the last pivot.
    std::vector<Eigen::Index> order = result.inputs;
    order.push_back(site);
    const Eigen::MatrixXd ordered = problem.covariance()(order, order);
    const Eigen::MatrixXd factor = ordered.llt().matrixL();
    result.bayes_error = factor(sites - 1, sites - 1) * factor(sites - 1, sites - 1);
  } else if (!determined) {
    result.bayes_error = result.variance - (result.s * result.teacher.array().square()).sum();
  }
  return result;
}

}  // namespace attica
