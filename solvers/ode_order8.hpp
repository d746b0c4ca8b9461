#pragma once
/// @file
/// @brief Initial value problems at small tolerances: an explicit method of order 8.

#include "attica/solvers/ode.hpp"

namespace attica {

/// @brief solve_ode by the method of Dormand and Prince of order 8, whatever `options.method` says:
/// below a tolerance of 1e-7 or so it takes a third of the evaluations of dopri5. Output by an
/// interpolant of order 7.
/// @source Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, II.10 (DOP853)
OdeResult solve_ode_order8(const OdeRhs& rhs,
                           const Eigen::Ref<const Eigen::VectorXd>& x0,
                           std::span<const double> times,
                           const OdeOptions& options = {});

}  // namespace attica
