#include "attica/solvers/statistics/serial_correlation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "attica/core/random.hpp"

namespace attica {
namespace {

constexpr std::size_t kFewestOrdered = 5;
constexpr std::size_t kMostCurves = 64;
constexpr std::size_t kMostOrdered = 4096;

/// SerialDeviations from the mean, by the rank of the replicate's number in the whole run; missing
/// ones are NaN.
struct SerialDeviations {
  std::vector<double> by_rank;
  double squares = 0;
  std::size_t n = 0;
  bool complete = false;  ///< no rank is missing
};

/// The autocorrelation of the replicates in that order of the ranks.
double lag_one(const SerialDeviations& d, std::span<const std::size_t> order) {
  double sum = 0;
  if (d.complete) {
    double before = d.by_rank[order.front()];
    for (const std::size_t rank : order.subspan(1)) {
      sum += before * d.by_rank[rank];
      before = d.by_rank[rank];
    }
    return sum / d.squares;
  }
  double before = 0;  // of the first one there is none
  for (const std::size_t rank : order) {
    const double next = d.by_rank[rank];
    if (std::isnan(next)) continue;
    sum += before * next;
    before = next;
  }
  return sum / d.squares;
}

double pooled(std::span<const SerialDeviations> points, std::span<const std::size_t> order) {
  double sum = 0;
  double weights = 0;
  for (const SerialDeviations& d : points) {
    const auto n = static_cast<double>(d.n);
    sum += n * lag_one(d, order);
    weights += n;
  }
  return sum / weights;
}

std::vector<SerialDeviations> serial_deviations(std::span<const OrderedReplicates> points,
                                                std::span<const std::uint64_t> numbers) {
  std::vector<SerialDeviations> all;
  for (const OrderedReplicates& point : points) {
    SerialDeviations d{.by_rank = std::vector<double>(numbers.size(), std::nan(""))};
    double sum = 0;
    double largest = 0;
    for (std::size_t r = 0; r < point.values.size(); ++r) {
      const auto at = std::ranges::lower_bound(numbers, point.numbers[r]);
      if (at == numbers.end() || *at != point.numbers[r] || !std::isfinite(point.values[r]))
        continue;
      d.by_rank[static_cast<std::size_t>(at - numbers.begin())] = point.values[r];
      sum += point.values[r];
      largest = std::max(largest, std::abs(point.values[r]));
      ++d.n;
    }
    if (d.n < kFewestOrdered) continue;
    const double mean = sum / static_cast<double>(d.n);
    for (double& y : d.by_rank) {
      if (std::isnan(y)) continue;
      y = largest > 0 ? (y - mean) / largest : 0;
      d.squares += y * y;
    }
    constexpr double kRoundedSquares = 1e-28;  // of squares, in units of the largest value
    d.complete = d.n == numbers.size();
    if (d.squares > kRoundedSquares * static_cast<double>(d.n)) all.push_back(std::move(d));
  }
  return all;
}

}  // namespace

double SerialCorrelation::factor() const {
  return correlation > 0 ? std::sqrt((1 + correlation) / (1 - correlation)) : 1;
}

double SerialCorrelation::cautious_factor() const {
  return corrected > 0 ? (1 + corrected) / (1 - corrected) : 1;
}

std::optional<SerialCorrelation> serial_correlation(std::span<const OrderedReplicates> points,
                                                    std::size_t shuffles) {
  std::vector<OrderedReplicates> taken;
  const std::size_t count = std::min(points.size(), kMostCurves);
  for (std::size_t k = 0; k < count; ++k) taken.push_back(points[k * points.size() / count]);
  std::vector<std::uint64_t> numbers;
  for (const OrderedReplicates& point : taken)
    numbers.insert(numbers.end(), point.numbers.begin(), point.numbers.end());
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  if (numbers.size() > kMostOrdered) numbers.resize(kMostOrdered);
  const std::vector<SerialDeviations> all = serial_deviations(taken, numbers);
  if (all.empty()) return std::nullopt;

  std::vector<std::size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const double seen = pooled(all, order);
  // The same for equal data; shuffles of its own.
  RandomStream stream({.seed = 0, .id = StreamId::bootstrap, .step = 1});
  std::size_t as_large = 1;
  for (std::size_t s = 0; s < shuffles; ++s) {
    for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[stream.below(k)]);
    if (pooled(all, order) >= seen) ++as_large;
  }

  double weights = 0;
  double sum = 0;
  for (const SerialDeviations& d : all) {
    weights += static_cast<double>(d.n);
    sum += 1;
  }
  const double n = weights / sum;
  SerialCorrelation result;
  result.correlation = seen;
  result.corrected = std::min(seen + (1 + 4 * seen) / n, 1 - 2 / n);
  result.p_value = static_cast<double>(as_large) / static_cast<double>(shuffles + 1);
  return result;
}

}  // namespace attica
