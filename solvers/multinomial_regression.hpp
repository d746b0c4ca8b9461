#pragma once
/// @file
/// @brief Multinomial logistic regression by Newton's method: the best softmax-linear prediction.

#include <Eigen/Core>
#include <functional>
#include <span>

namespace attica {

/// Penalties, and stopping of the search.
struct MultinomialOptions {
  /// (penalties_f/2) sum_a W_af^2 is added for every feature f; empty: none
  Eigen::VectorXd penalties = {};
  double gradient_tolerance = 1e-11;  ///< largest component of the gradient, in nats
  int max_iterations = 100;
};

struct [[nodiscard]] MultinomialFit {
  /// Logits of a case with features x: coefficients x, columns adding up to 0. @shape{C x d}
  Eigen::MatrixXd coefficients;
  double loss = 0;  ///< cross-entropy at the optimum and penalties, nats
  int iterations = 0;
  bool converged = false;
};

/// @brief Minimises -sum_n w_n sum_a P_an ln softmax_a(W x_n), a convex function, over W whose
/// columns add up to 0 (the softmax does not see their mean). Newton steps, halved until the loss
/// falls; directions in which the loss is flat are left alone.
/// @param features x_n, @shape{d x n}
/// @param targets  P_an >= 0, columns adding up to 1, @shape{C x n}
/// @param weights  w_n >= 0, adding up to 1
/// @throws Error (input) where shapes do not match, or a penalty is negative
MultinomialFit fit_multinomial(const Eigen::MatrixXd& features,
                               const Eigen::MatrixXd& targets,
                               const Eigen::VectorXd& weights,
                               const MultinomialOptions& options = {});

/// Features x_n, @shape{d x n}, and targets P_an, @shape{C x n}, of some cases.
struct MultinomialCases {
  Eigen::MatrixXd features;
  Eigen::MatrixXd targets;
};

/// @brief The same without a penalty, of more cases than memory has room for: they are asked for in
/// pieces. Newton's method on a sample of the cases, drawn evenly by their weights, then steps with
/// its Hessian and the gradient of all.
/// @param weights of all cases, >= 0, adding up to 1
/// @param most    cases of a piece, and of the sample
/// @param cases   those of the given numbers
/// @throws Error (input) naming `weights` or `most` if there are none, or `penalties` if there are
MultinomialFit fit_multinomial(
    const Eigen::VectorXd& weights,
    Eigen::Index most,
    const std::function<MultinomialCases(std::span<const Eigen::Index> numbers)>& cases,
    const MultinomialOptions& options = {});

}  // namespace attica
