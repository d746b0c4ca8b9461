#pragma once
/// @file
/// @brief Exact belief propagation on a filtered tree.
///
/// The factor graph of P_k is a tree: messages go up inside the blocks, from the heads to the root,
/// and down again. The law b_k(a | m) of a leaf m given all other seen leaves does not contain what
/// was seen at m, so that one pass over a whole sequence gives the laws of all its single masks.
/// Products without one child go by prefix and suffix, never by division: messages have exact
/// zeros. Source: Garnier-Brun et al. 2024 (arXiv:2408.15138); the filtered tree is theirs, this
/// derivation ours.

#include <Eigen/Core>
#include <span>
#include <vector>

#include "attica/core/trees/filtered_tree.hpp"

namespace attica {

/// @brief Letters of the descendants i of the root down a path: rows P(letter at node i of a level
/// | root). One matrix for each node of the level, in order. @shape{q x q}
std::vector<Eigen::MatrixXd> paths_from_root(const FilteredTree& tree, int level);

/// @brief The messages of one tree and level, for sequence after sequence.
class BeliefPropagation {
 public:
  /// @param level k, 0..depth
  /// @throws Error (input, `level`)
  BeliefPropagation(const FilteredTree& tree, int level);

  /// @param leaves a letter for every leaf, or -1 where it is hidden
  /// @throws Error (input, `leaves`) for another number, or for leaves of probability 0
  void pass(std::span<const int> leaves);

  double log_evidence() const { return log_evidence_; }       ///< log P_k(seen)
  const Eigen::VectorXd& root() const { return posterior_; }  ///< P_k(root | seen)
  /// P_k(x_m = a | the seen leaves but m), a column for every leaf. @shape{q x n}
  const Eigen::MatrixXd& leaf_laws() const { return down_.back(); }

 private:
  /// An entry of a rule that is not 0.
  struct Entry {
    Eigen::Index parent;
    double probability;
  };

  void up();
  void root_and_heads();
  void down();

  FilteredTree tree_;
  int level_;
  int head_level_;
  std::vector<Eigen::MatrixXd> paths_;
  std::vector<std::vector<Entry>> entries_;  ///< by level, from the heads' on
  std::vector<std::vector<int>> letters_;    ///< of the tuples of these entries, s for each
  std::vector<Eigen::MatrixXd> up_, down_;   ///< by level, from the heads' on
  Eigen::MatrixXd at_root_, before_, after_;
  Eigen::VectorXd posterior_;
  double log_evidence_ = 0;
};

}  // namespace attica
