#pragma once
/// @file
/// @brief Floors of masked modelling on filtered trees, nats per masked leaf, means over leaves.
///
/// b_k is the law of a leaf given all others under P_k, w_k given the others of its block of s^k
/// leaves (the same under every P_k', k' >= k).
///     own_k    = E_{P_k} -log b_k    of every predictor on data of level k the least loss (B1)
///     window_k = E_{P_l} -log w_k    of a reader of blocks of s^k leaves the least loss (B3)
///     full_k   = E_{P_l} -log b_k    no bound: the loss of filtered belief propagation
///     root_k   = E_{P_k} -log P_k(root | x)
///     cross    = E_{P_k} -log b_j
/// window_k falls with k, and own_k <= window_k; own_k and full_k need not fall. Derived here.

#include <cstdint>

#include "attica/core/trees/filtered_tree.hpp"

namespace attica {

enum class FloorRoute {
  automatic,    ///< the first of the others that the tree allows
  enumeration,  ///< sums over all sequences, q^n <= 2^20
  /// Where a tuple has one parent and every tuple one: sums over the heads of blocks and the
  /// siblings on the way from a leaf to its head. own, full, window and root; level 0 is that of
  /// enumeration
  siblings,
  /// Means over drawn sequences of the conditional losses -sum_a b_k(a) log b_j(a), by belief
  /// propagation
  monte_carlo,
};

/// A loss and its numerical error: three standard errors for Monte Carlo, 0 else.
struct Floor {
  double value = 0;
  double error = 0;
};

/// How floors that cannot be summed are drawn. Numbers depend on nothing else.
struct FloorSampling {
  std::int64_t sequences = 20000;
};

/// @brief Whether the route gives the losses of that level. @param level k, 0..depth
bool has_route(const FilteredTree& tree, int level, FloorRoute route);

/// @throws Error (input) naming `theory.route` where the route does not give this loss
Floor own_floor(const FilteredTree& tree, int level, FloorRoute route, const FloorSampling& plan);
Floor full_floor(const FilteredTree& tree, int level, FloorRoute route, const FloorSampling& plan);
Floor window_floor(const FilteredTree& tree,
                   int level,
                   FloorRoute route,
                   const FloorSampling& plan);
Floor root_floor(const FilteredTree& tree, int level, FloorRoute route, const FloorSampling& plan);
/// @brief The loss of b_predictor on data of a level; infinite if it excludes what occurs.
Floor cross_floor(const FilteredTree& tree,
                  int predictor,
                  int level,
                  FloorRoute route,
                  const FloorSampling& plan);

}  // namespace attica
