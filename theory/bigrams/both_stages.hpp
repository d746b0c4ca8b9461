#pragma once
/// @file
/// @brief SGD from the first step through both stages: the signal is boosted, then, with l1, what
/// is no signal is taken off.
///
/// A mean over runs. They differ in the amplitude that is boosted, and so in the step at which
/// stage 1 ends: every amplitude of `boosted_amplitudes` goes through the stages by itself, as
/// recursion.hpp and l1.hpp describe them, and their states at a step are averaged.

#include <cstdint>
#include <span>
#include <vector>

#include "attica/core/bigrams/model.hpp"

namespace attica {

/// Means over runs at a step that counts from the start.
struct BothStages {
  std::int64_t step = 0;
  double excess_loss = 0;  ///< column sums that fluctuate with l1 are counted
  double distance_v2 = 0;  ///< ‖V - P‖²_μ
  double distance_a2 = 0;  ///< ‖A - Q‖²_μ
};

/// @param lambda    l1 of stage 2; 0: none, stage 1 goes on
/// @param theta     stage 1 of a run ends at K_V = θ² K_P, in (0, 1]
/// @param threshold entries below it are zeroed once, before stage 2
/// @param steps     rising
std::vector<BothStages> both_stages(const BigramModel& model,
                                    const BigramRates& rates,
                                    double batch,
                                    double lambda,
                                    double theta,
                                    double threshold,
                                    std::span<const std::int64_t> steps);

}  // namespace attica
