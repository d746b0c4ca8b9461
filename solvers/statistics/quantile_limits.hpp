#pragma once
/// @file
/// @brief Quantiles of values that may be +infinity (censored), and order statistics that limit
/// them whatever the distribution.

#include <cstddef>
#include <optional>
#include <vector>

namespace attica {

/// @brief Quantile by the rule of `quantile`, of unsorted values that may be +infinity; at p = 1/2
/// exactly `median`. +infinity if a value that counts is.
double censored_quantile(std::vector<double> values, double p);

/// Ranks, from 1, of order statistics that limit a quantile; none if there are too few values.
struct QuantileRanks {
  std::optional<std::size_t> below;  ///< that value is below the quantile ...
  std::optional<std::size_t> above;  ///< ... and that one above it, with confidence 1 - alpha each
};

/// @brief The ranks from the binomial distribution, whatever that of the n values is: largest k
/// with P(Bin(n, p) < k) <= alpha, smallest k with P(Bin(n, p) >= k) <= alpha.
/// @param p  0 < p < 1
QuantileRanks quantile_limit_ranks(std::size_t n, double p, double alpha);

}  // namespace attica
