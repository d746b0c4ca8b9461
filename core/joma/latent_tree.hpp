#pragma once
/// @file
/// @brief The hierarchical latent tree: a class at the root, binary latents below, tokens at the
/// leaves (Tian et al. 2023, arXiv:2310.00535, section 5).
///
/// The root takes one of D values k with probability prior[k]. Its children a are binary with
/// P(y_a = 1 | k) = root_child(a, k). Every node below has two children, each equal to its parent
/// with probability (1 + rho)/2. Leaves lie `depth` edges below the root; a leaf that is 1 is a
/// token that occurs.

#include <Eigen/Core>

namespace attica {

struct LatentTree {
  int depth = 3;               ///< L >= 1
  Eigen::VectorXd prior;       ///< p_0(k), sums to 1 within 1e-9
  Eigen::MatrixXd root_child;  ///< q_{a,k}; @shape{children of the root x classes}
  double rho = 0.9;            ///< -1 <= rho <= 1

  Eigen::Index classes() const { return prior.size(); }
  /// Nodes at a level 1..depth, numbered so that node i has the parent i / 2 (its root child at
  /// level 1).
  Eigen::Index nodes(int level) const { return root_child.rows() << (level - 1); }
  Eigen::Index leaves() const { return nodes(depth); }
  /// The edges from leaf l or m up to their closest common ancestor, 1..depth; 0 if l = m.
  int ancestor_height(Eigen::Index l, Eigen::Index m) const;
  /// The first leaf whose closest common ancestor with leaf 0 is so many edges above, 1..depth.
  static Eigen::Index partner(int height) { return Eigen::Index{1} << (height - 1); }
};

/// @brief Throws Error (input) naming `model.depth`, `model.root_prior`, `model.root_child` or
/// `rho`.
void validate(const LatentTree& tree);

/// @brief A tree with two root children whose classes differ as the bits of their numbers do:
/// q_{a,k} = high where bit a of k is set, low otherwise.
LatentTree bit_tree(int depth, int classes, double rho, double low, double high);

}  // namespace attica
