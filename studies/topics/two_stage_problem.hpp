#pragma once
/// @file
/// @brief The problem of topics-two-stage, checked: what is trained from where, and the flow it
/// follows if that is known.

#include "attica/sim/topics/network.hpp"
#include "attica/studies/topics/model.hpp"
#include "attica/theory/topics/dynamics.hpp"

namespace attica {

struct TwoStageProblem {
  TopicModel model;
  TopicDynamics dynamics;
  TopicNetworkShape shape;
  AttentionStart start;
  double epsilon;
  networks::InitialValues value_start;  ///< of W_V while it is trained
  Commutant value = Commutant::Zero();  ///< of W_V otherwise
  double plateau = 0;                   ///< |W*|, 0 if it is not known
  bool deterministic = false;

  /// @throws Error (input) naming the parameter
  explicit TwoStageProblem(const Configuration& configuration);
};

}  // namespace attica
