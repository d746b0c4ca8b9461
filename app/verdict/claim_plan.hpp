#pragma once
/// @file
/// @brief How many replicates the claims of a study take, by resampling those of a pilot.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attica/app/configuration/configuration_file.hpp"
#include "attica/studies/study.hpp"

namespace attica::app {

/// What the claims of a run ask for.
struct ClaimPlan {
  std::size_t claims = 0;  ///< about something that chance decides
  std::size_t shown = 0;   ///< of these, by the pilot alone
  /// Least number of replicates, not below the pilot's, with which all hold with the power asked
  /// for if the pilot's replicates are the whole truth; empty if none up to kMostPlanned does.
  std::optional<std::size_t> replicates = {};
  std::string hardest;  ///< the claim that failed most often at the last number tried
};

inline constexpr std::size_t kMostPlanned = 4096;

/// @brief Draws runs of n replicates out of the pilot's, with replacement and whole (all curves of
/// a replicate together), lets the study judge its claims on each, and raises n until the share of
/// runs in which all hold is `power`.
/// @param pilot its replicates are numbered 0 to n - 1
ClaimPlan plan_claims(const CheckedConfiguration& configuration,
                      const Observed& pilot,
                      std::size_t pilot_replicates,
                      double power,
                      std::uint64_t seed);

}  // namespace attica::app
