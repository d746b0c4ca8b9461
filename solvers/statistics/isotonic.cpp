#include "attica/solvers/statistics/isotonic.hpp"

#include <cmath>
#include <cstddef>
#include <limits>

#include "attica/core/error.hpp"

namespace attica {

std::vector<double> falling(std::span<const double> y) {
  struct Pool {
    double sum = 0;
    std::size_t n = 0;
    double mean() const { return sum / static_cast<double>(n); }
  };
  std::vector<Pool> pools;
  for (const double value : y) {
    pools.push_back({value, 1});
    while (pools.size() > 1 && pools.back().mean() > pools[pools.size() - 2].mean()) {
      const Pool last = pools.back();
      pools.pop_back();
      pools.back().sum += last.sum;
      pools.back().n += last.n;
    }
  }
  std::vector<double> fitted;
  fitted.reserve(y.size());
  for (const Pool& pool : pools) fitted.insert(fitted.end(), pool.n, pool.mean());
  return fitted;
}

Reached reach(std::span<const double> x, std::span<const double> y, double target) {
  require(!x.empty() && x.size() == y.size(),
          "curve",
          static_cast<double>(y.size()),
          "one value at every x, at least one");
  for (std::size_t k = 0; k < x.size(); ++k) {
    require(std::isfinite(x[k]) && x[k] > 0 && (k == 0 || x[k] > x[k - 1]),
            "x",
            x[k],
            "numbers > 0 in rising order");
    require(std::isfinite(y[k]), "value", y[k], "finite values");
  }
  const std::vector<double> fitted = falling(y);
  if (fitted.front() <= target) return {.at = x.front(), .before = true};
  for (std::size_t k = 1; k < x.size(); ++k) {
    if (fitted[k] > target) continue;
    const double above = fitted[k - 1];
    const double below = fitted[k];
    const bool logarithmic = below > 0 && target > 0;
    const double share = logarithmic ? std::log(above / target) / std::log(above / below)
                                     : (above - target) / (above - below);
    return {.at = std::exp(std::lerp(std::log(x[k - 1]), std::log(x[k]), share))};
  }
  return {.at = std::numeric_limits<double>::infinity()};
}

}  // namespace attica
