#pragma once
/// @file
/// @brief The largest singular value of a matrix and its two vectors: where factored attention
/// starts to grow, and what of given couplings it can hold.

#include <Eigen/Core>

namespace attica {

/// value left right^T is the matrix of rank one that is nearest to a matrix M.
struct LeadingMode {
  double value = 0;       ///< the largest singular value
  Eigen::VectorXd left;   ///< of unit length: M right = value left
  Eigen::VectorXd right;  ///< of unit length: M^T left = value right; its largest entry is positive
};

/// @brief By the eigenvectors of the smaller of M^T M and M M^T, which lose no digits of the
/// largest value. The modes of 0 are any.
LeadingMode leading_mode(const Eigen::MatrixXd& matrix);

}  // namespace attica
