#pragma once
/// @file
/// @brief The laws of all sequences of a filtered tree, by enumeration, and losses that follow from
/// them.

#include <Eigen/Core>
#include <vector>

#include "attica/core/trees/filtered_tree.hpp"

namespace attica {

/// Sequences that are enumerated at most, q^n.
inline constexpr double kMostSequences = 1048576;

/// @brief P_k(x | root), a column for every letter of the root. @shape{q^n x q}
/// @throws Error (input) naming `level`, or `model.depth` for more than 2^20 sequences
Eigen::MatrixXd sequence_laws(const FilteredTree& tree, int level);
/// @brief P_k(x). @shape{q^n}
Eigen::VectorXd sequence_law(const FilteredTree& tree, int level);
/// @brief Every block alone, with the law of its head as its root: the trees that a reader of
/// blocks of s^k leaves sees.
std::vector<FilteredTree> blocks(const FilteredTree& tree, int level);

/// @brief P(x_m | the other letters) of every sequence; 0 where the context is impossible.
/// @param law    of sequences of n letters; @shape{q^n}
/// @param stride q^(n-1-m), what the number of a sequence grows by with x_m
Eigen::VectorXd leaf_law(const Eigen::VectorXd& law, Eigen::Index alphabet, Eigen::Index stride);
/// @brief Mean over leaves of -E log of the predictor's law of the leaf given the others, nats;
/// infinite if it excludes what occurs.
double masked_loss(const Eigen::VectorXd& data, const Eigen::VectorXd& predictor, int alphabet);

/// Coding errors of a belief propagation, whose losses a comparison must reject.
enum class WrongPredictor {
  level_below,         ///< filtered at k - 1 (0 at k = 0)
  level_above,         ///< filtered at k + 1 (depth at k = depth)
  children_exchanged,  ///< tuples read backwards, in every rule
  heads_alone,         ///< no message from the root: neither its law nor other blocks
};
/// @brief The law whose leaf laws that predictor gives in place of those of P_k. @shape{q^n}
Eigen::VectorXd wrong_predictor(const FilteredTree& tree, int level, WrongPredictor error);

}  // namespace attica
