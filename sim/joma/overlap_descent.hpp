#pragma once
/// @file
/// @brief Descent with embeddings that overlap: what becomes of the quantities that orthonormal
/// embeddings conserve.

#include <Eigen/Core>
#include <cstdint>
#include <optional>

#include "attica/core/joma/model.hpp"
#include "attica/core/random.hpp"

namespace attica {

/// @brief The network with that Gram matrix of its embeddings in place of its own.
JomaModel with_gram(const JomaModel& model, Eigen::MatrixXd gram);

/// What so many steps of the whole population move.
struct OverlapDrift {
  /// Of what orthonormal embeddings conserve, without whole steps' share. @shape{M}
  Eigen::VectorXd drift;
  double violation = 0;  ///< of the identity that is left, relative to max(1, |z|)
  std::optional<std::int64_t> blown_up_at = {};
};

/// Descent of a network on its population.
struct OverlapDescent {
  JomaModel orthonormal;
  JomaState start;
  double eta = 0;
  std::int64_t steps = 0;

  /// @param gram of the embeddings; @shape{M x M}
  OverlapDrift with(const Eigen::MatrixXd& gram) const;
  /// @brief Drift of all tokens (rows) per cosine of each pair (columns, in the order of
  /// `pair_cosines`), measured at a small one; 0 where attention grows without bound.
  Eigen::MatrixXd response() const;
};

/// @brief The cosines (i, j) of all pairs i < j, by rising j, then i.
Eigen::VectorXd pair_cosines(const Eigen::MatrixXd& gram);

/// @brief Mean square cosine of pairs of random embeddings in that dimension, over fifty draws of
/// them all.
double mean_square_cosine(RandomStream stream, Eigen::Index tokens, Eigen::Index dimension);

}  // namespace attica
