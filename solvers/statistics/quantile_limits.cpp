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
  QuantileRanks ranks;
  std::size_t k = 0;
  while (k < n && binomial_lower_tail(k, p, n) <= alpha) ++k;  // P(Bin < k + 1) <= alpha
  if (k > 0) ranks.below = k;
  k = n + 1;
  while (k > 1 && binomial_tail(k - 1, p, n) <= alpha) --k;
  if (k <= n) ranks.above = k;
  return ranks;
}

}  // namespace attica
