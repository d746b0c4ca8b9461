#include "attica/core/potts/thin_svd.hpp"

#include <Eigen/SVD>

namespace attica {

ThinSvd thin_svd(const Eigen::MatrixXd& matrix) {
  const Eigen::BDCSVD<Eigen::MatrixXd> svd(matrix, Eigen::ComputeThinU | Eigen::ComputeThinV);
  return {.values = svd.singularValues(), .left = svd.matrixU(), .right = svd.matrixV()};
}

}  // namespace attica
