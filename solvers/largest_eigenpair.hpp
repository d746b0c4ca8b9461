#pragma once
/// @file
/// @brief The largest eigenvalue of a symmetric matrix with its eigenvector, for a third of the
/// work of all of them.

#include <Eigen/Core>

namespace attica {

struct Eigenpair {
  double value = 0;
  Eigen::VectorXd vector;  ///< of norm 1; its sign is arbitrary
};

/// @brief Reduces to tridiagonal form, bisects by counting negative pivots, and iterates inversely
/// from just above the eigenvalue. Accurate to rounding times the norm of the matrix; the vector of
/// an eigenvalue that is not simple is one of its eigenvectors.
/// @param matrix symmetric, finite, at least 1 x 1; both triangles filled
/// @throws Error (numerical) if it is not finite
Eigenpair largest_eigenpair(const Eigen::MatrixXd& matrix);

}  // namespace attica
