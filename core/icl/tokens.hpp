#pragma once
/// @file
/// @brief Tokens on the unit sphere that attend to one another: x_i' = Proj_{x_i} Σ_j P_ij x_j.

#include <Eigen/Core>

namespace attica {

/// What the weights e^{β x_i·x_j} are divided by.
enum class AttentionNormalisation {
  softmax,  ///< their sum over j
  mean,     ///< n
};

/// @brief The dynamics. @source Geshkovski, Letrouit, Polyanskiy, Rigollet 2023, arXiv:2312.10794:
/// (SA) is softmax, (USA) is mean
struct TokenDynamics {
  Eigen::Index tokens = 2;  ///< n >= 2
  double beta = 1;          ///< inverse temperature >= 0
  AttentionNormalisation normalisation = AttentionNormalisation::softmax;
};

}  // namespace attica
