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

/// @brief Moments of a data set, by which its law is seen; tasks come in turn, as drawn.
struct SequenceMoments {
  double context_square = 0;  ///< mean square of an entry of h, but for the label's
  double label_square = 0;    ///< mean square of the label's entry
  double label_noise = 0;     ///< mean square of y - w·x
  /// Mean square of what noise adds to h along its task, given the labels, times l/d: ρ. The mean
  /// along w/|w|, √(sd) g/(s + ρ) with s = |w|²/d, is taken off.
  double context_noise = 0;
};
SequenceMoments sequence_moments(const ContextSequences& sequences,
                                 const Eigen::MatrixXd& pool,
                                 const ContextNoise& noise);

}  // namespace attica
