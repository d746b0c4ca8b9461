#pragma once
/// @file
/// @brief Means over replicates with weights from their spreads, pooled as far as these allow it.

#include <span>
#include <string>
#include <vector>

namespace attica {

struct WeightedMeans {
  std::vector<double> mean;
  std::vector<double> weight;  ///< one over the squared standard error, or up to a factor
  /// Degrees of freedom of the standard errors; 0: weights are known up to a factor only, as one
  /// place has a single replicate, or all replicates of all places are equal.
  double spread_degrees = 0;
};

/// @brief Standard errors come from all places together where Bartlett's test (1937) at 1 % allows
/// it: relative to the mean, or else absolute; otherwise from each place alone.
/// @param samples  finite, at least one at each place
WeightedMeans weighted_means(std::span<const std::span<const double>> samples);

/// @brief "values up to 1e+300: choose another unit", where squares of errors leave the range of
/// numbers, by which values are weighted; empty elsewhere.
/// @param largest  absolute value
std::string other_unit(double largest);

}  // namespace attica
