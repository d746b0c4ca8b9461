#pragma once
/// @file
/// @brief Logistic regression of signs on inputs, by Newton's method.

#include <Eigen/Core>

namespace attica {

struct LogisticFit {
  Eigen::VectorXd weights;  ///< ŵ; @shape{N}
  double train_loss = 0;    ///< (1/M) Σ ln(1 + exp(-y ŵ·x)), nats
  double objective = 0;     ///< train_loss + (λ/2)‖ŵ‖²
};

/// @brief ŵ = argmin (1/M) Σ_μ ln(1 + exp(-y_μ w·x_μ)) + (λ/2)‖w‖².
/// @param inputs X, one sample a row; @shape{M x N}
/// @param signs  y = ±1; @shape{M}
/// @param lambda > 0
/// @param start  where Newton's method begins, such as the fit at another penalty; empty: 0
/// @throws Error of kind input naming the argument, of kind numerical if the gradient does not
/// vanish
LogisticFit logistic_fit(const Eigen::MatrixXd& inputs,
                         const Eigen::VectorXd& signs,
                         double lambda,
                         const Eigen::VectorXd& start = {});

}  // namespace attica
