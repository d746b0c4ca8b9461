#pragma once
/// @file
/// @brief Stochastic gradient descent of linear attention on regression in context.

#include <Eigen/Core>
#include <cstdint>
#include <functional>

#include "attica/core/icl/key_query.hpp"
#include "attica/core/random.hpp"

namespace attica {

/// Contexts and queries, a column each.
struct RegressionBatch {
  Eigen::MatrixXd beta;     ///< (1/N) Σ y_n x_n; @shape{D x B}
  Eigen::MatrixXd queries;  ///< x; @shape{D x B}
  Eigen::VectorXd labels;   ///< w·x
};

/// @brief Fresh sequences: 3D normals and a χ² stand for the N pairs, exactly in law.
void draw_batch(const KeyQueryTask& task, RandomStream& stream, RegressionBatch& batch);

/// What descent goes down.
enum class TrainingData {
  online,      ///< fresh sequences in every step
  fixed,       ///< the same sequences, all in every step
  population,  ///< the loss itself
};

struct KeyQueryDescent {
  TrainingData data = TrainingData::online;
  double eta = 0.05;
  Eigen::Index sequences = 64;  ///< of a step, or fixed ones
  std::int64_t steps = 1;
};

/// @brief Descends from `weights`.
/// @param record called with the step and the exact mean square error, from step 0 on after every
/// step; returning false ends the run
/// @return the step whose error was no longer finite; 0 if there was none
std::int64_t descend(const KeyQueryTask& task,
                     const KeyQueryShape& shape,
                     Eigen::VectorXd weights,
                     const KeyQueryDescent& descent,
                     RandomStream& stream,
                     const std::function<bool(std::int64_t, double)>& record);

}  // namespace attica
