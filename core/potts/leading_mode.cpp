#include "attica/core/potts/leading_mode.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>

namespace attica {

using Eigen::MatrixXd;
using Eigen::VectorXd;

LeadingMode leading_mode(const MatrixXd& matrix) {
  const bool wide = matrix.cols() > matrix.rows();
  const MatrixXd gram =
      wide ? MatrixXd(matrix * matrix.transpose()) : MatrixXd(matrix.transpose() * matrix);
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(gram);
  const VectorXd short_side = eigen.eigenvectors().col(gram.cols() - 1);
  VectorXd long_side =
      wide ? VectorXd(matrix.transpose() * short_side) : VectorXd(matrix * short_side);
  LeadingMode mode{.value = long_side.norm(), .left = {}, .right = {}};
  if (mode.value > 0) {
    long_side /= mode.value;
  } else {
    long_side = VectorXd::Unit(long_side.size(), 0);
  }
  mode.left = wide ? short_side : long_side;
  mode.right = wide ? long_side : short_side;
  Eigen::Index largest = 0;
  mode.right.cwiseAbs().maxCoeff(&largest);
  if (mode.right[largest] < 0) {
    mode.left = -mode.left;
    mode.right = -mode.right;
  }
  return mode;
}

}  // namespace attica
