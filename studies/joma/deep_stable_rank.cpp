/// @file
/// @brief Study deep-stable-rank: does training lower the rank of MLP weights, and does it return?

#include <fmt/format.h>

#include <algorithm>

#include "attica/studies/joma/deep.hpp"

namespace attica::deep_stable_rank {
namespace {

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  std::vector<ClaimResult> all = learning_claims(c, observed);
  for (int layer = 1; layer <= layers_of(observed); ++layer) {
    const Point point = {{"layer", static_cast<double>(layer)}};
    const auto paths = by_replicate(observed.paths("stable_rank", point));
    std::string found = "first against last record";
    if (const std::vector<double> bounces = observed.last("rank_bounce", point); !bounces.empty()) {
      const auto [least, most] = std::ranges::minmax(bounces);
      found += fmt::format("; of the fall comes back {:.3f} to {:.3f}", least, most);
    }
    all.push_back(claim_rate(
        fmt::format("rank-falls-{}", layer),
        fmt::format("training lowers the stable rank of layer {}", layer),
        paths.where([](const std::vector<double>& path) { return path.back() < path.front(); }),
        found,
        kHalf));
  }
  return all;
}

}  // namespace

Study study() {
  return described({.name = "deep-stable-rank", .make = make_deep, .claims = claims});
}

}  // namespace attica::deep_stable_rank
