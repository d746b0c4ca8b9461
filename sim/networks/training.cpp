#include "attica/sim/networks/training.hpp"

#include <algorithm>
#include <chrono>
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
  using Clock = std::chrono::steady_clock;
  auto saved = Clock::now();
  const auto save = [&] {
    if (!plan.checkpoint.empty())
      save_checkpoint(plan.checkpoint, parameters, optimiser, state, plan.run);
    saved = Clock::now();
  };
  const auto due = [&] {
    return plan.checkpoint_seconds > 0 &&
           std::chrono::duration<double>(Clock::now() - saved).count() > plan.checkpoint_seconds;
  };
  while (true) {
    // Saved before the record of the same step is made: a resumed run makes that record again.
    if (plan.stop && plan.stop()) {
      save();
      return {TrainingStatus::stopped, state.step};
    }
    if (due()) save();
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

template <class T>
TrainingResult train_kept(const std::filesystem::path& file,
                          Parameters<T>& parameters,
                          std::span<const T> gradient,
                          Optimiser<T>& optimiser,
                          TrainingPlan plan,
                          const KeptRecords& records,
                          const std::function<double(std::uint64_t)>& loss_and_gradient) {
  // Often enough that little is lost, seldom enough that it costs nothing.
  constexpr double kSeconds = 10;
  TrainingState state;
  if (!file.empty()) {
    plan.checkpoint = file;
    plan.checkpoint_seconds = kSeconds;
    try {
      state = load_checkpoint(file, parameters, optimiser, plan.run);
    } catch (const Error&) {  // none that could be used
      state = {};
    }
  }
  // Of every record: its step, how many values, the values.
  for (auto at = state.observed.begin(); at != state.observed.end();) {
    const auto step = static_cast<std::uint64_t>(*at++);
    const auto count = static_cast<std::ptrdiff_t>(*at++);
    records.tell(step, std::vector<double>(at, at + count));
    at += count;
  }
  plan.observe = [&](const TrainingRecord& record, TrainingState& kept) {
    const std::vector<double> values = records.measure(record.step);
    kept.observed.push_back(static_cast<double>(record.step));
    kept.observed.push_back(static_cast<double>(values.size()));
    kept.observed.insert(kept.observed.end(), values.begin(), values.end());
    records.tell(record.step, values);
  };
  return train(parameters, gradient, optimiser, state, plan, loss_and_gradient);
}

#define ATTICA_TRAIN_KEPT(T)                                       \
  template TrainingResult train_kept(const std::filesystem::path&, \
                                     Parameters<T>&,               \
                                     std::span<const T>,           \
                                     Optimiser<T>&,                \
                                     TrainingPlan,                 \
                                     const KeptRecords&,           \
                                     const std::function<double(std::uint64_t)>&);
ATTICA_TRAIN_KEPT(float)
ATTICA_TRAIN_KEPT(double)
#undef ATTICA_TRAIN_KEPT

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
