#include "attica/studies/claims.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace attica {

ClaimResult claim_in_every(const std::string& name,
                           const std::string& statement,
                           const std::vector<bool>& holds,
                           const std::string& detail) {
  ClaimResult result{.name = name, .statement = statement, .detail = detail};
  const auto held = std::count(holds.begin(), holds.end(), true);
  if (!holds.empty()) {
    result.verdict =
        held == static_cast<std::ptrdiff_t>(holds.size()) ? Verdict::agree : Verdict::disagree;
  }
  result.detail += fmt::format(" (holds in {} of {})", held, holds.size());
  return result;
}

std::vector<AgreementRule> rules(const std::vector<std::string>& series,
                                 const AgreementRule& rule) {
  std::vector<AgreementRule> all;
  for (const std::string& name : series) {
    all.push_back(rule);
    all.back().series = name;
  }
  return all;
}

}  // namespace attica
