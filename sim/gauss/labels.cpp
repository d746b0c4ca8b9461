#include "attica/sim/gauss/labels.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <algorithm>
#include <utility>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

LabelFits::LabelFits(MatrixXd inputs, MatrixXd labels)
    : inputs_(std::move(inputs)), labels_(std::move(labels)) {
  require(labels_.rows() == inputs_.rows(),
          "labels",
          static_cast<double>(labels_.rows()),
          fmt::format("as many rows as the inputs have, {}", inputs_.rows()));
  const Index side = std::min(inputs_.rows(), inputs_.cols());
  const double scale = 1 / static_cast<double>(inputs_.rows());
  gram_ = MatrixXd::Zero(side, side);
  if (inputs_.rows() < inputs_.cols()) {
    gram_.selfadjointView<Eigen::Lower>().rankUpdate(inputs_, scale);
  } else {
    gram_.selfadjointView<Eigen::Lower>().rankUpdate(inputs_.transpose(), scale);
  }
}

MatrixXd LabelFits::weights(double lambda) const {
  require(lambda >= 0, "lambda", lambda, "lambda >= 0");
  if (lambda == 0) return inputs_.completeOrthogonalDecomposition().solve(labels_);
  MatrixXd penalised = gram_;
  penalised.diagonal().array() += lambda;
  const Eigen::LLT<MatrixXd> factor(penalised);
  if (factor.info() != Eigen::Success) {
    throw Error(ErrorKind::numerical,
                fmt::format("ridge of labels: factorisation failed at lambda = {}, M = {}: the "
                            "penalty is lost in the rounding of a singular Gram matrix",
                            lambda,
                            inputs_.rows()));
  }
  const auto samples = static_cast<double>(inputs_.rows());
  if (inputs_.rows() < inputs_.cols()) {
    return inputs_.transpose() * factor.solve(labels_) / samples;
  }
  return factor.solve(inputs_.transpose() * labels_ / samples);
}

VectorXd LabelFits::train_errors(const MatrixXd& weights) const {
  return (labels_ - inputs_ * weights).colwise().squaredNorm().transpose() /
         static_cast<double>(inputs_.rows());
}

}  // namespace attica
