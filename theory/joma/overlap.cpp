#include "attica/theory/joma/overlap.hpp"

#include <algorithm>
#include <array>

#include "attica/core/error.hpp"
#include "attica/theory/joma/flow.hpp"

namespace attica {

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Of the rates along gradient flow, by central differences.
VectorXd change_of_rates(const JomaModel& model, const JomaState& at) {
  constexpr double kDifference = 1e-5;  // of the state, or 1: errors of the order of its square
  JomaState descent;
  model.loss(at, &descent);
  const VectorXd x = at.flat();
  const VectorXd f = descent.flat();
  if (f.norm() == 0) return VectorXd::Zero(model.tokens() * model.tokens());
  const double time = kDifference * std::max(1.0, x.norm()) / f.norm();
  const auto rates = [&](double t) -> VectorXd {
    return model.overlap_rates(at.from_flat(x + t * f)).reshaped();
  };
  return (rates(time) - rates(-time)) / (2 * time);
}

}  // namespace

MatrixXd overlap_moves(
    const JomaModel& model, const JomaState& start, double time, double step, int orders) {
  const auto rates = [&](const JomaState& s) -> VectorXd {
    return model.overlap_rates(s).reshaped();
  };
  const JomaFlow flow = joma_flow(model, start, std::array{0.0, time}, rates, step, orders);
  if (!flow.solution.finished()) {
    throw Error(ErrorKind::numerical, "gradient flow: " + describe(flow.solution));
  }
  const JomaState& end = flow.states.back();
  VectorXd sum = flow.integrals.col(1) - step / 2 * (rates(end) - rates(start));
  if (orders > 1 && step > 0) {
    sum += step * step / 12 * (change_of_rates(model, end) - change_of_rates(model, start));
  }
  return sum.reshaped(model.tokens(), model.tokens());
}

double mean_square_drift(const MatrixXd& moves, const MatrixXd& gram) {
  return moves.cwiseProduct(gram).rowwise().sum().squaredNorm() / static_cast<double>(moves.rows());
}

double random_mean_square_drift(const MatrixXd& moves, double dimension) {
  return moves.squaredNorm() / (static_cast<double>(moves.rows()) * dimension);
}

}  // namespace attica
