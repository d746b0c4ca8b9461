#pragma once
/// @file
/// @brief Probabilities of classes as the softmax of logits, and the directions of logits that it
/// sees.

#include <Eigen/Core>

namespace attica {

/// @brief Replaces every column by its log-softmax; safe for logits of any size.
void log_softmax_columns(Eigen::MatrixXd& logits);

/// @brief Orthonormal zero-sum basis of C classes (Helmert): column k-1 has k entries 1, then -k,
/// over sqrt(k (k+1)). The softmax does not see what is orthogonal to it. @shape{C x (C-1)}
/// @throws Error (input, `classes`) unless 2 <= classes
Eigen::MatrixXd zero_sum_basis(Eigen::Index classes);

}  // namespace attica
