#pragma once
/// @file
/// @brief Replicates that are copies of others: seeds that were used again, a file read twice.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "attica/studies/study.hpp"

namespace attica::app {

/// How many replicates are equal to one before them, to the last digit: at every place, or at the
/// one where most are.
struct Copies {
  std::size_t copies = 0;
  std::size_t replicates = 0;
  std::string place = {};  ///< "y at x=1"; empty: every place
};

/// @brief "20 of 40 replicates equal another one at every point, to the last digit: ..."
std::string copies_text(const Copies& found);

/// @brief Copies among replicates, each of which counts as one of its own: error bars are too small
/// by the root of replicates / (replicates - copies).
///
/// Values of few kinds (rates, counts, numbers of few digits) may be equal by chance. Copies are
/// reported where at some place no two different replicates have one value, and where less than
/// 0.01 pairs would be equal by chance: (pairs of replicates) prod_k max(c_k, 1 / pairs of
/// different replicates), with c_k the share of those pairs that are equal at place k. Replicates
/// with a value that is not finite are left out.
///
/// Otherwise copies at a single place: rows of some points that stand there twice, or a seed of
/// every point that is reduced to a few. There at least three values occur more than once, and the
/// pairs of equal ones are 30 times as many as on a lattice with the values' common spacing, if it
/// were filled evenly.
/// @return empty if there are none, or what there is may be chance
std::optional<Copies> copied_replicates(const std::vector<ObservedCurve>& simulation);

}  // namespace attica::app
