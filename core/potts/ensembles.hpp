#pragma once
/// @file
/// @brief Families of couplings J and colour couplings U of the Potts model.

#include <Eigen/Core>

#include "attica/core/random.hpp"

namespace attica {

/// @brief J_ij = 1 with probability `density`, else 0.
/// @param sites   L >= 2
/// @param density in (0, 1]
Eigen::MatrixXd binary_couplings(Eigen::Index sites, double density, RandomStream& stream);
/// @brief J_ij normal with variance 1/L.
Eigen::MatrixXd gaussian_couplings(Eigen::Index sites, RandomStream& stream);
/// @brief J_ij = 1 for neighbours on a ring.
Eigen::MatrixXd ring_couplings(Eigen::Index sites);
/// @brief A fixed generic matrix: J_ij = cos(1 + 1.3 ij + 0.7 (i+j)) / sqrt(L), indices from 0.
Eigen::MatrixXd cosine_couplings(Eigen::Index sites);

/// @brief U = (G + G^T)/sqrt(2), G of independent standard normals.
Eigen::MatrixXd gaussian_colour_couplings(Eigen::Index colours, RandomStream& stream);
/// @brief U = 1: the Potts model proper.
Eigen::MatrixXd potts_colour_couplings(Eigen::Index colours);
/// @brief A fixed generic matrix: U_ac = sin(1 + 1.1 (a+1)(c+1)) + cos(0.5 (a+c)), indices from 0.
Eigen::MatrixXd cosine_colour_couplings(Eigen::Index colours);
/// @brief Pi U Pi with Pi = 1 - 11^T/C: rows and columns add up to 0, no colour is preferred.
Eigen::MatrixXd zero_sum(const Eigen::MatrixXd& colour_couplings);

}  // namespace attica
