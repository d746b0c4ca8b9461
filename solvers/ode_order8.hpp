#pragma once
/// @file
/// @brief Initial value problems at small tolerances: an explicit method of order 8.

#include <Eigen/Core>
#include <array>
#include <functional>
#include <optional>
#include <span>

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

/// @brief The right-hand side of two solutions at once: the first is at (t[0], row 0 of x), the
/// second at (t[1], row 1), and so are their derivatives. What a callback throws passes through.
using OdePairRhs =
    std::function<void(const Eigen::Array2d& t, const Eigen::Array2Xd& x, Eigen::Array2Xd& dxdt)>;

/// @brief Two solutions as solve_ode_order8 has them, each with its own start, steps and
/// tolerances, of which every trial step is computed side by side: in half the time where the
/// right-hand side takes as long for two as for one.
/// @param x0 a start in each row; @shape{2 x n}
/// @param options of each solution; neither events nor observers
/// @return the states of each at the times, @shape{n x times}; empty unless both reach all times:
/// why, solve_ode_order8 says
/// @throws Error (input) as solve_ode
std::optional<std::array<Eigen::MatrixXd, 2>> solve_ode_pair_order8(
    const OdePairRhs& rhs,
    const Eigen::Array2Xd& x0,
    std::span<const double> times,
    const std::array<OdeOptions, 2>& options);

}  // namespace attica
