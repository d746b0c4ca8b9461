#pragma once
/// @file
/// @brief Co-occurrence of tokens of a latent tree in closed form, and exact posteriors by message
/// passing.
///
/// A node equals its ancestor n edges above with probability c_n = (1 + rho^n)/2. With H the height
/// of the closest common ancestor z of two leaves,
///     P(y_l = 1 | k) = c_{L-1} q_{a,k} + (1 - c_{L-1}) (1 - q_{a,k}),
///     P(y_l = 1, y_m = 1) = P(z = 1) c_H^2 + P(z = 0) (1 - c_H)^2              for H < L,
///                         = sum_k p_0(k) P(y_l = 1 | k) P(y_m = 1 | k)         at the root.
/// Source: Tian et al. 2023 (arXiv:2310.00535), Theorem 5 (leaves of one law, H < L).

#include <Eigen/Core>
#include <optional>
#include <span>
#include <vector>

#include "attica/core/joma/latent_tree.hpp"

namespace attica {

/// @brief P(y_l = 1, y_m = 1), or given class k. l != m.
double pair_probability(const LatentTree& tree,
                        Eigen::Index l,
                        Eigen::Index m,
                        std::optional<Eigen::Index> given_class = {});
/// @brief P(y_l = 1), or given class k.
double leaf_probability(const LatentTree& tree,
                        Eigen::Index l,
                        std::optional<Eigen::Index> given_class = {});
/// @brief P(y_l = 1 | y_m = 1), or given class k as well; 1 for l = m.
/// @throws Error (input, `rho`) if y_m = 1 has probability 0
double conditional_probability(const LatentTree& tree,
                               Eigen::Index l,
                               Eigen::Index m,
                               std::optional<Eigen::Index> given_class = {});

/// @brief Probability of a chi-square at least that of counts against the exact law of the class
/// and of the leaves 0 and `leaf`; 0 where something impossible was counted.
/// @param counts rows: classes; columns: 2 y_0 + y_leaf. Their sum is the number of samples
double pair_chi_square_p(const LatentTree& tree, Eigen::Index leaf, const Eigen::MatrixXd& counts);

/// @brief What is known after some leaves have been seen.
struct TreePosterior {
  double log_evidence = 0;  ///< ln P(evidence)
  Eigen::VectorXd classes;  ///< P(k | evidence)
  /// P(node = 1 | evidence), level by level from 1 to depth.
  std::vector<Eigen::VectorXd> nodes;
};
/// @param leaves one number per leaf: 0, 1, or -1 for not seen
/// @throws Error (input, `leaves`) for another number or evidence of probability 0
TreePosterior tree_posterior(const LatentTree& tree, std::span<const int> leaves);

/// @brief P(leaves, k) of all sequences; leaf l is bit l of a sequence's number.
/// @return @shape{2^leaves x classes}
/// @throws Error (input, `model.depth`) for a tree of more than 16 leaves
Eigen::MatrixXd sequence_law(const LatentTree& tree);

}  // namespace attica
