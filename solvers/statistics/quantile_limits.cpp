#include "attica/solvers/statistics/quantile_limits.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "attica/solvers/statistics/distributions.hpp"
#include "attica/solvers/statistics/order_statistics.hpp"

namespace attica {

double censored_quantile(std::vector<double> values, double p) {
  constexpr double kMedian = 0.5;
  if (p == kMedian) return median(std::move(values));
  const auto position = static_cast<double>(values.size() - 1) * p;
  const auto below = static_cast<std::size_t>(position);
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(below);
  std::ranges::nth_element(values, at);
  const double share = position - static_cast<double>(below);
  if (share == 0 || below + 1 == values.size()) return *at;
  const double next = *std::min_element(at + 1, values.end());
  return std::isinf(next) ? next : std::lerp(*at, next, share);
}

QuantileRanks quantile_limit_ranks(std::size_t n, double p, double alpha) {
  // The first whole number for which something is so that stays so.
  const auto first = [](std::size_t low, std::size_t high, const auto& so) {
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (so(middle)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  };
  QuantileRanks ranks;
  // P(Bin < k) <= alpha for the last time
  const std::size_t below =
      first(0, n, [&](std::size_t k) { return binomial_lower_tail(k, p, n) > alpha; });
  if (below > 0) ranks.below = below;
  const std::size_t above =
      first(1, n + 1, [&](std::size_t k) { return binomial_tail(k, p, n) <= alpha; });
  if (above <= n) ranks.above = above;
  return ranks;
}

}  // namespace attica
