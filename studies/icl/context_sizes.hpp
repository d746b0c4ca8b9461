#pragma once
/// @file
/// @brief Whole numbers of pairs, tasks and sequences in place of ratios to the dimension.

#include <Eigen/Core>
#include <vector>

#include "attica/core/icl/regression.hpp"
#include "attica/studies/kit.hpp"
#include "attica/theory/icl/ridge.hpp"

namespace attica {

/// Whole numbers in place of ratios: l, k and n of a run.
struct ContextSizes {
  Eigen::Index dimension = 2;
  Eigen::Index context = 1;
  Eigen::Index tasks = 1;
  Eigen::Index samples = 1;

  /// @brief The nearest whole numbers, at least 1. @throws Error (input) naming the ratio whose
  /// number is no integer of 64 bits
  static ContextSizes nearest(Eigen::Index dimension, const ContextRatios& ratios);
  /// @brief The ratios that they realise; the rest as in `asked`.
  ContextRatios realised(ContextRatios asked) const;
  /// @brief The same ratios at that many times the dimensions.
  ContextSizes times(Eigen::Index factor) const;
  /// @brief The law of a sequence with that noise.
  ContextNoise noise(double rho) const;
  PoolSizes pool_sizes(double rho, double lambda) const;
  /// @throws Error (input) naming `sim.max_memory` unless the data set and its Gram matrix fit
  void require_memory(const Configuration& configuration) const;
};

/// @brief What whole numbers of pairs, tasks and sequences make of the configured ratios.
std::vector<RoundedValues> rounded_ratios(const Configuration& configuration,
                                          Eigen::Index dimension);

}  // namespace attica
