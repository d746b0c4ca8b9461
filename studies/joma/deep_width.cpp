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
    using Path = std::vector<double>;
    return by_replicate(observed.paths(series, point))
        .only([&](const Path& path) { return path.size() >= widths.size(); })
        .where([&](const Path& path) {
          return rises ? path.back() > path.front() : path.back() < path.front();
        });
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
    const Point where = {{"layer", 1.0}, {"width", widest}};
    const auto falls =
        by_replicate(by_replicate(observed.paths("attention_entropy", where)).of(fall_statistic));
    all.push_back(claim_rate(
        "falls",
        fmt::format("at width {} attention entropy falls by more than {} nats", widest, kFall),
        falls.where([](double fall) { return fall > kFall; }),
        falls.empty() ? "falls in nats" : "falls in nats " + listed(falls.entries(), "{:.3f}"),
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
