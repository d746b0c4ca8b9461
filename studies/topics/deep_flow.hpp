#pragma once
/// @file
/// @brief Small deep transformers on a fixed set of topic documents: the training theory of this
/// population against Adam on documents drawn from it.

#include <memory>

#include "attica/sim/topics/deep.hpp"
#include "attica/studies/topics/model.hpp"

namespace attica {

/// @brief A training for every epsilon of Adam, all else being that of `large` but for what
/// `model.small_*` and `sim.small_*` say. A replicate is the mean of `sim.small_runs` runs. Series
/// `loss`, `descent_loss`, `small_norm` and `slope`.
std::unique_ptr<Experiment> make_deep_topic_flow(const Configuration& configuration,
                                                 const DeepTopicTraining& large);

}  // namespace attica
