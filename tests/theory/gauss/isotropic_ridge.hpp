#pragma once

#include <cmath>
#include <limits>

#include "attica/theory/gauss/ridge_limits.hpp"

namespace attica::testing {

/// A site with inputs of covariance c·1.
struct IsotropicTask {
  double variance = 1;        ///< c > 0
  double weight_norm2 = 1;    ///< ‖w*‖² >= 0
  double noise_variance = 0;  ///< σ² >= 0
};

/// Isotropic inputs: κ = (b₀ + √(b₀²+4λc))/2 with b₀ = λ + c(1/alpha - 1) (Hastie, Montanari,
/// Rosset and Tibshirani 2022, arXiv:1903.08560, section 5).
inline RidgeLimit isotropic_ridge(const IsotropicTask& task, double alpha, double lambda) {
  const auto [c, weight_norm2, sigma2] = task;
  const double b = lambda + c * (1 - alpha) / alpha;
  const double root = std::hypot(b, 2 * std::sqrt(lambda) * std::sqrt(c));
  // Two forms of the same root, each without cancellation for its sign of b.
  const double kappa = b >= 0 ? 0.5 * (b + root) : 2 * lambda * c / (root - b);
  const double train_factor = kappa > 0 ? lambda / kappa : 1 - 1 / alpha;
  const double shrinkage = kappa / (c + kappa);
  RidgeLimit limit{.kappa = kappa,
                   .one_minus_gamma = train_factor + kappa * c / std::pow(c + kappa, 2) / alpha,
                   .bayes_error = sigma2};
  if (limit.one_minus_gamma == 0) {  // threshold without penalty
    limit.test_error = std::numeric_limits<double>::infinity();
    limit.status = RidgeStatus::divergent;
    return limit;
  }
  limit.test_error = (shrinkage * shrinkage * c * weight_norm2 + sigma2) / limit.one_minus_gamma;
  limit.train_error = train_factor * train_factor * limit.test_error;
  return limit;
}

}  // namespace attica::testing
