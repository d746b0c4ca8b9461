#include "attica/core/icl/regression.hpp"

#include <cmath>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

ContextMoments context_moments(const MatrixXd& task_second,
                               const VectorXd& task_mean,
                               const ContextNoise& context) {
  require(context.length > 0, "context", context.length, "context > 0");
  require(context.rho >= 0, "rho", context.rho, "rho >= 0");
  const Index d = task_second.rows();
  const auto dim = static_cast<double>(d);
  const double q = task_second.trace() / dim + context.rho;
  const double once = 1 + 1 / context.length;
  const double twice = 1 + 2 / context.length;
  ContextMoments moments{
      .cross = MatrixXd(d, d + 1), .second = MatrixXd(d + 1, d + 1), .variance = q};
  moments.cross << task_second, q * task_mean;
  moments.second.topLeftCorner(d, d) = once * task_second;
  moments.second.diagonal().head(d).array() += q * dim / context.length;
  moments.second.col(d).head(d) = q * twice * task_mean;
  moments.second.row(d).head(d) = q * twice * task_mean.transpose();
  moments.second(d, d) = q * q * twice;
  return moments;
}

ContextMoments pool_moments(const MatrixXd& pool, const ContextNoise& context) {
  require(pool.rows() >= 1, "pool", static_cast<double>(pool.rows()), "at least one task");
  MatrixXd second = MatrixXd::Zero(pool.cols(), pool.cols());
  second.selfadjointView<Eigen::Lower>().rankUpdate(pool.transpose(),
                                                    1 / static_cast<double>(pool.rows()));
  const MatrixXd full = second.selfadjointView<Eigen::Lower>();
  ContextMoments moments = context_moments(full, pool.colwise().mean().transpose(), context);
  // The variance q of a label may differ from task to task: E w q and E q² are no products.
  const Index d = pool.cols();
  const VectorXd q =
      (pool.rowwise().squaredNorm().array() / static_cast<double>(d) + context.rho).matrix();
  const double fourth = moments.second(d, d) / (moments.variance * moments.variance);
  moments.cross.col(d) = pool.transpose() * q / static_cast<double>(pool.rows());
  moments.second.col(d).head(d) = fourth * moments.cross.col(d);
  moments.second.row(d).head(d) = moments.second.col(d).head(d).transpose();
  moments.second(d, d) = fourth * q.squaredNorm() / static_cast<double>(pool.rows());
  return moments;
}

ContextMoments fresh_moments(Index dimension, const ContextNoise& context) {
  return context_moments(
      MatrixXd::Identity(dimension, dimension), VectorXd::Zero(dimension), context);
}

ContextMoments gaussian_moments(const Eigen::ArrayXd& spectrum, const ContextNoise& context) {
  ContextMoments moments =
      context_moments(spectrum.matrix().asDiagonal(), VectorXd::Zero(spectrum.size()), context);
  // g² has the mean (1 + 2/l) E q², and q = ‖w‖²/d + ρ varies from task to task.
  const auto d = static_cast<double>(spectrum.size());
  const double spread = 2 * spectrum.square().sum() / (d * d);
  moments.second(spectrum.size(), spectrum.size()) += (1 + 2 / context.length) * spread;
  return moments;
}

double population_error(const MatrixXd& gamma, const ContextMoments& moments) {
  const MatrixXd weighted = gamma * moments.second - 2 * moments.cross;
  return moments.variance + weighted.cwiseProduct(gamma).sum() / static_cast<double>(gamma.rows());
}

MatrixXd sphere_pool(Index tasks, Index dimension, RandomStream& stream) {
  MatrixXd pool(tasks, dimension);
  for (Index mu = 0; mu < tasks; ++mu) {
    for (Index i = 0; i < dimension; ++i) pool(mu, i) = stream.normal();
    pool.row(mu) *= std::sqrt(static_cast<double>(dimension)) / pool.row(mu).norm();
  }
  return pool;
}

MatrixXd gaussian_pool(Index tasks, const Eigen::ArrayXd& spectrum, RandomStream& stream) {
  MatrixXd pool(tasks, spectrum.size());
  for (Index mu = 0; mu < tasks; ++mu) {
    for (Index i = 0; i < spectrum.size(); ++i) {
      pool(mu, i) = std::sqrt(spectrum(i)) * stream.normal();
    }
  }
  return pool;
}

}  // namespace attica
