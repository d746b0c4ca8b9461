#include "attica/theory/bigrams/passage.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/theory/bigrams/recursion.hpp"

namespace attica {

double passage_steps(L1MeanField field, const PassageTask& task) {
  require(task.epsilon > 0, "epsilon", task.epsilon, "epsilon > 0");
  constexpr double kKept = 0.5;  // as in training
  constexpr double kSure = 0.99;
  double before = field.rounded(task.value_noise).error();
  if (before < task.epsilon) return 0;
  for (std::int64_t n = 0; n < task.most_steps; ++n) {
    field.step();
    const double now = field.rounded(task.value_noise).error();
    if (now < task.epsilon) {
      if (field.rounding_probability(kKept) < kSure) break;
      return static_cast<double>(n) + std::log(before / task.epsilon) / std::log(before / now);
    }
    before = now;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

double passage_from_scratch(const BigramModel& model, const PassageTask& task) {
  double mean = 0;
  for (const auto& [start, weight] : boosted_amplitudes(model, task.rates, task.batch)) {
    const BigramRecursion boosted =
        boosted_recursion(model, task.rates, task.batch, task.theta, start);
    const L1MeanField field(
        model, task.rates, task.batch, task.lambda, boosted.signals(), task.threshold);
    mean += weight * (static_cast<double>(boosted.steps()) + passage_steps(field, task));
  }
  return mean;
}

double passage_after_transfer(const BigramModel& model,
                              const PassageTask& task,
                              const Eigen::MatrixXd& value) {
  return passage_steps(L1MeanField(model, task.rates, task.batch, task.lambda, value), task);
}

}  // namespace attica
