#pragma once
/// @file
/// @brief What every verdict rests on, measured where its level is exact, whatever the run's own
/// setting: Student's t of one point, and the interval of an exponent.
///
/// The self-test of a run (self_test.hpp) measures rates that are at most 5 %; most are well below,
/// so that a variance with divisor n, n degrees of freedom, or a one-sided p-value in the place of
/// a two-sided one would keep every promise. With 8 normal replicates at one point these make 5 %
/// to 6.3, 5.4 and 10 %, which the number of runs here tells apart.

#include <cstdint>
#include <vector>

#include "attica/solvers/statistics/self_test.hpp"

namespace attica {

inline constexpr std::size_t kLevelRuns = 100'000;  ///< 5 % to +-0.26 % with the limits below
inline constexpr std::size_t kExponentRuns = 1000;  ///< 5 % to +-2.6 %
inline constexpr double kLevelLimit = 1e-4;         ///< level of each limit of a row

/// @brief Rows of self_test's form whose limits are exact at kLevelLimit on each side: how often a
/// point without difference disagrees beyond a margin of 0, how often one at a wide margin agrees,
/// on either side (exactly 5 % each), and how often the 95 % interval of an exponent misses it (at
/// most 5 %).
std::vector<SelfTestRow> self_test_levels(std::uint64_t seed);

}  // namespace attica
