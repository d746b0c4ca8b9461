#pragma once
/// @file
/// @brief Claims and margins, written short.

#include <initializer_list>
#include <string>
#include <vector>

#include "attica/studies/study.hpp"

namespace attica {

/// @brief A claim about numbers that has to hold in every replicate: AGREE if it does, DISAGREE if
/// it fails in one, INCONCLUSIVE without replicates.
ClaimResult claim_in_every(const std::string& name,
                           const std::string& statement,
                           const std::vector<bool>& holds,
                           const std::string& detail);

/// @brief The same margin for several series.
std::vector<AgreementRule> rules(const std::vector<std::string>& series, const AgreementRule& rule);

}  // namespace attica
