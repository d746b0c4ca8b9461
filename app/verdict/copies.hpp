#pragma once
/// @file
/// @brief Replicates that are copies of others: seeds that were used again, a file read twice.

#include <cstddef>
#include <optional>
#include <vector>

#include "attica/studies/study.hpp"

namespace attica::app {

/// How many replicates are equal to one before them at every place, to the last digit.
struct Copies {
  std::size_t copies = 0;
  std::size_t replicates = 0;
};

/// @brief Copies among replicates, each of which counts as one of its own: error bars are too small
/// by the root of replicates / (replicates - copies).
///
/// Values of few kinds (rates, counts, numbers of few digits) may be equal by chance. Copies are
/// reported where at some place no two different replicates have one value, and where less than
/// 0.01 pairs would be equal by chance: (pairs of replicates) prod_k max(c_k, 1 / pairs of
/// different replicates), with c_k the share of those pairs that are equal at place k. Replicates
/// with a value that is not finite are left out.
/// @return empty if there are none, or what there is may be chance
std::optional<Copies> copied_replicates(const std::vector<ObservedCurve>& simulation);

}  // namespace attica::app
