#pragma once
/// @file
/// @brief Linear regression in context: the features that linear attention reads off a sequence,
/// their population moments, and the exact error of a predictor.
///
/// A sequence has l pairs y_i = w·x_i + ε_i and a query x, x ~ N(0, 1/d), ε ~ N(0, ρ), and a task w
/// with ‖w‖² = s d. Linear attention predicts y by <Γ, x (h, g)ᵀ> with h = (d/l) Σ y_i x_i and
/// g = (1/l) Σ y_i². Errors are mean squares of y - prediction, ρ included, without a factor 1/2.

#include <Eigen/Core>

#include "attica/core/random.hpp"

namespace attica {

/// @brief Moments of the features over a law of tasks; α = l/d.
/// @source Lu, Letey, Zavatone-Veth, Maiti, Pehlevan 2024, arXiv:2405.11751; terms of order 1/l
/// are kept
struct ContextMoments {
  Eigen::MatrixXd cross;   ///< A = E w (h, g); @shape{d x (d+1)}
  Eigen::MatrixXd second;  ///< B = E (h, g)ᵀ(h, g); @shape{(d+1) x (d+1)}
  double variance = 0;     ///< of y: s + ρ
};

/// Length of a context and its noise.
struct ContextNoise {
  double length = 1;  ///< l > 0
  double rho = 0;     ///< variance of the noise, ρ >= 0
};

/// @brief For tasks with second moment R (trace s d), mean m and ‖w‖² = s d.
ContextMoments context_moments(const Eigen::MatrixXd& task_second,
                               const Eigen::VectorXd& task_mean,
                               const ContextNoise& context);
/// @brief For the tasks of a pool, all equally likely. @param pool a task a row; @shape{k x d}
ContextMoments pool_moments(const Eigen::MatrixXd& pool, const ContextNoise& context);
/// @brief For tasks uniform on the sphere ‖w‖² = d.
ContextMoments fresh_moments(Eigen::Index dimension, const ContextNoise& context);

/// @brief For tasks N(0, diag(spectrum)).
ContextMoments gaussian_moments(const Eigen::ArrayXd& spectrum, const ContextNoise& context);

/// @brief Mean square error of a fixed predictor on fresh sequences: s + ρ + tr(ΓBΓᵀ)/d - 2
/// tr(ΓAᵀ)/d.
/// @param gamma @shape{d x (d+1)}
double population_error(const Eigen::MatrixXd& gamma, const ContextMoments& moments);

/// @brief Tasks uniform on the sphere ‖w‖² = d, a row each; the first rows of a larger pool from
/// the same stream are those of a smaller one.
Eigen::MatrixXd sphere_pool(Eigen::Index tasks, Eigen::Index dimension, RandomStream& stream);
/// @brief Tasks N(0, diag(spectrum)).
Eigen::MatrixXd gaussian_pool(Eigen::Index tasks,
                              const Eigen::ArrayXd& spectrum,
                              RandomStream& stream);

}  // namespace attica
