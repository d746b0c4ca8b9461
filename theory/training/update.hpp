#pragma once
/// @file
/// @brief One update of an optimiser, given a gradient: what all levels of the training theory
/// share.

#include "attica/theory/training/first_order.hpp"

namespace attica {

/// @brief Parameters and memory of an optimiser.
struct OptimiserState {
  Eigen::VectorXd theta;
  Eigen::VectorXd velocity;  ///< heavy_ball: v; adam: the mean of gradients; else empty
  Eigen::VectorXd squares;   ///< adam: the mean of their squares
  std::uint64_t updates = 0;

  /// @brief At the start of a plan.
  explicit OptimiserState(const TrainingPlan& plan);
  bool finite() const;
};

/// @brief One update with the plan's optimiser.
/// @param unresolved variance of the gradient that `gradient` does not have, entry by entry: adam
/// adds it to the squares; null: none
void update(OptimiserState& state,
            const TrainingPlan& plan,
            Eigen::VectorXd gradient,
            const Eigen::VectorXd* unresolved = nullptr);

/// @brief Variance of the weights of a step's gradient, in units of one sample's: 1/B for batches,
/// 1/M for all samples, and its part that is not in the samples.
struct NoiseLevel {
  double total = 0;
  double batch = 0;  ///< "a": of a batch around its samples (fresh data, epochs: 1/B)
};
NoiseLevel noise_level(const TrainingPlan& plan);

/// @brief Updates in an epoch: floor(M/B); 0 where samples are not visited in epochs.
std::uint64_t steps_per_epoch(const TrainingPlan& plan);

}  // namespace attica
