/// @file
/// @brief Study deep-width: what the width of a transformer does to its loss and its attention.

#include <fmt/format.h>

#include "attica/sim/joma/deep.hpp"
#include "attica/studies/joma/deep.hpp"

namespace attica::deep_width {
namespace {

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  const std::vector<std::int64_t> widths = ascending(c.integers("sweep.width"));
  const auto widest = static_cast<double>(widths.back());
  std::vector<ClaimResult> all = learning_claims(c, observed, {{"width", widest}});
  if (widths.size() < 2) return all;
  // A run of every width each; one that ended early is no witness.
  const auto compared = [&](const std::string& series, const Point& point, bool rises) {
    std::vector<bool> holds;
    for (const std::vector<double>& path : observed.paths(series, point)) {
      if (path.size() < widths.size()) continue;
      holds.push_back(rises ? path.back() > path.front() : path.back() < path.front());
    }
    return holds;
  };
  const std::string than =
      fmt::format("at width {} than at width {}", widths.back(), widths.front());
  all.push_back(claim_rate("width-helps",
                           "the best loss is lower " + than,
                           compared("best_loss", {}, false),
                           {},
                           kHalf));
  // Measured with one layer on trees; with two the bounce of wide networks is no larger. It is a
  // share, which says nothing without a fall: 0.021 to 0.084 nats at width 32 in 40 runs, and -0.01
  // to 0.045 where there is nothing to learn (rho = 0).
  constexpr double kFall = 0.02;
  constexpr double kFallsFrom = 32;
  const bool one_layer = observed.curve("bounce", {{"layer", 2.0}}) == nullptr;
  if (one_layer && !c.has("model.file") && widest >= kFallsFrom) {
    std::vector<bool> holds;
    std::string falls = "falls in nats";
    const Point where = {{"layer", 1.0}, {"width", widest}};
    for (const std::vector<double>& path : observed.paths("attention_entropy", where)) {
      const double fall = fall_statistic(path);
      holds.push_back(fall > kFall);
      falls += fmt::format(" {:.3f}", fall);
    }
    all.push_back(claim_rate(
        "falls",
        fmt::format("at width {} attention entropy falls by more than {} nats", widest, kFall),
        holds,
        falls,
        kHalf));
    all.push_back(claim_rate("bounce-grows",
                             "more of the fall of the entropy comes back " + than,
                             compared("bounce", {{"layer", 1.0}}, true),
                             {},
                             kHalf));
  }
  return all;
}

}  // namespace

Study study() { return described({.name = "deep-width", .make = make_deep, .claims = claims}); }

}  // namespace attica::deep_width
