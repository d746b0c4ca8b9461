#include "attica/sim/gauss/classifier.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <cmath>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

LogisticFit logistic_fit(const MatrixXd& inputs,
                         const VectorXd& signs,
                         double lambda,
                         const VectorXd& start) {
  const Index n = inputs.cols();
  require(std::isfinite(lambda) && lambda > 0, "lambda", lambda, "0 < lambda < infinity");
  require(signs.size() == inputs.rows() && signs.size() > 0,
          "signs",
          static_cast<double>(signs.size()),
          fmt::format("one of each of {} > 0 inputs", inputs.rows()));
  require(start.size() == 0 || start.size() == n,
          "start",
          static_cast<double>(start.size()),
          fmt::format("{} weights", n));
  const double share = 1 / static_cast<double>(inputs.rows());
  LogisticFit fit;
  fit.weights = start.size() == n ? start : VectorXd::Zero(n);
  const auto objective = [&](const VectorXd& w, double& train_loss) {
    const ArrayXd z = signs.cwiseProduct(inputs * w).array();
    train_loss = share * ((-z).max(0) + (-z.abs()).exp().log1p()).sum();
    return train_loss + 0.5 * lambda * w.squaredNorm();
  };
  fit.objective = objective(fit.weights, fit.train_loss);
  constexpr int kMostSteps = 100;
  constexpr double kDecrease = 1e-13;  // of the objective, by the quadratic model
  for (int step = 0; step < kMostSteps; ++step) {
    const ArrayXd z = signs.cwiseProduct(inputs * fit.weights).array();
    const ArrayXd wrong = 1 / (1 + z.exp());
    VectorXd gradient = lambda * fit.weights;
    gradient.noalias() -= share * (inputs.transpose() * (signs.array() * wrong).matrix());
    const MatrixXd scaled = (share * wrong * (1 - wrong)).sqrt().matrix().asDiagonal() * inputs;
    MatrixXd hessian = lambda * MatrixXd::Identity(n, n);
    hessian.selfadjointView<Eigen::Lower>().rankUpdate(scaled.transpose());
    const VectorXd direction = -hessian.selfadjointView<Eigen::Lower>().llt().solve(gradient);
    const double decrease = -0.5 * gradient.dot(direction);
    if (decrease <= kDecrease * fit.objective) return fit;
    // Whole steps but far from the minimum, where they are halved until the objective falls.
    constexpr double kArmijo = 1e-4;
    constexpr double kShortest = 1e-6;
    double length = 1;
    for (; length > kShortest; length *= 0.5) {
      const VectorXd next = fit.weights + length * direction;
      double train_loss = 0;
      const double value = objective(next, train_loss);
      if (value > fit.objective - 2 * kArmijo * length * decrease) continue;
      fit = {next, train_loss, value};
      break;
    }
    if (length <= kShortest) break;
  }
  throw Error(
      ErrorKind::numerical,
      fmt::format(
          "logistic regression: no minimum found at M = {}, lambda = {}", inputs.rows(), lambda));
}

}  // namespace attica
