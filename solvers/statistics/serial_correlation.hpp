#pragma once
/// @file
/// @brief Are replicates correlated in the order of their numbers? Successive states of one Markov
/// chain, or runs that share something with their neighbours, are no independent replicates: their
/// standard error is too small.
///
/// The statistic is the lag-one autocorrelation
///
///     r = sum_t (y_t - mean)(y_{t+1} - mean) / sum_t (y_t - mean)^2,
///
/// averaged over the points of a run with weights n. Its null distribution is exact: the numbers of
/// the replicates are shuffled, the same way at every point, so that replicates which the points
/// share (a training curve) stay whole (Edgington and Onghena, Randomization Tests, 4th ed., 2007).
/// One-sided: alternating replicates make the standard error too large, which costs power only.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace attica {

/// Level at which replicates are called correlated.
inline constexpr double kCorrelationLevel = 0.05;

/// The replicates of one point, in rising order of their numbers; values that are not finite are
/// left out.
struct OrderedReplicates {
  std::span<const double> values;
  std::span<const std::uint64_t> numbers;  ///< as many
};

struct SerialCorrelation {
  double correlation = 0;  ///< r, of one replicate and the next
  /// r with its bias of order 1/n taken off: r + (1 + 4 r)/n (Kendall 1954; Marriott and Pope
  /// 1954), at most 1 - 2/n.
  double corrected = 0;
  double p_value = 1;  ///< of "the order of the replicates means nothing"

  bool correlated() const { return p_value <= kCorrelationLevel; }
  /// @brief sqrt((1 + r)/(1 - r)), at least 1: by what the standard error of an autoregressive
  /// chain of that correlation is too small.
  double factor() const;
  /// @brief The square of that factor for the corrected correlation: what is decided with error
  /// bars wider by so much is decided for any chain that may well have shown this correlation.
  double cautious_factor() const;
};

/// @brief The test over all points; of more than 64 points or 4096 replicates those are taken that
/// are spread evenly, or come first. Empty if no point has five replicates that differ.
/// @param shuffles  the p-value is a multiple of 1/(shuffles + 1)
std::optional<SerialCorrelation> serial_correlation(std::span<const OrderedReplicates> points,
                                                    std::size_t shuffles = 999);

}  // namespace attica
