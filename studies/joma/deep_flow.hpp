#pragma once
/// @file
/// @brief Deep transformers on a latent tree that begin at common starts: the training theory of
/// their population against Adam on fresh sequences.

#include <memory>

#include "attica/sim/joma/deep.hpp"
#include "attica/studies/joma/model.hpp"

namespace attica {

/// @brief The tree of the deep studies: classes differ as the bits of their numbers do.
/// @param depth the key of its depth
LatentTree deep_tree(const Configuration& configuration, const char* depth);

/// @brief The network of the deep studies, without its width and learning rate.
DeepNetwork deep_options(const Configuration& configuration);

/// @brief Small networks on a small tree (`model.small_*`, `sim.small_*`), of which all else is
/// that of the study: a training for every start, learning rate and width. A replicate is
/// the mean of `sim.small_runs` runs. Series `loss`, `descent_loss`, `small_entropy` and
/// `small_rank` of every layer, `square` and `slope`.
std::unique_ptr<Experiment> make_deep_flow(const Configuration& configuration);

}  // namespace attica
