/// @file
/// @brief Study bigrams-stability: the learning rate at which the attention matrix diverges, at a
/// fixed value matrix V = P.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attica/solvers/statistics/order_statistics.hpp"
#include "attica/studies/bigrams/model.hpp"
#include "attica/theory/bigrams/l1.hpp"

namespace attica::bigrams_stability {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Stability : public PointwiseExperiment {
 public:
  explicit Stability(const Configuration& c)
      : setup_(bigram_setup(c, RateCheck::none)),
        ratios_(ascending(c.reals("sweep.rate_ratio"))),
        length_(c.integer("sim.length")) {
    require_sequences(c, "\"none\": this study tests real sequences");
    diagnostics_ = setup_.diagnostics;
    warnings_ = setup_.warnings;
    if (!std::ranges::all_of(ratios_, [&](double r) { return settles(r); })) {
      warnings_.push_back(
          fmt::format("{} steps are too few at some rates to reach the stationary noise, or to "
                      "leave it: raise sim.length (not compared there)",
                      length_));
    }
  }

  TheoryResult theory(TheoryGrid) const override {
    // Close to the limit the mean is carried by rare runs, which a simulation does not see.
    constexpr double kSafe = 0.6;
    TheoryResult result;
    Curves curve({}, "rate_ratio", {"d_A"});
    for (const double ratio : ratios_) {
      L1Floor floor{.distance_a2 = kInfinity};
      if (ratio < 1) {
        floor = l1_floor_closed_form(setup_.model, ratio * setup_.rate_limit, 0, setup_.batch);
      }
      if (floor.status != L1FloorStatus::settled) {
        result.warnings.push_back(
            fmt::format("stationary noise at {} of the limit: {}", ratio, to_string(floor.status)));
      }
      curve.add(ratio, {{floor.stated(floor.distance_a2), 0, ratio <= kSafe && settles(ratio)}});
    }
    curve.into(result);
    result.diagnostics = {{"eta_A_limit", setup_.rate_limit}};
    return result;
  }

  std::size_t points() const override { return ratios_.size(); }
  void require_simulable() const override { require_entries(setup_.model, kFrozenBytes); }

 protected:
  double flops(std::size_t) const override { return setup_.flops(static_cast<double>(length_)); }

  Outcome run(const Replicate& replicate) const override {
    const double ratio = ratios_[replicate.point()];
    const auto run = make_frozen_run(BigramAlgorithm::sgd_hat,
                                     setup_.model,
                                     {setup_.rates.eta_v, ratio * setup_.rate_limit},
                                     setup_.batch,
                                     replicate.address(StreamId::minibatch));
    while (run->steps() < length_ && !run->diverged() && !replicate.stopped()) run->step();
    // Divergence is what is asked about: a result, not a failure.
    const bool diverged = run->diverged();
    Outcome outcome;
    outcome.status = describe(diverged ? BigramStatus::diverged : BigramStatus::converged);
    Curves({}, "rate_ratio", {"diverged"}).add(ratio, {diverged ? 1.0 : 0.0}).into(outcome);
    if (!diverged) Curves({}, "rate_ratio", {"d_A"}).add(ratio, {run->state().d_a}).into(outcome);
    return outcome;
  }

 private:
  /// Whether a run is long enough: the mean of d_A relaxes, or grows, at the rate
  /// 2 η_A K_P |1 - ratio| a step, and starts at 0.
  bool settles(double ratio) const {
    constexpr double kTimes = 5;  // e⁻⁵ = 0.7 % is left
    const double rate = 2 * ratio * setup_.rate_limit * setup_.model.k_p() * std::abs(1 - ratio);
    return ratio == 1 || rate * static_cast<double>(length_) >= kTimes;
  }

  BigramSetup setup_;
  std::vector<double> ratios_;
  std::int64_t length_;
};

std::vector<ClaimResult> claims(const Configuration&, const Observed& observed) {
  // Below 0.8 of the limit a typical run stays at the size of the stationary one; above 1.25 it has
  // left it far behind. The theory just below the limit sets the scale.
  constexpr double kBelow = 0.8;
  constexpr double kAbove = 1.25;
  constexpr double kFar = 20;
  double scale = 0;
  for (const Prediction& p : observed.theory) {
    for (std::size_t k = 0; k < p.series.x.size(); ++k) {
      if (p.series.x[k] <= kBelow) scale = std::max(scale, p.series.y[k]);
    }
  }
  const ObservedCurve* ends = observed.curve("diverged");
  const ObservedCurve* remainders = observed.curve("d_A");
  if (ends == nullptr || scale == 0) return {};
  std::vector<ClaimResult> claims;
  for (std::size_t k = 0; k < ends->mean.x.size(); ++k) {
    const double ratio = ends->mean.x[k];
    if (ratio > kBelow && ratio < kAbove) continue;
    // d_A of all runs at this ratio: those that diverged have no value below infinity.
    const auto diverged = std::ranges::count(ends->values[k], 1.0);
    std::vector<double> all(static_cast<std::size_t>(diverged), kInfinity);
    for (std::size_t j = 0; remainders != nullptr && j < remainders->mean.x.size(); ++j) {
      if (remainders->mean.x[j] != ratio) continue;
      all.insert(all.end(), remainders->values[j].begin(), remainders->values[j].end());
    }
    if (all.empty()) continue;
    const bool bounded = ratio <= kBelow;
    const double threshold = (bounded ? 3 : kFar) * scale;
    claims.push_back(claim_rate(
        fmt::format("{}-at-{:.2f}", bounded ? "bounded" : "diverged", ratio),
        fmt::format("d_A {} {:.3g}", bounded ? "<" : ">", threshold),
        by_replicate(all).where([&](double d) { return bounded ? d < threshold : d > threshold; }),
        fmt::format("median {:.3g}, {} diverged", median(all), diverged),
        kHalf));
  }
  return claims;
}

}  // namespace

Study study() {
  return described({.name = "bigrams-stability", .make = make<Stability>, .claims = claims});
}

}  // namespace attica::bigrams_stability
