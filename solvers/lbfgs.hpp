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

/// @brief The same, and on with a tenth of the tolerance, from where the last search ended, until x
/// is settled: where a weak penalty decides, a gradient within the tolerance is no minimum yet.
/// @param is_settled of x and the gradient there
/// @return the last search; converged by the tolerance that was asked for. After four tenths x is
/// left as it is, settled or not.
LbfgsResult minimise_lbfgs(const GradientFunction& function,
                           const Eigen::VectorXd& start,
                           const LbfgsOptions& options,
                           const std::function<bool(const Eigen::VectorXd& x,
                                                    const Eigen::VectorXd& gradient)>& is_settled);

/// @brief Whether parameters of a penalty (penalty/2)|x|² have settled between loss and penalty:
/// what is left of their gradient is below 1 % of the penalty's own. Without one they have.
template <class Parameters, class Gradient>
bool settled(const Parameters& x, const Gradient& gradient, double penalty) {
  constexpr double kLeft = 0.01;
  return penalty == 0 || gradient.norm() <= kLeft * penalty * x.norm();
}

}  // namespace attica
