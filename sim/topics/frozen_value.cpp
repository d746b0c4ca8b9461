#include "attica/sim/topics/frozen_value.hpp"

#include <cmath>

namespace attica {

networks::TrainingResult descend_attention_from(
    const TopicModel& model,
    const FrozenValueStart& start,
    double eta,
    std::uint64_t steps,
    const std::function<bool(std::uint64_t step, const TopicNetwork&)>& look,
    const std::function<bool()>& stop) {
  const TopicBatch batch = population_batch(model);
  const Eigen::Index tokens = model.vocabulary().size();
  TopicNetwork network(
      {.tokens = tokens, .inner = inner_dimension(start.start, tokens), .scale = start.scale});
  network.set_value(CommutantAlgebra(model.vocabulary()).dense(start.value));
  network.start_attention(start.start, start.epsilon, {});
  bool going = true;
  return train_topics(
      network,
      {.optimiser = {.kind = networks::OptimiserKind::sgd, .learning_rate = eta},
       .recorded = {steps},
       .attention_penalty = start.penalty,
       .train_value = false},
      [&](std::uint64_t step) -> const TopicBatch& {
        going = look(step, network);
        return batch;
      },
      [&](std::uint64_t step, const TopicNetwork& now) { look(step, now); },
      [&] { return !going || (stop && stop()); });
}

AttentionGrowth attention_growth(const TopicModel& model,
                                 const FrozenValueStart& start,
                                 double eta,
                                 double threshold,
                                 std::uint64_t most_steps,
                                 const std::function<bool()>& stop) {
  double goal = 0;
  double before = 0;
  std::optional<double> time;
  const auto end = descend_attention_from(
      model,
      start,
      eta,
      most_steps,
      [&](std::uint64_t step, const TopicNetwork& now) {
        const double norm = std::hypot(now.parameters().matrix("W_K").map().norm(),
                                       now.parameters().matrix("W_Q").map().norm());
        if (step == 0) goal = threshold * norm;
        if (norm >= goal) {
          const double part = (goal - before) / (norm - before);
          time = eta * (static_cast<double>(step) - 1 + part);
          return false;
        }
        before = norm;
        return true;
      },
      stop);
  return {time, end};
}

}  // namespace attica
