#pragma once
/// @file
/// @brief Multinomial regression by damped Newton steps, for problems of up to a few hundred
/// parameters.
///
/// Logits h = B Omega^T f with the zero-sum basis B (C x (C-1)): without the direction that softmax
/// does not see the Hessian is positive definite wherever the data determine the coefficients.
/// Loss = -sum_m w_m ln softmax(h_m)[t_m] + (lambda/2) |Omega|^2, with its own lambda for the
/// constant's row.

#include <Eigen/Core>
#include <cstdint>

namespace attica {

/// @brief One regression.
struct MultinomialProblem {
  Eigen::MatrixXd features;  ///< f, @shape{F x M}; row 0 is the constant 1
  Eigen::Matrix<std::uint8_t, Eigen::Dynamic, 1> targets;  ///< t, below `classes`
  Eigen::VectorXd weights;                                 ///< w, adding up to 1
  Eigen::Index classes = 2;                                ///< C
  double lambda = 0;
  double constant_lambda = 0;
};

struct [[nodiscard]] MultinomialFit {
  Eigen::MatrixXd coefficients;  ///< Omega, @shape{F x (C-1)}
  double objective = 0;
  int iterations = 0;
  bool converged = false;  ///< no component of the gradient is larger than the tolerance
};

/// @brief Minimises the loss from 0.
MultinomialFit fit_multinomial(const MultinomialProblem& problem, double gradient_tolerance);

}  // namespace attica
