#pragma once
/// @file
/// @brief How far back-propagated gradients move in training, and what it costs to take them for
/// constant, as expectations that contain them are beyond Theorem 1 of Tian et al. 2023
/// (arXiv:2310.00535). The comparison is ours.

#include <Eigen/Core>

#include "attica/core/joma/model.hpp"

namespace attica {

/// How far g_ik, sample i and unit k, and Delta_kl = E[g_k x_l] are from where they started. Norms
/// of g weigh samples by their probabilities.
struct GradientMotion {
  double drift = 0;        ///< |g - g(0)| / |g(0)|
  double turn = 0;         ///< sine of the angle between g and g(0): what is no shrinking
  double delta_drift = 0;  ///< |Delta - Delta(0)| / |Delta(0)|
};

/// @brief The gradients at the start, and a network in which they stay so.
class StationaryGradient {
 public:
  /// @throws Error (input) unless the activation is linear: phi' is then no part of what stays
  StationaryGradient(const JomaModel& model, const JomaState& start);

  /// @brief The same network, its samples with g(0) whatever its state: a loss linear in h.
  const JomaModel& model() const { return frozen_; }
  GradientMotion motion(const JomaModel& model, const JomaState& state) const;

 private:
  Eigen::MatrixXd start_;  ///< g(0); @shape{samples x units}
  JomaModel frozen_;
};

/// @brief |V - V_0| of two states' weights over the distance that the first one's have moved from
/// the start: 1 if the other is no better than not to train at all. 0 at the start.
double relative_distance(const JomaState& state, const JomaState& other, const JomaState& start);

}  // namespace attica
