#include "attica/solvers/statistics/multiple_tests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "attica/core/error.hpp"
#include "attica/core/random.hpp"
#include "attica/solvers/statistics/replicates.hpp"

namespace attica {
namespace {

constexpr std::size_t kMostEnumerated = 12;
constexpr std::uint64_t kDraws = 10'000;  // the identity and 9999 random patterns
constexpr std::size_t kWordBits = 64;

template <class Before>
std::vector<std::size_t> sorted_order(std::size_t size, Before before) {
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, before);
  return order;
}

// Pattern b as signs +1 or -1, the last of an enumerated one being +1. Pattern 0 is the identity.
void fill_signs(std::uint64_t b, std::uint64_t seed, std::vector<double>& signs) {
  const bool enumerated = signs.size() <= kMostEnumerated;
  RandomStream stream({.seed = seed, .id = StreamId::sign_flip, .replicate = b});
  std::uint64_t word = b;
  for (std::size_t r = 0; r < signs.size(); ++r) {
    if (!enumerated && r % kWordBits == 0) word = b == 0 ? 0 : stream.bits();
    signs[r] = (word >> (r % kWordBits)) & 1U ? -1 : 1;
  }
}

// |M| / sqrt((Q - n M^2) / ((n - 1) n)), M the mean of the signed values and Q the sum of squares,
// which no sign changes.
double flipped_statistic(const std::vector<double>& signs, const std::vector<double>& z, double q) {
  const auto n = static_cast<double>(z.size());
  const double mean = std::inner_product(signs.begin(), signs.end(), z.begin(), 0.0) / n;
  if (mean == 0) return 0;
  const double rest = q - n * mean * mean;
  if (rest <= 0) return std::numeric_limits<double>::infinity();
  return std::abs(mean) / std::sqrt(rest / ((n - 1) * n));
}

}  // namespace

std::vector<double> holm(std::span<const double> p) {
  std::vector<double> adjusted(p.size());
  double largest = 0;
  auto remaining = static_cast<double>(p.size());
  for (std::size_t i : sorted_order(p.size(), [&](auto a, auto b) { return p[a] < p[b]; })) {
    largest = std::max(largest, std::min(1.0, remaining * p[i]));
    adjusted[i] = largest;
    --remaining;
  }
  return adjusted;
}

SignFlips sign_flip_test(std::span<const std::vector<double>> differences,
                         std::span<const double> margins,
                         std::uint64_t seed) {
  const std::size_t points = differences.size();
  if (points == 0) return {};
  const std::size_t n = differences.front().size();
  SignFlips result{.statistic = std::vector<double>(points),
                   .adjusted = std::vector<double>(points)};
  std::vector<std::vector<double>> z(differences.begin(), differences.end());
  std::vector<double> squares(points);
  for (std::size_t p = 0; p < points; ++p) {
    const SampleSummary d = summarise(z[p]);
    if (d.n != n || z[p].size() != n || n < kFewestReplicates || d.identical()) {
      throw invalid_parameter("family",
                              fmt::format("maxt with {} finite replicates at point {}", d.n, p),
                              "the same 8 or more differing replicates at every point");
    }
    result.statistic[p] = (std::abs(d.mean) - margins[p]) / d.sem;
    const double nearest_null = std::clamp(d.mean, -margins[p], margins[p]);
    for (double& value : z[p]) value -= nearest_null;
    squares[p] = std::inner_product(z[p].begin(), z[p].end(), z[p].begin(), 0.0);
  }
  const auto& statistic = result.statistic;
  const auto order =
      sorted_order(points, [&](auto a, auto b) { return statistic[a] > statistic[b]; });

  // For each rank, the patterns whose maximum over this and the lower ranks reaches the observed
  // statistic.
  constexpr double kRounding = 1e-12;
  const std::uint64_t patterns = n <= kMostEnumerated ? std::uint64_t{1} << (n - 1) : kDraws;
  std::vector<std::size_t> exceeded(points, 0);
  std::vector<double> signs(n);
  for (std::uint64_t b = 0; b < patterns; ++b) {
    fill_signs(b, seed, signs);
    double largest = 0;
    for (std::size_t k = points; k-- > 0;) {
      const std::size_t p = order[k];
      largest = std::max(largest, flipped_statistic(signs, z[p], squares[p]));
      if (largest >= statistic[p] - kRounding) ++exceeded[k];
    }
  }
  double running = 0;
  for (std::size_t k = 0; k < points; ++k) {
    const double p = statistic[order[k]] <= 0
                         ? 1
                         : static_cast<double>(exceeded[k]) / static_cast<double>(patterns);
    running = std::max(running, p);
    result.adjusted[order[k]] = running;
  }
  return result;
}

}  // namespace attica
