#pragma once
/// @file
/// @brief Minimisation of a smooth function of many variables by L-BFGS with a Wolfe line search
/// (Ceres).

#include <Eigen/Core>
#include <functional>

namespace attica {

struct LbfgsOptions {
  /// Stop when no component of the gradient is larger.
  double gradient_tolerance = 1e-8;
  int max_iterations = 2000;
  int history = 20;  ///< pairs kept for the approximation of the Hessian
};

struct [[nodiscard]] LbfgsResult {
  Eigen::VectorXd x;
  double value = 0;
  double largest_gradient = 0;  ///< largest component at x
  int iterations = 0;
  bool converged = false;  ///< the gradient tolerance was met
};

/// @brief The function's value, and its gradient if `gradient` is not null.
using GradientFunction = std::function<double(const double* x, double* gradient)>;

/// @throws Error (input) for a start or options out of their domain. What `function` throws passes
/// through; a value that is not finite ends the search without convergence.
LbfgsResult minimise_lbfgs(const GradientFunction& function,
                           const Eigen::VectorXd& start,
                           const LbfgsOptions& options = {});

}  // namespace attica
