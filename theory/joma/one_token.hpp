#pragma once
/// @file
/// @brief Regression on contexts of a single token: a genuine gradient flow with an entropy bounce.
///
/// A context is token l with probability P_l and target y_l; one linear unit, exponential
/// attention, squared loss, no residual connection. From v = z = 0 the invariant z = v^2/2 reduces
/// the flow to
///     v_l' = P_l e^{z_l} (y_l - v_l e^{z_l}),
/// with fixed point v* e^{v*^2/2} = y_l and rate P_l e^{2z*}(1 + v*^2) there. (After Tian et al.
/// 2023, arXiv:2310.00535, section 4.)

#include <Eigen/Core>
#include <span>

#include "attica/solvers/ode.hpp"

namespace attica {

/// The problem.
struct OneTokenRegression {
  Eigen::VectorXd probability;  ///< P_l, sums to 1 within 1e-9
  Eigen::VectorXd target;       ///< y_l
};

/// @brief Throws Error (input) naming `model.probability` or `model.target`.
void validate(const OneTokenRegression& problem);

/// @brief v at the times, the first of which is 0; a stiff solver with its Jacobian.
OdeResult one_token_flow(const OneTokenRegression& problem, std::span<const double> times);

/// @brief v*.
Eigen::VectorXd one_token_fixed_point(const OneTokenRegression& problem);

/// @brief R_max = max_l e^{2z*}(1 + v*^2), the largest rate that a drawn token feels: SGD needs a
/// learning rate well below 1/R_max.
double one_token_rate(const OneTokenRegression& problem);

}  // namespace attica
