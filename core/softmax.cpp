#include "attica/core/softmax.hpp"

#include <cmath>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;

void log_softmax_columns(MatrixXd& logits) {
  for (auto column : logits.colwise()) {
    column.array() -= column.maxCoeff();
    column.array() -= std::log(column.array().exp().sum());
  }
}

MatrixXd zero_sum_basis(Index classes) {
  require(classes >= 2, "classes", static_cast<double>(classes), "at least 2");
  MatrixXd basis = MatrixXd::Zero(classes, classes - 1);
  for (Index k = 1; k < classes; ++k) {
    const auto n = static_cast<double>(k);
    const double norm = std::sqrt(n * (n + 1));
    basis.col(k - 1).head(k).setConstant(1 / norm);
    basis(k, k - 1) = -n / norm;
  }
  return basis;
}

}  // namespace attica
