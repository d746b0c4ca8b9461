#pragma once
/// @file
/// @brief Claims that means over replicates lie within margins of a theory.

#include <string>
#include <vector>

#include "attica/solvers/statistics/agreement.hpp"
#include "attica/studies/claims.hpp"

namespace attica {

/// @brief That means over replicates lie within margins of a theory.
struct MeanClaim {
  std::string name;
  std::string statement;
  ComparedPoint point;
};
/// @brief Judged together, as the compared points of a run are. Means are added to the detail.
std::vector<ClaimResult> claims_within(std::vector<MeanClaim> claims);

/// @brief The claims that every curve of these series, of 8 compared points or more, agrees on
/// average: the mean over its compared points of (simulation - theory)/u, u = a tenth of the rule's
/// relative margin plus the allowance, lies within -1 and 1. Single points scatter by more than
/// that; their weights are 1/(1 + (SEM/u)²).
std::vector<ClaimResult> claims_on_average(const Observed& observed,
                                           const std::vector<AgreementRule>& rules);

}  // namespace attica
