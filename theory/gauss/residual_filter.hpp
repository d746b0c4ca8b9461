#pragma once
/// @file
/// @brief Linear learning rules as functions of the covariance: which part of the residual is left.

#include <complex>
#include <functional>
#include <limits>

namespace attica {

/// @brief f with w - w_∞ = f(S) (w(0) - w_∞) for a learning rule that acts on the empirical
/// covariance S, with f(0) = 1: directions that the data do not show are not learnt. From w(0) = 0
/// and labels y this is w = (1 - f(S)) S⁺ Xᵀy/M.
struct ResidualFilter {
  std::function<std::complex<double>(std::complex<double>)> value;  ///< analytic where it is used
  double time = 0;  ///< |f(z)| stays of order one for Re z >= -1/time, and so it has no pole there
  double reach = std::numeric_limits<double>::infinity();  ///< ... and for Re z <= reach

  double operator()(double z) const { return value({z, 0}).real(); }
};

/// @brief Gradient flow dw/dt = -gradient of (1/2M) Σ (y - w·x)²: f = e^{-zt}.
/// @param time t >= 0 @throws Error of kind input naming 'time'
ResidualFilter flow_filter(double time);

/// @brief n steps of gradient descent on the same loss: f = (1 - ηz)^n.
/// @param eta learning rate η > 0 @param steps n >= 0 @throws Error of kind input naming 'eta' or
/// 'steps'
ResidualFilter descent_filter(double eta, double steps);

}  // namespace attica
