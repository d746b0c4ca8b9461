#include "attica/solvers/statistics/order_statistics.hpp"

#include <algorithm>
#include <cmath>

#include "attica/solvers/statistics/distributions.hpp"

namespace attica {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

double quantile(std::span<const double> sorted, double p) {
  const auto position = static_cast<double>(sorted.size() - 1) * p;
  const auto below = static_cast<std::size_t>(position);
  if (below + 1 >= sorted.size()) return sorted.back();
  return std::lerp(sorted[below], sorted[below + 1], position - static_cast<double>(below));
}

std::optional<std::size_t> median_limit_rank(std::size_t n, double alpha) {
  std::size_t k = 0;
  while (k < n && binomial_lower_tail(k, 0.5, n) <= alpha) ++k;  // P(Bin < k + 1) <= alpha
  if (k == 0) return std::nullopt;
  return k;
}

}  // namespace attica
