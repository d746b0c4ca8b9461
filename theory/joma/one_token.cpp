#include "attica/theory/joma/one_token.hpp"

#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

void validate(const OneTokenRegression& problem) {
  constexpr double kSumTolerance = 1e-9;
  const double sum = problem.probability.sum();
  require(problem.probability.size() > 0 && std::abs(sum - 1) <= kSumTolerance,
          "model.probability",
          sum,
          "probabilities that sum to 1 within 1e-9");
  for (const double p : problem.probability) require(p >= 0, "model.probability", p, "P >= 0");
  require(problem.target.size() == problem.probability.size(),
          "model.target",
          static_cast<double>(problem.target.size()),
          "one target per token");
  constexpr double kLargest = 1e6;
  for (const double y : problem.target) {
    require(std::abs(y) <= kLargest, "model.target", y, "|y| <= 1e6");
  }
}

OdeResult one_token_flow(const OneTokenRegression& problem, std::span<const double> times) {
  validate(problem);
  const ArrayXd p = problem.probability;
  const ArrayXd y = problem.target;
  OdeOptions options{
      .method = OdeMethod::rosenbrock4, .relative_tolerance = 1e-10, .absolute_tolerance = 1e-12};
  options.jacobian = [&](double, const VectorXd& x, MatrixXd& jacobian, VectorXd&) {
    const ArrayXd v = x;
    const ArrayXd gain = (0.5 * v.square()).exp();
    jacobian.diagonal() = p * gain * (v * (y - v * gain) - gain * (1 + v.square()));
  };
  return solve_ode(
      [&](double, const VectorXd& x, VectorXd& dxdt) {
        const ArrayXd v = x;
        const ArrayXd gain = (0.5 * v.square()).exp();
        dxdt = p * gain * (y - v * gain);
      },
      VectorXd::Zero(y.size()),
      times,
      options);
}

VectorXd one_token_fixed_point(const OneTokenRegression& problem) {
  VectorXd fixed(problem.target.size());
  for (Index l = 0; l < fixed.size(); ++l) {
    const double y = std::abs(problem.target[l]);
    // ln v + v^2/2 = ln y is concave in v, with its root below y and below 1 + sqrt(2 ln(1 + y)).
    double low = 0;
    double high = std::min(y, 1 + std::sqrt(2 * std::log1p(y)));
    constexpr int kBisections = 200;
    for (int step = 0; step < kBisections && high - low > 0; ++step) {
      const double v = 0.5 * (low + high);
      if (v == low || v == high) break;
      (v * std::exp(0.5 * v * v) < y ? low : high) = v;
    }
    fixed[l] = std::copysign(high, problem.target[l]);
  }
  return fixed;
}

double one_token_rate(const OneTokenRegression& problem) {
  const ArrayXd square = one_token_fixed_point(problem).array().square();
  return (square.exp() * (1 + square)).maxCoeff();
}

}  // namespace attica
