#pragma once
/// @file
/// @brief How a replicate that trained a network ended.

#include "attica/sim/networks/training.hpp"
#include "attica/studies/study.hpp"

namespace attica {

/// @brief Marks the outcome as failed if training diverged, with the step.
void mark_end(Outcome& outcome, const networks::TrainingResult& end);

}  // namespace attica
