#pragma once
/// @file
/// @brief Tokens on the sphere by their Gram matrix G: x_i' = Proj Σ_j P_ij x_j closes in it,
/// G_ij' = V_ij - V_ii G_ij + V_ji - V_jj G_ij with V = P G. The dimension enters at the start
/// only.

#include <Eigen/Core>

#include "attica/core/icl/tokens.hpp"
#include "attica/core/random.hpp"

namespace attica {

/// @name Starts
/// @{
/// n independent tokens, uniform on the sphere of R^d.
Eigen::MatrixXd uniform_gram(Eigen::Index tokens, Eigen::Index dimension, RandomStream& stream);
/// All overlaps equal.
Eigen::MatrixXd equiangular_gram(Eigen::Index tokens, double overlap);
/// Two groups of n/2 tokens around centres of that overlap: centre + σ N(0, 1/d), normalised.
struct TokenGroups {
  double overlap = 0;  ///< of the centres
  double jitter = 0;   ///< σ >= 0
};
Eigen::MatrixXd group_gram(Eigen::Index tokens,
                           Eigen::Index dimension,
                           const TokenGroups& groups,
                           RandomStream& stream);
/// @}

/// @brief G'.
Eigen::MatrixXd gram_rate(const Eigen::MatrixXd& gram, const TokenDynamics& dynamics);
/// Largest β of weights that are divided by n: 3000 steps take the place of one.
inline constexpr double kLargestMeanBeta = 8;
/// @param step of weights with sum 1, where no rate is above 1
/// @return as fine a step of these dynamics: e^β is the largest rate where weights are divided by n
/// @throws Error (input) naming beta above kLargestMeanBeta there
double token_step(const TokenDynamics& dynamics, double step);
/// @brief One step of the classical Runge-Kutta method of order 4.
void gram_step(Eigen::MatrixXd& gram, const TokenDynamics& dynamics, double step);

/// @brief Mean over pairs i != j.
double mean_overlap(const Eigen::MatrixXd& gram);
/// @brief Mean overlap within the two halves, and between them.
struct GroupOverlaps {
  double within = 1;
  double between = 0;
};
GroupOverlaps group_overlaps(const Eigen::MatrixXd& gram);

}  // namespace attica
