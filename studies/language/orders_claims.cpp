#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include "attica/studies/language/orders.hpp"

namespace attica::language_orders {

namespace {

ObservedAt of_clone(const std::string& series, const std::string& clone) {
  return {series, {{"clone", clone}}};
}

std::vector<double> values_of(const Observed& observed,
                              const std::string& series,
                              const std::string& clone) {
  return observed.last(series, {{"clone", clone}});
}

constexpr double kSaturationRatio = 2;

std::string in_this_order(const std::string& losses) {
  return fmt::format(
      "the loss on {} saturates in this order, each at {} times the step of the one before or "
      "later",
      losses,
      kSaturationRatio);
}

/// Losses on three clones saturate one after the other; none if one of them has no such step.
std::optional<ClaimResult> saturation_claim(const Observed& observed,
                                            const std::string& name,
                                            const std::string& losses,
                                            const std::array<std::string, 3>& clones,
                                            const std::string& chance) {
  const auto at = [&](std::size_t k) { return of_clone("saturation_time", clones[k]); };
  const auto steps = by_replicate(observed, {at(0), at(1), at(2)});
  if (steps.empty()) return {};
  return claim_rate(name,
                    in_this_order(losses),
                    steps.where([](double one, double two, double three) {
                      return two >= kSaturationRatio * one && three >= kSaturationRatio * two;
                    }),
                    fmt::format("steps {}; {}; {}{}",
                                listed(steps.column(0)),
                                listed(steps.column(1)),
                                listed(steps.column(2)),
                                chance),
                    kHalf);
}

void saturation_claims(const Observed& observed, std::vector<ClaimResult>& results) {
  const auto of_chains = saturation_claim(observed,
                                          "saturation",
                                          "clones of order 1, 2, 3",
                                          {chain_name(1), chain_name(2), chain_name(3)},
                                          "; chance 1/6 each if all orders were alike");
  if (of_chains) results.push_back(*of_chains);
  // The same of clones that see all distances.
  const std::string name = "saturation-fitted";
  const std::string losses = "single symbols, pairs and the factored clone of order 3";
  const auto of_fitted =
      saturation_claim(observed, name, losses, {chain_name(1), kPairs, kFactored}, "");
  if (!of_fitted) return;
  const std::vector<double> pairs = values_of(observed, "pairs_loss", kPairs);
  const std::vector<double> factored = values_of(observed, "factored_loss", kFactored);
  const bool none = !pairs.empty() && !factored.empty() && factored.front() >= pairs.front();
  results.push_back(none ? claim_open(name, in_this_order(losses), kNoClone) : *of_fitted);
}

void crossing_claim(const Configuration& c,
                    const Observed& observed,
                    std::vector<ClaimResult>& results) {
  constexpr double kRatio = 3;
  const std::string statement = fmt::format(
      "the network is nearer to order 3 than to order 2 only after {} times the steps after which "
      "it is nearer to order 2 than to order 1",
      kRatio);
  const std::vector<double> one = values_of(observed, "crossing_time", chain_name(1));
  const std::vector<double> two = values_of(observed, "crossing_time", chain_name(2));
  if (values_of(observed, "saturation_time", chain_name(3)).empty()) return;
  if (two.size() < values_of(observed, "saturation_time", chain_name(2)).size()) {
    results.push_back(claim_open("crossings",
                                 statement,
                                 fmt::format("the crossing to order 3 is not within sim.length = "
                                             "{} in every replicate: more steps are needed",
                                             c.integer("sim.length"))));
    return;
  }
  const auto both = by_replicate(
      observed,
      {of_clone("crossing_time", chain_name(1)), of_clone("crossing_time", chain_name(2))});
  results.push_back(
      claim_rate("crossings",
                 statement,
                 both.where([](double early, double late) { return late >= kRatio * early; }),
                 fmt::format("steps {}; {}", listed(one), listed(two)),
                 kHalf));
}

void unlearning_claim(const Observed& observed, std::vector<ClaimResult>& results) {
  constexpr double kRise = 0.1;
  const auto rises = by_replicate(
      observed, {of_clone("clone_rise", chain_name(1)), of_clone("clone_rise", chain_name(2))});
  if (rises.empty()) return;
  results.push_back(
      claim_rate("unlearns",
                 fmt::format("losses on clones of order 1 and 2 end {} nats or more above their "
                             "minimum",
                             kRise),
                 rises.where([](double one, double two) { return one >= kRise && two >= kRise; }),
                 fmt::format("rises {}; {}", listed(rises.column(0)), listed(rises.column(1))),
                 kHalf));
}

void pair_claims(const Configuration& c, const Observed& observed, std::vector<ClaimResult>& out) {
  constexpr double kFirst = 0.9;
  constexpr double kApart = 0.1;
  const ObservedCurve* share = observed.curve("pair_share");
  const std::string statement = fmt::format(
      "the pair share is {} or more at the first record, falls from record to record, by {} or "
      "more in all",
      kFirst,
      kApart);
  if (share == nullptr || share->mean.x.size() < 2) {
    out.push_back(claim_open(
        "pairs-first",
        statement,
        fmt::format("fewer than two of the share steps up to sim.length = {} have {} nats of "
                    "context",
                    c.integer("sim.length"),
                    kContext)));
    return;
  }
  const auto falls = [](const std::vector<double>& path) {
    return path.size() > 1 && path.front() >= kFirst &&
           std::is_sorted(path.rbegin(), path.rend()) && path.front() - path.back() >= kApart;
  };
  std::string detail = "means";
  for (std::size_t k = 0; k < share->mean.x.size(); ++k) {
    detail += fmt::format(" {:.3f} at {:g}", share->mean.y[k], share->mean.x[k]);
  }
  out.push_back(claim_rate("pairs-first",
                           statement,
                           by_replicate(observed.paths("pair_share")).where(falls),
                           detail,
                           kHalf));

  // The first record at which both have something to say.
  double early = 0;
  std::vector<double> network;
  std::vector<double> blur;
  for (const double step : share->mean.x) {
    early = step;
    network = by_replicate(observed, {{"pair_share", {}, step}}).column();
    blur = by_replicate(observed, {{"blur_share", {}, step}}).column();
    if (!blur.empty() && blur.size() == network.size()) break;
  }
  const auto both = by_replicate(observed, {{"pair_share", {}, early}, {"blur_share", {}, early}});
  if (both.empty()) return;
  out.push_back(claim_rate(
      "beyond-blur-share",
      fmt::format("at step {:g} the pair share is {} or more above that of the trained network "
                  "blurred to the same loss",
                  early,
                  kApart),
      both.where([](double of_network, double of_blur) { return of_network >= of_blur + kApart; }),
      fmt::format("network {}; blur {}", listed(network), listed(blur)),
      kHalf));
}

void blur_claim(const Observed& observed, std::vector<ClaimResult>& out) {
  const auto gaps = by_replicate(values_of(observed, "blur_gap", chain_name(2)));
  if (gaps.empty()) return;
  out.push_back(claim_rate(
      "beyond-blur-2",
      "when it is nearest to order 2 the network is nearer to it than the trained network blurred "
      "to the same loss",
      gaps.where([](double gap) { return gap > 0; }),
      "gaps in nats " + listed(gaps.entries()),
      kHalf));
}

void bound_claim(const Observed& observed, std::vector<ClaimResult>& out) {
  constexpr double kRounding = 1e-6;  // probabilities of single precision
  double least = INFINITY;
  for (const ObservedCurve& curve : observed.simulation) {
    if (curve.mean.name != "clone_loss") continue;
    const std::vector<double> floor = observed.last("clone_entropy", curve.mean.point);
    if (floor.empty()) continue;
    for (const std::vector<double>& values : curve.values) {
      for (const double x : values) least = std::min(least, x - floor.front());
    }
  }
  if (!std::isfinite(least)) return;
  out.push_back(claim_certain("bound",
                              "no loss on a clone is below the clone's entropy on the same windows",
                              least >= -kRounding,
                              fmt::format("smallest difference {:.4f} nats", least)));
}

void training_claim(const Observed& observed, std::vector<ClaimResult>& out) {
  const std::vector<double> pairs = values_of(observed, "pairs_loss", kPairs);
  const auto ends = by_replicate(observed.last("test_loss"));
  if (pairs.empty() || ends.empty()) return;
  const double sum = std::accumulate(ends.entries().begin(), ends.entries().end(), 0.0);
  out.push_back(claim_rate(
      "beats-pairs",
      fmt::format("the held-out loss ends below that of pairs at all distances, {:.3f} nats",
                  pairs.front()),
      ends.where([&](double end) { return end < pairs.front(); }),
      fmt::format("mean {:.3f}", sum / static_cast<double>(ends.size())),
      kHalf));
}

/// A text whose order is known: the network must come to it, and stay pairs where it is 2.
void hidden_order_claims(const Configuration& c,
                         const Observed& observed,
                         std::vector<ClaimResult>& out) {
  constexpr double kAll = 0.9;
  const int order = planted_order(c);
  out.push_back(claim_rate(
      "planted-order",
      fmt::format("the network ends nearest to the order {} of the synthetic text", order),
      by_replicate(observed.last("nearest")).where([&](double n) { return n == order; }),
      {},
      kHalf));
  if (order > 2) return;
  const auto lowest = by_replicate(
      by_replicate(observed.paths("pair_share")).of([](const std::vector<double>& path) {
        return std::ranges::min(path);
      }));
  double least = 1;
  for (const double share : lowest.entries()) least = std::min(least, share);
  out.push_back(claim_rate("pairs-only",
                           fmt::format("the pair share stays {} or more", kAll),
                           lowest.where([](double share) { return share >= kAll; }),
                           fmt::format("smallest {:.3f}", least),
                           kHalf));
}

/// Every matrix of a network starts from the scale that the docs state: what is claimed of training
/// is claimed of training from there.
void start_claim(const Observed& observed, std::vector<ClaimResult>& results) {
  constexpr double kScatter = 0.05;  // 1.5 % of the smallest, 2000 normal numbers in all
  std::vector<double> farthest;      // one a replicate
  for (const Prediction& stated : observed.theory) {
    if (stated.series.name != "start_scale") continue;
    const std::vector<double> scales = observed.last("start_scale", stated.series.point);
    farthest.resize(std::max(farthest.size(), scales.size()), 0);
    for (std::size_t r = 0; r < scales.size(); ++r) {
      farthest[r] = std::max(farthest[r], std::abs(scales[r] / stated.series.y[0] - 1));
    }
  }
  if (farthest.empty()) return;
  results.push_back(
      claim_rate("start",
                 "every matrix starts from the stated scale within 5 %",
                 by_replicate(farthest).where([](double off) { return off < kScatter; }),
                 fmt::format("farthest {:.2g} %", 100 * std::ranges::max(farthest)),
                 kHalf));
}

}  // namespace

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  std::vector<ClaimResult> results;
  start_claim(observed, results);
  if (planted_order(c) > 0) {
    hidden_order_claims(c, observed, results);
    saturation_claims(observed, results);
    crossing_claim(c, observed, results);
    bound_claim(observed, results);
    return results;
  }
  training_claim(observed, results);
  saturation_claims(observed, results);
  crossing_claim(c, observed, results);
  unlearning_claim(observed, results);
  pair_claims(c, observed, results);
  blur_claim(observed, results);
  bound_claim(observed, results);
  return results;
}

}  // namespace attica::language_orders
