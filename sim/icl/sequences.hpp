#pragma once
/// @file
/// @brief Sequences of linear regression in context, drawn as the features that linear attention
/// reads off them.

#include <Eigen/Core>

#include "attica/core/icl/regression.hpp"
#include "attica/core/random.hpp"

namespace attica {

/// @brief Sequences as features and labels: column μ of `features` is H_μ = x (h, g)ᵀ, d x (d+1)
/// numbers by column.
struct ContextSequences {
  Eigen::MatrixXd features;  ///< @shape{d(d+1) x n}
  Eigen::MatrixXd queries;   ///< their factors x, @shape{d x n}
  Eigen::MatrixXd contexts;  ///< and (h, g), @shape{d+1 x n}
  Eigen::VectorXd labels;    ///< @shape{n}
};

/// @brief n sequences, sequence μ with task μ mod k. Given y, Σ y_i x_i is Gaussian: d + 1 normals
/// and a χ² stand for the l pairs of a context, exactly in law.
/// @param pool a task a row
ContextSequences draw_sequences(const Eigen::MatrixXd& pool,
                                const ContextNoise& context,
                                Eigen::Index count,
                                RandomStream& stream);

/// @brief Mean square error, noise included, of the posterior mean over the tasks of the pool
/// (dMMSE), on fresh sequences with these tasks, drawn pair by pair.
/// @param tests tasks of the test sequences, a row each
/// @param context with rho > 0
double posterior_mean_error(const Eigen::MatrixXd& pool,
                            const Eigen::MatrixXd& tests,
                            const ContextNoise& context,
                            RandomStream& stream);

}  // namespace attica
