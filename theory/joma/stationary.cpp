#include "attica/theory/joma/stationary.hpp"

#include <cmath>
#include <numeric>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Every sample a class of its own, in whose row of G its gradient stands.
JomaModel with_gradients(const JomaModel& model, const MatrixXd& gradients) {
  require(model.law().activation == JomaActivation::linear,
          "model.activation",
          static_cast<double>(model.law().activation),
          "linear hidden units");
  JomaLaw law = model.law();
  law.loss = JomaLoss::linear;
  law.top = gradients;
  JomaSamples samples = model.samples();
  std::iota(samples.labels.begin(), samples.labels.end(), 0);
  return {std::move(law), std::move(samples)};
}

}  // namespace

StationaryGradient::StationaryGradient(const JomaModel& model, const JomaState& start)
    : start_(model.back_propagated(start)), frozen_(with_gradients(model, start_)) {}

GradientMotion StationaryGradient::motion(const JomaModel& model, const JomaState& state) const {
  const MatrixXd now = model.back_propagated(state);
  const JomaSamples& samples = model.samples();
  const VectorXd root = samples.weights.cwiseSqrt();
  const MatrixXd before = root.asDiagonal() * start_;
  const MatrixXd after = root.asDiagonal() * now;
  const auto delta = [&](const MatrixXd& g) -> MatrixXd {
    return g.transpose() * samples.weights.asDiagonal() * samples.contexts;
  };
  const MatrixXd delta_start = delta(start_);
  const MatrixXd along = after.cwiseProduct(before).sum() / before.squaredNorm() * before;
  return {.drift = (after - before).norm() / before.norm(),
          .turn = (after - along).norm() / after.norm(),
          .delta_drift = (delta(now) - delta_start).norm() / delta_start.norm()};
}

double relative_distance(const JomaState& state, const JomaState& other, const JomaState& start) {
  const double moved = (state.v - start.v).norm();
  return moved > 0 ? (other.v - state.v).norm() / moved : 0;
}

}  // namespace attica
