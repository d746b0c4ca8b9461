#pragma once
/// @file
/// @brief Stochastic descent of one hidden unit on sequences of a latent tree that hold the query
/// token: which tokens it learns, and when.

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "attica/sim/joma/latent_tree_sampler.hpp"

namespace attica {

/// Two units learn from the same batches, v += eta G e^z, z += eta G v e^z from 0, with
/// G the mean of g x over the batch (plain), or the sample covariance of g and x (centred: the loss
/// has an intercept of its own for the query). Neither is a biased estimate.
struct TreeDescent {
  double eta = 0.02;
  int batch = 32;               ///< sequences with y_0 = 1 a step; >= 2
  double threshold = 1;         ///< a leaf is learnt when |v| passes it
  double horizon = 1000;        ///< time eta x steps after which a run ends
  std::vector<double> rewards;  ///< g of a class
};

/// What one unit saw of the leaves. Leaf 0, the query, which is always there, is left alone: its
/// entries mean nothing.
struct UnitRecord {
  Eigen::MatrixXd v;  ///< @shape{records x leaves}; NaN once a leaf is far beyond the threshold
  Eigen::VectorXd
      passage;  ///< times at which |v| passed, interpolated; NaN: not within the horizon
  Eigen::VectorXd salience;  ///< mean of G up to the last record
  Eigen::VectorXd scatter;   ///< batch times its variance over these steps
};
inline constexpr std::size_t kPlain = 0;
inline constexpr std::size_t kCentred = 1;

/// @brief The plain and the centred unit, until all leaves are learnt and all steps recorded, or
/// the horizon ends.
/// @param steps rising, not empty: when v is recorded, after so many steps
/// @throws Error (input) naming `sim.eta` or `sim.batch`
std::array<UnitRecord, 2> descend_tree(const LatentTreeSampler& sampler,
                                       const TreeDescent& options,
                                       std::span<const std::int64_t> steps,
                                       RandomStream& stream);

}  // namespace attica
