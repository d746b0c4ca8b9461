#pragma once
/// @file
/// @brief Finite-sample ridge regression of labels on inputs, several labels on the same inputs.
///
/// ŵ = argmin (1/2M) Σ_μ (y_μ - w·x_μ)² + (λ/2)‖w‖² for every column y of the labels; at λ = 0 the
/// solution of smallest norm.

#include <Eigen/Core>

namespace attica {

class LabelFits {
 public:
  /// @param inputs X, one sample a row; @shape{M x N}
  /// @param labels Y; @shape{M x T}
  LabelFits(Eigen::MatrixXd inputs, Eigen::MatrixXd labels);

  /// @brief The estimators, one a column; @shape{N x T}. @param lambda >= 0
  /// @throws Error of kind input naming 'lambda'; of kind numerical if the penalty is lost in the
  /// rounding of a singular Gram matrix
  Eigen::MatrixXd weights(double lambda) const;

  /// @brief Mean squares of the labels' residuals; @shape{T}. @param weights @shape{N x T}
  Eigen::VectorXd train_errors(const Eigen::MatrixXd& weights) const;

 private:
  Eigen::MatrixXd inputs_;
  Eigen::MatrixXd labels_;
  Eigen::MatrixXd gram_;  ///< lower triangle of X Xᵀ/M or XᵀX/M, the smaller one
};

}  // namespace attica
