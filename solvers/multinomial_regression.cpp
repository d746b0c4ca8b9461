#include "attica/solvers/multinomial_regression.hpp"

#include <Eigen/Cholesky>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/core/potts_ensembles.hpp"
#include "attica/core/potts_model.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

double cross_entropy(const MatrixXd& log_p, const MatrixXd& targets, const VectorXd& weights) {
  return -(log_p.cwiseProduct(targets).colwise().sum() * weights).value();
}

/// H_(k,f),(l,g) = sum_n w_n B^T (diag p_n - p_n p_n^T) B [k, l] x_fn x_gn, f and g the slow index.
MatrixXd hessian(const MatrixXd& features,
                 const MatrixXd& p,
                 const VectorXd& weights,
                 const MatrixXd& basis) {
  const Index inputs = features.rows();
  const Index codes = basis.cols();
  MatrixXd h(inputs * codes, inputs * codes);
  MatrixXd scaled(inputs, features.cols());
  for (Index k = 0; k < codes; ++k) {
    for (Index l = 0; l <= k; ++l) {
      for (Index n = 0; n < features.cols(); ++n) {
        const double mean_k = basis.col(k).dot(p.col(n));
        const double mean_l = basis.col(l).dot(p.col(n));
        const double both = (basis.col(k).array() * basis.col(l).array() * p.col(n).array()).sum();
        scaled.col(n) = weights[n] * (both - mean_k * mean_l) * features.col(n);
      }
      const MatrixXd block = scaled * features.transpose();
      for (Index f = 0; f < inputs; ++f) {
        for (Index g = 0; g < inputs; ++g) {
          h(f * codes + k, g * codes + l) = block(f, g);
          h(f * codes + l, g * codes + k) = block(f, g);
        }
      }
    }
  }
  return h;
}

}  // namespace

MultinomialFit fit_multinomial(const MatrixXd& features,
                               const MatrixXd& targets,
                               const VectorXd& weights,
                               const MultinomialOptions& options) {
  require(features.cols() >= 1 && targets.cols() == features.cols(),
          "targets",
          static_cast<double>(targets.cols()),
          "as many columns as the features, at least 1");
  require(weights.size() == features.cols(),
          "weights",
          static_cast<double>(weights.size()),
          "one for every column of the features");
  const MatrixXd basis = zero_sum_basis(targets.rows());
  MatrixXd codes = MatrixXd::Zero(basis.cols(), features.rows());  // W = basis * codes
  const auto log_probabilities = [&](const MatrixXd& c) {
    MatrixXd log_p = basis * (c * features);
    log_softmax_columns(log_p);
    return log_p;
  };
  MatrixXd log_p = log_probabilities(codes);
  MultinomialFit fit{.coefficients = {}, .loss = cross_entropy(log_p, targets, weights)};
  for (; fit.iterations < options.max_iterations; ++fit.iterations) {
    const MatrixXd p = log_p.array().exp();
    const MatrixXd gradient =
        basis.transpose() * (p - targets) * weights.asDiagonal() * features.transpose();
    if (gradient.cwiseAbs().maxCoeff() < options.gradient_tolerance) {
      fit.converged = true;
      break;
    }
    MatrixXd h = hessian(features, p, weights, basis);
    constexpr double kFlat = 1e-13;  // relative: a direction this flat is not moved along
    h.diagonal().array() += kFlat * h.trace() / static_cast<double>(h.rows());
    const VectorXd step = h.ldlt().solve(gradient.reshaped());
    const double slope = step.dot(gradient.reshaped());
    // Within rounding of the optimum the loss no longer tells whether a step is good.
    constexpr double kRounding = 1e-15;
    constexpr double kArmijo = 1e-4;
    constexpr double kSmallest = 1e-10;
    double length = 1;
    for (; length > kSmallest; length /= 2) {
      const MatrixXd next = codes - length * step.reshaped(codes.rows(), codes.cols());
      MatrixXd next_log_p = log_probabilities(next);
      const double loss = cross_entropy(next_log_p, targets, weights);
      if (loss <= fit.loss - kArmijo * length * slope + kRounding * std::abs(fit.loss)) {
        codes = next;
        log_p = std::move(next_log_p);
        fit.loss = loss;
        break;
      }
    }
    if (length <= kSmallest) break;
  }
  fit.coefficients = basis * codes;
  return fit;
}

}  // namespace attica
