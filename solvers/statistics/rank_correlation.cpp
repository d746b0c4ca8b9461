#include "attica/solvers/statistics/rank_correlation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "attica/core/error.hpp"
#include "attica/core/random.hpp"
#include "attica/solvers/statistics/distributions.hpp"

namespace attica {
namespace {

/// Ranks from 1, ties at their mean, minus the mean of all: whole or half numbers, exact.
std::vector<double> centred_ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t i, std::size_t j) { return values[i] < values[j]; });
  const auto middle = static_cast<double>(values.size() - 1) / 2;
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last + 1 < order.size() && values[order[last + 1]] == values[order[first]]) ++last;
    const auto rank = static_cast<double>(first + last) / 2 - middle;
    for (; first <= last; ++first) ranks[order[first]] = rank;
  }
  return ranks;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

struct RankedGroup {
  std::vector<double> x;
  std::vector<double> y;
};

}  // namespace

double rank_correlation(std::span<const double> a, std::span<const double> b) {
  require(a.size() >= 2 && a.size() == b.size(),
          "values",
          static_cast<double>(b.size()),
          "two lists of equal length, at least 2");
  const std::vector<double> x = centred_ranks(a);
  const std::vector<double> y = centred_ranks(b);
  const double scale = std::sqrt(dot(x, x) * dot(y, y));
  return scale > 0 ? dot(x, y) / scale : std::numeric_limits<double>::quiet_NaN();
}

ClaimTest rank_correlation_below_zero(std::span<const PairedValues> groups) {
  std::vector<RankedGroup> ranked;
  std::size_t runs = 0;
  double xx = 0;
  double yy = 0;
  double xy = 0;
  for (const PairedValues& group : groups) {
    if (group.size() < 2) continue;
    std::vector<double> first;
    std::vector<double> second;
    for (const auto& [a, b] : group) {
      require(!std::isnan(a) && !std::isnan(b), "values", std::nan(""), "numbers");
      first.push_back(a);
      second.push_back(b);
    }
    ranked.push_back({centred_ranks(first), centred_ranks(second)});
    const RankedGroup& g = ranked.back();
    runs += group.size();
    xx += dot(g.x, g.x);
    yy += dot(g.y, g.y);
    xy += dot(g.x, g.y);
  }
  ClaimTest test{.interval = {}};
  if (!(xx * yy > 0)) return test;
  test.estimate = xy / std::sqrt(xx * yy);

  constexpr int kPermutations = 9999;
  RandomStream stream({.seed = 0, .id = StreamId::bootstrap});  // the same for equal data
  int below = 1;
  int above = 1;
  for (int k = 0; k < kPermutations; ++k) {
    double sum = 0;
    for (RankedGroup& g : ranked) {
      for (std::size_t i = g.y.size() - 1; i > 0; --i) {
        std::swap(g.y[i], g.y[static_cast<std::size_t>(stream.below(i + 1))]);
      }
      sum += dot(g.x, g.y);
    }
    below += sum <= xy ? 1 : 0;  // sums of quarters: exact
    above += sum >= xy ? 1 : 0;
  }
  test.p_agree = static_cast<double>(below) / (kPermutations + 1);
  test.p_disagree = static_cast<double>(above) / (kPermutations + 1);

  const auto freedom = static_cast<double>(runs) - static_cast<double>(ranked.size()) - 2;
  if (freedom >= 1 && std::abs(test.estimate) < 1) {
    const double z = std::atanh(test.estimate);
    const double half =
        normal_quantile(kClaimLevel) * std::sqrt((1 + test.estimate * test.estimate / 2) / freedom);
    test.interval = Interval{.low = std::tanh(z - half), .high = std::tanh(z + half)};
  }
  return test;
}

}  // namespace attica
