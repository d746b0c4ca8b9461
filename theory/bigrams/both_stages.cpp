#include "attica/theory/bigrams/both_stages.hpp"

#include <cmath>
#include <cstddef>

#include "attica/core/error.hpp"
#include "attica/theory/bigrams/boosting.hpp"
#include "attica/theory/bigrams/l1.hpp"
#include "attica/theory/bigrams/recursion.hpp"

namespace attica {

std::vector<BothStages> both_stages(const BigramModel& model,
                                    const BigramRates& rates,
                                    double batch,
                                    double lambda,
                                    double theta,
                                    double threshold,
                                    std::span<const std::int64_t> steps) {
  require(theta > 0 && theta <= 1, "theta", theta, "0 < theta <= 1");
  // The noise of n steps has the share 1 - (1+ω)^{-2n} of the spread that all will have.
  const double growth = 1 + BoostingTheory(constants(model), rates).omega();
  const auto spread = [&](double n) { return std::sqrt(1 - std::pow(growth, -2 * n)); };
  std::vector<BothStages> mean(steps.size());
  for (std::size_t k = 0; k < steps.size(); ++k) mean[k].step = steps[k];
  for (const auto& [start, weight] : boosted_amplitudes(model, rates, batch)) {
    const auto add = [&, share = weight](std::size_t k, double loss, const BigramState& state) {
      mean[k].excess_loss += share * loss;
      mean[k].distance_v2 += share * state.distance_v2;
      mean[k].distance_a2 += share * state.distance_a2;
    };
    BigramRecursion boosting(model, rates, batch);
    const auto ended = [&] { return lambda > 0 && boosting.k_v() >= theta * theta * model.k_p(); };
    std::size_t k = 0;
    for (; k < steps.size(); ++k) {
      while (boosting.steps() < steps[k] && !ended()) {
        boosting.step();
        const auto n = static_cast<double>(boosting.steps());
        boosting.push(start * std::pow(growth, n) * (spread(n) - spread(n - 1)));
      }
      if (boosting.steps() < steps[k]) break;
      const BigramState state = boosting.state();
      add(k, state.excess_loss, state);
    }
    if (k == steps.size()) continue;
    L1MeanField field(model, rates, batch, lambda, boosting.signals(), threshold);
    field.keep_laws();
    std::int64_t made = 0;
    std::vector<std::int64_t> recorded;
    std::vector<BigramState> states;
    for (std::size_t later = k; later < steps.size(); ++later) {
      for (; made < steps[later] - boosting.steps(); ++made) field.step();
      recorded.push_back(made);
      states.push_back(field.state());
    }
    const std::vector<double> sums = field.fluctuation_losses(recorded);
    for (std::size_t j = 0; j < states.size(); ++j) {
      add(k + j, states[j].excess_loss + sums[j], states[j]);
    }
  }
  return mean;
}

}  // namespace attica
