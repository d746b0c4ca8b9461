#pragma once
/// @file
/// @brief How far overlapping embeddings move what exponential and linear attention would conserve
/// with orthonormal ones.
///
/// With c_l the quantity of token l (JomaModel::invariant at K = 1) gradient flow has c_l' = sum_{j
/// != l} K_lj B_lj, B of JomaModel::overlap_rates. Hence at time t exactly
///
///     c_l(t) - c_l(0) = sum_j K_lj A_lj,   A = int_0^t B dt,
///
/// and to first order in the overlap A is that of the orthonormal network. Embeddings that all have
/// cosine eps move c by eps sum_j A_lj. Random ones in dimension d have uncorrelated cosines of
/// variance 1/d: the mean square over draws is sum_j A_lj^2 / d, up to a relative order 1/d.

#include <Eigen/Core>

#include "attica/core/joma/model.hpp"

namespace attica {

/// @brief A for gradient descent with that step, to the orders of the step that are kept: the
/// modified flow, and the sum over steps in place of the integral (Euler and Maclaurin). What
/// single steps add to c at second order, JomaModel::invariant_step at K = 1, is not part of it.
/// @param model exponential or linear attention; its own K moves the state
/// @param time  step times number of steps
/// @param orders of the step that are kept, 1 or 2: the error is of relative order step^(orders +
/// 1)
/// @throws Error (numerical) if the flow does not reach that time
Eigen::MatrixXd overlap_moves(
    const JomaModel& model, const JomaState& start, double time, double step, int orders = 2);

/// @brief Mean over tokens of (sum_j K_lj A_lj)^2.
double mean_square_drift(const Eigen::MatrixXd& moves, const Eigen::MatrixXd& gram);
/// @brief Its mean over random embeddings in dimension d, to first order: sum_lj A_lj^2 / (M d).
double random_mean_square_drift(const Eigen::MatrixXd& moves, double dimension);

}  // namespace attica
