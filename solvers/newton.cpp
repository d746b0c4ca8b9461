#include "attica/solvers/newton.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

namespace attica {

Eigen::VectorXd newton_minimum(
    const std::function<Eigen::VectorXd(const Eigen::VectorXd&)>& gradient, Eigen::VectorXd x) {
  constexpr int kMostSteps = 100;
  constexpr int kHalvings = 40;
  constexpr double kDifference = 1e-5;
  const Eigen::Index n = x.size();
  Eigen::VectorXd g = gradient(x);
  for (int step = 0; step < kMostSteps; ++step) {
    Eigen::MatrixXd jacobian(n, n);
    for (Eigen::Index k = 0; k < n; ++k) {
      const double h = kDifference * std::max(1.0, std::abs(x[k]));
      Eigen::VectorXd up = x;
      Eigen::VectorXd down = x;
      up[k] += h;
      down[k] -= h;
      jacobian.col(k) = (gradient(up) - gradient(down)) / (2 * h);
    }
    // Least squares of least norm: no step along components the gradient does not know.
    const Eigen::VectorXd direction = jacobian.completeOrthogonalDecomposition().solve(g);
    double factor = 1;
    bool better = false;
    for (int halving = 0; halving < kHalvings && !better; ++halving, factor /= 2) {
      const Eigen::VectorXd trial = x - factor * direction;
      const Eigen::VectorXd at = gradient(trial);
      if (at.allFinite() && at.norm() < g.norm()) {
        x = trial;
        g = at;
        better = true;
      }
    }
    if (!better) break;
  }
  return x;
}

}  // namespace attica
