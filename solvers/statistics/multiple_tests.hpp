#pragma once
/// @file
/// @brief Many points tested at once: p-values adjusted so that the chance of one or more false
/// findings keeps its level.
///
/// Holm (1979) is valid under any dependence. The step-down maximum test (Westfall and Young 1993)
/// gains power when the points of a curve share their replicates, by flipping the sign of whole
/// replicates; it is exact for symmetric replicates and margin 0, and errs on skewed ones, hence
/// never the default.

#include <cstdint>
#include <span>
#include <vector>

namespace attica {

/// @brief Holm's adjusted p-values: with p sorted upwards, max over j <= k of min(1, (P - j + 1)
/// p_(j)).
std::vector<double> holm(std::span<const double> p);

/// Outcome of the maximum test, one entry per point.
struct SignFlips {
  std::vector<double> statistic;  ///< T = (|mean d| - margin) / SEM
  std::vector<double> adjusted;   ///< step-down adjusted p-values
};

/// @brief Step-down maximum test of |E d| <= margin at every point.
///
/// Values are shifted to the nearest null value, z = d - clamp(mean d, -margin, margin). All sign
/// patterns are used for up to 12 replicates (up to a common sign), else the identity and 9999
/// drawn ones. The smallest possible p-value is 2^(1-n), so 8 replicates or more are needed.
/// @param differences  [point][replicate] simulation - theory; replicates are shared by all points
/// @param margins      one per point, >= 0
/// @param seed         master seed of the drawn signs (stream sign_flip)
/// @throws Error (input, `family`) for fewer than 8 or unequal numbers of replicates, or identical
/// replicates
SignFlips sign_flip_test(std::span<const std::vector<double>> differences,
                         std::span<const double> margins,
                         std::uint64_t seed);

}  // namespace attica
