#include "attica/sim/networks/training.hpp"

#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"

namespace attica::networks {

template <class T>
TrainingResult train(Parameters<T>& parameters,
                     std::span<const T> gradient,
                     Optimiser<T>& optimiser,
                     TrainingState& state,
                     const TrainingPlan& plan,
                     const std::function<double(std::uint64_t step)>& loss_and_gradient) {
  require(!plan.recorded.empty(), "steps", 0, "at least one recorded step");
  const auto unordered = std::ranges::adjacent_find(plan.recorded, std::greater_equal<>());
  if (unordered != plan.recorded.end()) {
    throw invalid_parameter(
        "steps", static_cast<double>(*(unordered + 1)), "strictly ascending recorded steps");
  }
  const std::uint64_t length = plan.recorded.back();
  require(state.step <= length,
          "steps",
          static_cast<double>(length),
          "a last step not before the state's");
  const std::uint64_t start = state.step;
  const auto save = [&] {
    if (!plan.checkpoint.empty())
      save_checkpoint(plan.checkpoint, parameters, optimiser, state, plan.run);
  };
  while (true) {
    // Saved before the record of the same step is made: a resumed run makes that record again.
    if (plan.stop && plan.stop()) {
      save();
      return {TrainingStatus::stopped, state.step};
    }
    if (plan.checkpoint_every > 0 && state.step > start && state.step % plan.checkpoint_every == 0)
      save();
    if (std::ranges::binary_search(plan.recorded, state.step)) {
      const TrainingRecord record{
          state.step,
          state.loss_count == 0
              ? std::nullopt
              : std::optional(state.loss_sum / static_cast<double>(state.loss_count))};
      state.loss_sum = 0;
      state.loss_count = 0;
      if (plan.observe) plan.observe(record, state);
    }
    if (state.step == length) return {TrainingStatus::finished, state.step};

    if (plan.optimiser_reset_every > 0 && state.step % plan.optimiser_reset_every == 0)
      optimiser.reset();
    const double loss = loss_and_gradient(state.step);
    if (!std::isfinite(loss) ||
        !std::isfinite(optimiser.update(parameters, gradient, state.step))) {
      return {TrainingStatus::diverged, state.step};
    }
    state.loss_sum += loss;
    ++state.loss_count;
    ++state.step;
  }
}

template TrainingResult train(Parameters<float>&,
                              std::span<const float>,
                              Optimiser<float>&,
                              TrainingState&,
                              const TrainingPlan&,
                              const std::function<double(std::uint64_t)>&);
template TrainingResult train(Parameters<double>&,
                              std::span<const double>,
                              Optimiser<double>&,
                              TrainingState&,
                              const TrainingPlan&,
                              const std::function<double(std::uint64_t)>&);

}  // namespace attica::networks
