#pragma once
/// @file
/// @brief How strongly a token of a latent tree pushes a hidden unit of linear loss, given the
/// query token: by the height of their closest common ancestor.
///
/// With g = s_k of the class k and x_l = 1 where token l occurs, given y_m = 1,
///     Delta = E[g x_l]       (plain),       Delta = Cov(g, x_l)       (centred).
/// Below one root child, with r = rho^{L-1}, mu_k = 2 q_k - 1 and h = rho^{2H} the correlation that
/// the height H leaves for spins +-1,
///     plain:   Delta = [(1 + h) E s + 2 r E(s mu)] / (4 P(m)),
///     centred: Delta = (1 - h) r Cov(s, mu) / (8 P(m)^2),
/// moments over the prior. So the close tokens are pushed least where g is centred: they nearly
/// repeat the query and tell little more of the class; and most where g is not and both terms have
/// one sign: they merely occur more often.
/// Sources: Tian et al. 2023 (arXiv:2310.00535), Theorems 2 and 5; the join is ours.

#include <Eigen/Core>
#include <span>

#include "attica/core/joma/latent_tree.hpp"

namespace attica {

/// Mean of what moves a token, and B times the variance of its estimate from a batch of B.
struct TokenSignal {
  double delta = 0;
  double variance = 0;
};

/// @param rewards s_k, one a class
/// @param batch   >= 2; the sample covariance has a variance of order 1/B with a term of 1/B^2
TokenSignal token_signal(const LatentTree& tree,
                         std::span<const double> rewards,
                         Eigen::Index l,
                         Eigen::Index m,
                         bool centred,
                         double batch);

}  // namespace attica
