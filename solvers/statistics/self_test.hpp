#pragma once
/// @file
/// @brief The statistics test themselves: perturbed truth and perturbed differences, judged as the
/// run's own data are.
///
/// Replicates d = mu + e are drawn with e standardised from four families: normal, lognormal with
/// sigma 0.5 and 1, and an inverse gamma of index 1.5 (infinite variance; unit interquartile range
/// instead). Perturbed are: no difference anywhere; one point at the margin, on either side; every
/// point at the margin, on either side; and, for normal tails, the difference that should be found
/// with 90 % power. A rate passes unless its exact 99 % limit (Clopper and Pearson 1934)
/// contradicts the rate stated. A shift does not change spread or guard, so each sample is drawn
/// once and serves all perturbations.
///
/// Claims are perturbed at their bounds, where each error is most frequent: shares of runs that are
/// 1/2 and 4/5, and means of each family.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attica/solvers/statistics/fractions.hpp"
#include "attica/solvers/statistics/replicates.hpp"

namespace attica {

inline constexpr std::size_t kSelfTestRuns = 2201;       ///< 5 % to +-1 %
inline constexpr std::size_t kFullSelfTestRuns = 14424;  ///< 90 % to +-0.5 %

/// A run's own setting.
struct SelfTestOptions {
  std::size_t points = 24;      ///< compared; 0: none
  std::size_t claims = 0;       ///< made at once; 0: none
  std::size_t replicates = 30;  ///< n >= 8 with compared points, else n >= 1
  double margin = 1;            ///< in units of the replicates' standard deviation, > 0
  Tails tails = Tails::guarded;
  /// Skewness of the run's pooled replicates: normal tails beyond +-0.5 are warned about and shown
  /// on lognormal data.
  double skewness = 0;
  std::size_t runs = kSelfTestRuns;
  std::uint64_t seed = 0;
};

/// One measured rate.
struct SelfTestRow {
  /// "normal", "lognormal 0.5", "lognormal 1", "inverse gamma 1.5"; of claims about shares of runs
  /// "share 0.5", "share 0.8"
  std::string family;
  std::string perturbed;  ///< e.g. "one point at +margin"
  /// "false DISAGREE of a run", "false AGREE of a point" or "of a claim", "DISAGREE of a point"
  std::string rate;
  double stated = 0;     ///< largest rate promised, for "DISAGREE of a point" the smallest
  Count count;           ///< observed
  Interval limits;       ///< each side 99 %
  bool promised = true;  ///< false: normal tails on skewed data, shown as a warning
  bool pass = true;      ///< meaningless unless promised
};

struct SelfTest {
  std::vector<SelfTestRow> rows;
  std::string warning;  ///< empty if none
  bool pass = true;     ///< all promised rows pass
};

/// @throws Error (input) for options out of range
SelfTest self_test(const SelfTestOptions& options);

}  // namespace attica
