#pragma once
/// @file
/// @brief The problem of topics-two-stage, checked: what is trained from where, and the flow it
/// follows if that is known.

#include "attica/sim/topics/network.hpp"
#include "attica/studies/topics/model.hpp"
#include "attica/theory/topics/dynamics.hpp"

namespace attica {

/// What of training the theory of topics-two-stage has.
enum class TwoStageLevel {
  flow,     ///< the limit of small rates, in 24 numbers
  steps,    ///< descent on the population
  batches,  ///< and the first order in 1/B
};

struct TwoStageProblem {
  TopicModel model;
  networks::OptimiserOptions optimiser;
  double per_step;  ///< time of the flow that a step covers, also with momentum
  TopicDynamics dynamics;
  TopicNetworkShape shape;
  AttentionStart start;
  double epsilon;
  networks::InitialValues value_start;  ///< of W_V while it is trained
  Commutant value = Commutant::Zero();  ///< of W_V otherwise
  double plateau = 0;                   ///< |W*|, 0 if it is not known
  bool deterministic = false;
  TwoStageLevel level = TwoStageLevel::flow;
  std::string too_dear = {};  ///< why the level is flow though none was asked for, or empty
  Eigen::Index rank;          ///< of the other levels: axes,
  std::uint64_t hold;         ///< and steps over which derivatives are held

  /// @throws Error (input) naming the parameter
  explicit TwoStageProblem(const Configuration& configuration);
  /// Whether the mask's row of W_V is 0 in every run: with the squared loss no gradient has it.
  bool mask_row_stays() const {
    return dynamics.loss == TopicLoss::squared && dynamics.train_value && value_start.scale == 0;
  }

 private:
  void set_level(const Configuration& configuration);
};

}  // namespace attica
