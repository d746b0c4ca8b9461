#pragma once
/// @file
/// @brief A tree of letters whose leaves are observed, and the rules by which a letter is replaced
/// by its children (Garnier-Brun et al. 2024, arXiv:2408.15138).
///
/// A node of level d (root: 0) with letter y draws its s children together from row y of the rule
/// of its level. A tuple (c_1 ... c_s) has the column number c_1 q^(s-1) + ... + c_s, and a
/// sequence of leaves the number x_1 q^(n-1) + ... + x_n. The law that is filtered at the level k
/// keeps the trees below the blocks of s^k leaves; their heads are drawn one by one given the root,
/// each along its own path.

#include <Eigen/Core>
#include <cstdint>
#include <vector>

namespace attica {

struct FilteredTree {
  int alphabet = 2;      ///< q >= 2
  int children = 2;      ///< s >= 2
  int depth = 1;         ///< l >= 1
  Eigen::VectorXd root;  ///< pi; @shape{q}
  /// One rule for all levels, or one for each, the root's first; rows sum to 1. @shape{q x q^s}
  std::vector<Eigen::MatrixXd> rules;

  /// The rule by which nodes of a level 0..depth-1 draw their children.
  const Eigen::MatrixXd& rule(int level) const {
    return rules.size() == 1 ? rules.front() : rules[static_cast<std::size_t>(level)];
  }
  Eigen::Index tuples() const { return rules.front().cols(); }
  /// Nodes of a level 0..depth: s^level.
  Eigen::Index nodes(int level) const;
  Eigen::Index leaves() const { return nodes(depth); }
  /// q^n, a double: it may be beyond any integer.
  double sequences() const;
};

/// @brief Throws Error (input) naming `model.alphabet`, `model.children`, `model.depth`,
/// `model.root` or `model.rule`.
void validate(const FilteredTree& tree);

/// How rules are drawn.
struct DrawnRules {
  int alphabet = 2;
  int children = 2;
  /// A tuple has one parent, and each parent so many tuples; 0: every tuple has every parent.
  Eigen::Index tuples_each = 0;
  double sigma = 1;  ///< weights of a parent's tuples are softmax(sigma z), z ~ N(0, 1)
  std::uint64_t seed = 1;
};
/// @brief So many independent rules.
/// @throws Error (input) naming `model.tuples` if the tuples do not suffice
std::vector<Eigen::MatrixXd> draw_rules(const DrawnRules& law, int count);

/// @brief Children are independent given the parent, equal to it with probability
/// rho + (1-rho)/q and each other letter with (1-rho)/q.
Eigen::MatrixXd broadcast_rule(int alphabet, int children, double rho);

}  // namespace attica
