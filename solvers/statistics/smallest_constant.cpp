#include "attica/solvers/statistics/smallest_constant.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/solvers/statistics/quantile_limits.hpp"

namespace attica {

LimitedQuantile limited_quantile(std::vector<double> values, double p, double alpha) {
  constexpr double kOpen = std::numeric_limits<double>::infinity();
  std::ranges::sort(values);
  if (p >= 1) return {values.back(), {values.back(), kOpen}};
  const QuantileRanks ranks = quantile_limit_ranks(values.size(), p, alpha);
  LimitedQuantile q{.value = 0, .limits = {-kOpen, kOpen}};
  if (ranks.below) q.limits.low = values[*ranks.below - 1];
  if (ranks.above) q.limits.high = values[*ranks.above - 1];
  q.value = censored_quantile(std::move(values), p);
  return q;
}

SmallestConstant smallest_constant(const std::vector<std::vector<double>>& needed,
                                   double probability) {
  require(!needed.empty(), "places", 0, "at least one");
  require(probability > 0 && probability <= 1,
          "probability",
          probability,
          "a number above 0, at most 1");
  constexpr double kOpen = std::numeric_limits<double>::infinity();
  SmallestConstant constant{.value = -kOpen, .interval95 = {-kOpen, -kOpen}};
  const double shared = kLevel95 / static_cast<double>(needed.size());
  for (const std::vector<double>& one : needed) {
    require(!one.empty(), "replicates", 0, "at least one at every place");
    for (const double c : one) require(!std::isnan(c), "constant", c, "a number or infinity");
    const LimitedQuantile alone = limited_quantile(one, probability, kLevel95);
    const LimitedQuantile among = limited_quantile(one, probability, shared);
    if (alone.value > constant.value) {
      constant.value = alone.value;
      constant.place = constant.needed.size();
    }
    constant.interval95.low = std::max(constant.interval95.low, among.limits.low);
    constant.interval95.high = std::max(constant.interval95.high, alone.limits.high);
    constant.needed.push_back(alone.value);
    constant.needed95.push_back(alone.limits);
  }
  return constant;
}

SmallestConstant largest_constant(std::vector<std::vector<double>> allowed, double probability) {
  for (std::vector<double>& one : allowed) {
    for (double& c : one) c = -c;
  }
  SmallestConstant mirrored = smallest_constant(allowed, probability);
  const auto turned = [](const Interval& i) { return Interval{-i.high, -i.low}; };
  mirrored.value = -mirrored.value;
  mirrored.interval95 = turned(mirrored.interval95);
  for (double& q : mirrored.needed) q = -q;
  for (Interval& i : mirrored.needed95) i = turned(i);
  return mirrored;
}

}  // namespace attica
