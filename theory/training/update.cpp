#include "attica/theory/training/update.hpp"

#include <cmath>

namespace attica {

using Eigen::VectorXd;

OptimiserState::OptimiserState(const TrainingPlan& plan) : theta(plan.start) {
  if (plan.update != Update::descent) velocity = VectorXd::Zero(theta.size());
  if (plan.update == Update::adam) squares = velocity;
}

bool OptimiserState::finite() const {
  return theta.allFinite() && velocity.allFinite() && squares.allFinite();
}

void update(OptimiserState& state,
            const TrainingPlan& plan,
            VectorXd gradient,
            const VectorXd* unresolved) {
  const double rate = plan.rate(state.updates++);
  const double length = plan.clip_norm > 0 ? gradient.norm() : 0;
  const double clip = length > plan.clip_norm ? plan.clip_norm / length : 1;
  gradient *= clip;
  if (!plan.decoupled) gradient += plan.decay * state.theta;
  const double shrink = plan.decoupled ? 1 - rate * plan.decay : 1;
  switch (plan.update) {
    case Update::descent:
      state.theta = shrink * state.theta - rate * gradient;
      return;
    case Update::heavy_ball:
      state.velocity = plan.momentum * state.velocity + gradient;
      state.theta = shrink * state.theta - rate * state.velocity;
      return;
    case Update::adam:
      state.velocity = plan.beta1 * state.velocity + (1 - plan.beta1) * gradient;
      state.squares = plan.beta2 * state.squares + (1 - plan.beta2) * gradient.cwiseAbs2();
      if (unresolved != nullptr) {
        state.squares += (1 - plan.beta2) * clip * clip * *unresolved;
      }
      const auto t = static_cast<double>(state.updates);
      const double mean_share = 1 - std::pow(plan.beta1, t);
      const double square_share = 1 - std::pow(plan.beta2, t);
      state.theta = shrink * state.theta -
                    rate * ((state.velocity / mean_share).array() /
                            ((state.squares / square_share).array().sqrt() + plan.epsilon))
                               .matrix();
      return;
  }
}

NoiseLevel noise_level(const TrainingPlan& plan) {
  const double per_sample = plan.samples > 0 ? 1 / static_cast<double>(plan.samples) : 0;
  if (plan.batch == 0) return {.total = per_sample, .batch = 0};
  const double per_draw = 1 / static_cast<double>(plan.batch);
  if (plan.samples == 0) return {.total = per_draw, .batch = per_draw};
  switch (plan.revisit) {
    case Revisit::replace:
      return {.total = per_draw * (1 - per_sample) + per_sample,
              .batch = per_draw * (1 - per_sample)};
    case Revisit::without:
      return {.total = per_draw, .batch = per_draw - per_sample};
    case Revisit::epoch:
      return {.total = per_draw, .batch = per_draw};
  }
  return {};
}

std::uint64_t steps_per_epoch(const TrainingPlan& plan) {
  const bool epochs = plan.samples > 0 && plan.batch > 0 && plan.revisit == Revisit::epoch;
  return epochs ? static_cast<std::uint64_t>(plan.samples / plan.batch) : 0;
}

}  // namespace attica
