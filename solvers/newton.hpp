#pragma once
/// @file
/// @brief Sharpens a minimum of a smooth function of few variables to the accuracy of its gradient.

#include <Eigen/Core>
#include <functional>

namespace attica {

/// @brief Newton's method on gradient(x) = 0 with a Jacobian by central differences.
///
/// Values of a function fix its minimum to the square root of rounding only; its gradient does to
/// rounding. Steps are halved until the gradient shrinks; the search ends when it no longer does.
/// Components whose gradient does not depend on x stay where they are.
/// @param x near a minimum, or anywhere for a convex function whose gradient shrinks along Newton's
/// steps
Eigen::VectorXd newton_minimum(
    const std::function<Eigen::VectorXd(const Eigen::VectorXd&)>& gradient, Eigen::VectorXd x);

}  // namespace attica
