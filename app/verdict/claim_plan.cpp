#include "attica/app/verdict/claim_plan.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "attica/app/verdict/judge_run.hpp"
#include "attica/core/random.hpp"

namespace attica::app {
namespace {

/// Enough to tell power 0.9 to a standard error of 0.02.
constexpr std::size_t kDraws = 200;

bool by_chance(const ClaimResult& claim) { return claim.p_agree && claim.p_disagree; }

/// A run of the replicates `chosen` of the pilot.
std::vector<ObservedCurve> run_of(const std::vector<ObservedCurve>& pilot,
                                  const std::vector<std::uint64_t>& chosen) {
  std::vector<ObservedCurve> run;
  for (const ObservedCurve& curve : pilot) {
    ObservedCurve drawn{.mean = curve.mean,
                        .values = decltype(curve.values)(curve.values.size()),
                        .replicates = decltype(curve.replicates)(curve.values.size())};
    for (std::size_t k = 0; k < curve.values.size(); ++k) {
      const std::vector<std::uint64_t>& numbers = curve.replicates[k];
      for (std::size_t r = 0; r < chosen.size(); ++r) {
        const auto at = std::ranges::lower_bound(numbers, chosen[r]);
        if (at == numbers.end() || *at != chosen[r]) continue;
        drawn.values[k].push_back(curve.values[k][static_cast<std::size_t>(at - numbers.begin())]);
        drawn.replicates[k].push_back(r);
      }
      if (drawn.values[k].empty()) continue;
      drawn.mean.y[k] = std::accumulate(drawn.values[k].begin(), drawn.values[k].end(), 0.0) /
                        static_cast<double>(drawn.values[k].size());
    }
    run.push_back(std::move(drawn));
  }
  return run;
}

}  // namespace

ClaimPlan plan_claims(const CheckedConfiguration& configuration,
                      const Observed& pilot,
                      std::size_t pilot_replicates,
                      double power,
                      std::uint64_t seed) {
  ClaimPlan plan;
  for (const ClaimResult& claim : judge_claims(configuration, pilot, ClaimsOf::problems)) {
    if (!by_chance(claim)) continue;
    ++plan.claims;
    if (claim.verdict == Verdict::agree) ++plan.shown;
  }
  if (plan.claims == 0) return plan;

  const auto suffices = [&](std::size_t n) {
    std::map<std::string, std::size_t> missed;
    std::size_t fail = 0;
    // So many may fail; one more decides.
    const auto most_fail = static_cast<std::size_t>((1 - power) * static_cast<double>(kDraws));
    for (std::size_t draw = 0; draw < kDraws && fail <= most_fail; ++draw) {
      RandomStream stream({.seed = seed, .id = StreamId::bootstrap, .point = n, .replicate = draw});
      std::vector<std::uint64_t> chosen(n);
      for (std::uint64_t& r : chosen) r = stream.below(pilot_replicates);
      const Observed run{.theory = pilot.theory, .simulation = run_of(pilot.simulation, chosen)};
      bool hold = true;
      for (const ClaimResult& claim : judge_claims(configuration, run, ClaimsOf::problems)) {
        if (!by_chance(claim) || claim.verdict == Verdict::agree) continue;
        hold = false;
        ++missed[claim.name];
      }
      if (!hold) ++fail;
    }
    const auto most = std::ranges::max_element(missed, {}, [](const auto& m) { return m.second; });
    if (most != missed.end()) plan.hardest = most->first;
    return fail <= most_fail;
  };

  // Doubled, then halved the gap to a twentieth.
  std::size_t low = pilot_replicates;
  std::size_t high = pilot_replicates;
  while (!suffices(high)) {
    if (high >= kMostPlanned) return plan;
    low = high;
    high = std::min(2 * high, kMostPlanned);
  }
  while (high - low > std::max<std::size_t>(1, high / 20)) {
    const std::size_t middle = low + (high - low) / 2;
    (suffices(middle) ? high : low) = middle;
  }
  plan.replicates = high;
  return plan;
}

}  // namespace attica::app
