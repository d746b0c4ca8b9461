#include "attica/theory/potts/block_ridge.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "attica/core/error.hpp"
#include "attica/theory/gauss/ridge.hpp"
#include "attica/theory/gauss/ridge_first_order.hpp"
#include "attica/theory/ridge_kappa.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;

BlockRidge::BlockRidge(const MatrixXd& covariance, Index block) {
  const Index size = covariance.rows();
  require(block >= 1 && size % block == 0 && size > block,
          "block",
          static_cast<double>(block),
          "a divisor of the size below it");
  if (covariance.cols() != size || !covariance.allFinite()) {
    throw invalid_parameter("covariance", static_cast<double>(size), "a finite square matrix");
  }
  for (Index first = 0; first < size; first += block) {
    std::vector<Index> inputs;
    for (Index k = 0; k < size; ++k) {
      if (k < first || k >= first + block) inputs.push_back(k);
    }
    const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(MatrixXd(covariance(inputs, inputs)));
    const auto rounding = static_cast<double>(size) * std::numeric_limits<double>::epsilon();
    if (eigen.info() != Eigen::Success ||
        eigen.eigenvalues()[0] <= rounding * eigen.eigenvalues().maxCoeff()) {
      throw invalid_parameter("covariance",
                              eigen.eigenvalues()[0],
                              "positive eigenvalues: every colour must occur at every site");
    }
    const MatrixXd cross = covariance(inputs, Eigen::seqN(first, block));
    blocks_.push_back({.spectrum = eigen.eigenvalues(),
                       .signal = (eigen.eigenvectors().transpose() * cross).rowwise().squaredNorm(),
                       .variance = covariance.diagonal().segment(first, block).sum()});
  }
}

void BlockRidgePoint::add(const BlockRidgeBlock& block, std::size_t blocks) {
  const auto count = static_cast<double>(blocks);
  test_error += block.test_error / count;
  train_error += block.train_error / count;
  finite_size_test += block.finite_size_test / count;
  finite_size_train += block.finite_size_train / count;
  one_minus_gamma = std::min(one_minus_gamma, block.one_minus_gamma);
}

BlockRidgeBlock BlockRidge::leading(const Regression& r, double samples, double lambda) {
  const double kappa = ridge_kappa(r.spectrum, samples, lambda);
  const auto n = static_cast<double>(r.spectrum.size());
  const Eigen::ArrayXd resolvent = 1 / (r.spectrum + kappa);
  const double one_minus_gamma =
      kappa > 0 ? lambda / kappa + kappa / samples * (r.spectrum * resolvent.square()).sum()
                : 1 - n / samples;
  const double residual = r.variance - (r.signal * (resolvent + kappa * resolvent.square())).sum();
  BlockRidgeBlock result{.kappa = kappa, .one_minus_gamma = one_minus_gamma};
  result.test_error =
      one_minus_gamma > 0 ? residual / one_minus_gamma : std::numeric_limits<double>::infinity();
  // lambda / kappa tends to 1 - n/M for kappa = 0, where E_train = residual (1 - n/M).
  result.train_error =
      kappa > 0 ? std::pow(lambda / kappa, 2) * result.test_error : residual * one_minus_gamma;
  return result;
}

BlockRidgeBlock BlockRidge::first(const Regression& r,
                                  double samples,
                                  double lambda,
                                  BlockRidgeBlock block) {
  if (block.one_minus_gamma <= 0) return block;
  const double kappa = block.kappa;
  const auto n = static_cast<double>(r.spectrum.size());
  const Eigen::ArrayXd resolvent = 1 / (r.spectrum + kappa);
  const Eigen::ArrayXd p = r.spectrum * resolvent;
  const Eigen::ArrayXd q = kappa * resolvent;
  const Eigen::ArrayXd v2 = r.signal / r.spectrum.square();
  RidgeSite site{.kappa = kappa,
                 .one_minus_gamma = block.one_minus_gamma,
                 .bias = (r.spectrum * v2 * q.square()).sum(),
                 .bayes_error = r.variance - (r.signal / r.spectrum).sum(),
                 .test_error = block.test_error,
                 .train_error = block.train_error};
  add_first_order({.samples = samples,
                   .lambda_share = kappa > 0 ? lambda / kappa : 1 - n / samples,
                   .slope2 = (p.square() * resolvent).sum() / samples,
                   .slope3 = (p.cube() * resolvent).sum() / samples,
                   .bias2 = kappa * (v2 * q * p.square()).sum(),
                   .bias3 = kappa * (v2 * q * p.cube()).sum(),
                   .weight2 = (v2 * p.square()).sum()},
                  site);
  block.test_error = site.test_error;
  block.train_error = site.train_error;
  block.finite_size_test = site.finite_size_test;
  block.finite_size_train = site.finite_size_train;
  return block;
}

BlockRidgeBlock BlockRidge::block(Index i, double samples, double lambda, RidgeOrder order) const {
  const Regression& r = blocks_[static_cast<std::size_t>(i)];
  const BlockRidgeBlock result = leading(r, samples, lambda);
  return order == RidgeOrder::first ? first(r, samples, lambda, result) : result;
}

BlockRidgePoint BlockRidge::average(double samples, double lambda, RidgeOrder order) const {
  BlockRidgePoint mean{.one_minus_gamma = 1};
  for (Index i = 0; i < static_cast<Index>(blocks_.size()); ++i) {
    mean.add(block(i, samples, lambda, order), blocks_.size());
  }
  return mean;
}

BlockRidgeOrders BlockRidge::averages(double samples, double lambda) const {
  BlockRidgeOrders mean{.leading = {.one_minus_gamma = 1}, .first = {.one_minus_gamma = 1}};
  for (const Regression& r : blocks_) {
    const BlockRidgeBlock result = leading(r, samples, lambda);
    mean.leading.add(result, blocks_.size());
    mean.first.add(first(r, samples, lambda, result), blocks_.size());
  }
  return mean;
}

}  // namespace attica
