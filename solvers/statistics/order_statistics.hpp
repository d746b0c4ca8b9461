#pragma once
/// @file
/// @brief Medians, quantiles and confidence limits of a median, for values that may be +infinity
/// (censored).

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace attica {

/// @brief Mean of the middle two for an even count; +infinity if either of them is.
/// @param values  at least one, no NaN
double median(std::vector<double> values);

/// @brief Quantile by linear interpolation of the order statistics at 1 + (n - 1) p (type 7 of
/// Hyndman and Fan 1996).
/// @param sorted  ascending, at least one, finite
double quantile(std::span<const double> sorted, double p);

/// @brief Largest k >= 1 with P(Bin(n, 1/2) < k) <= alpha: the k-th smallest of n values is below
/// the median, and the k-th
///        largest above it, with confidence 1 - alpha each, whatever the distribution. None if n is
///        too small.
std::optional<std::size_t> median_limit_rank(std::size_t n, double alpha);

}  // namespace attica
