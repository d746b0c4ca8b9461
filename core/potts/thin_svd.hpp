#pragma once
/// @file
/// @brief The singular value decomposition behind factored attention, compiled once: it takes a
/// compiler longer than any other decomposition.

#include <Eigen/Core>

namespace attica {

/// matrix = left * values.asDiagonal() * right^T.
struct ThinSvd {
  Eigen::VectorXd values;  ///< min(rows, columns) of them, the largest first
  Eigen::MatrixXd left;    ///< rows x values, orthonormal columns
  Eigen::MatrixXd right;   ///< columns x values, orthonormal columns
};

ThinSvd thin_svd(const Eigen::MatrixXd& matrix);

}  // namespace attica
