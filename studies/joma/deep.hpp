#pragma once
/// @file
/// @brief What the studies of multilayer transformers share: data, training and what is recorded.

#include <string>
#include <vector>

#include "attica/studies/joma/model.hpp"

namespace attica {

/// @brief One network with the learning rate `sim.eta`, or one for each of `sweep.eta`, told apart
/// in the points; with `sweep.width` one for each width, against which `best_loss`, `bounce`,
/// `rank_bounce` and `final_entropy` are curves. But of several rates, entropy, loss and rank at
/// random starts are compared with their means (theory/joma/random_start).
std::unique_ptr<Experiment> make_deep(Configuration& configuration);

/// @brief Number of layers that were recorded.
int layers_of(const Observed& observed);

/// @brief Claims that the network has learnt: below the unigram loss (text), or within 0.05 nats of
/// the Bayes loss and not below it (tree).
std::vector<ClaimResult> learning_claims(const Configuration& configuration,
                                         const Observed& observed,
                                         const Point& point = {});

/// @brief A measure against steps, all layers in one panel.
Panel layer_panel(const std::string& series, const std::string& label);
/// @brief The loss on held-out data with its reference.
Panel loss_panel();
/// @brief The panels below each other.
Figure deep_figure(const std::string& name, std::vector<Panel> panels, const std::string& caption);

}  // namespace attica
