#include "attica/solvers/statistics/weighted_means.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "attica/solvers/statistics/distributions.hpp"

namespace attica {
namespace {

constexpr double kUnequalSpreads = 0.01;
constexpr double kRoundingError = 1e-14;  // of a mean, relative: a spread below it is none

/// Bartlett's test that variances are equal; its p-value.
double equal_variances(const std::vector<double>& variances, const std::vector<double>& degrees) {
  double total = 0;
  double pooled = 0;
  for (std::size_t k = 0; k < variances.size(); ++k) {
    total += degrees[k];
    pooled += degrees[k] * variances[k];
  }
  pooled /= total;
  double statistic = total * std::log(pooled);
  double correction = -1 / total;
  for (std::size_t k = 0; k < variances.size(); ++k) {
    if (!(variances[k] > 0)) return 0;
    statistic -= degrees[k] * std::log(variances[k]);
    correction += 1 / degrees[k];
  }
  const auto groups = static_cast<double>(variances.size());
  constexpr double kThree = 3;
  correction = 1 + correction / (kThree * (groups - 1));
  return chi_square_tail(std::max(statistic / correction, 0.0), groups - 1);
}

}  // namespace

WeightedMeans weighted_means(std::span<const std::span<const double>> samples) {
  WeightedMeans d;
  std::vector<double> relative;
  std::vector<double> absolute;
  std::vector<double> degrees;
  std::vector<double> counts;
  bool lone = false;
  for (const std::span<const double> one : samples) {
    const auto n = static_cast<double>(one.size());
    double mean = 0;
    for (const double y : one) mean += y / n;
    double variance = 0;
    for (const double y : one) variance += (y - mean) * (y - mean);
    lone = lone || one.size() < 2;
    if (variance <= n * kRoundingError * kRoundingError * mean * mean) variance = 0;
    if (one.size() >= 2) {
      degrees.push_back(n - 1);
      absolute.push_back(variance / (n - 1));
      relative.push_back(variance / (n - 1) / (mean * mean));
    }
    d.mean.push_back(mean);
    counts.push_back(n);
  }
  const auto pooled = [&](const std::vector<double>& variances) {
    double sum = 0;
    double total = 0;
    for (std::size_t k = 0; k < variances.size(); ++k) {
      sum += degrees[k] * variances[k];
      total += degrees[k];
    }
    return sum / total;
  };
  const bool some = !lone && pooled(absolute) > 0;
  if (!some) {  // relative, of unknown size
    for (std::size_t k = 0; k < d.mean.size(); ++k)
      d.weight.push_back(counts[k] / (d.mean[k] * d.mean[k]));
    return d;
  }
  double least = std::numeric_limits<double>::infinity();
  double total = 0;
  for (const double each : degrees) {
    total += each;
    least = std::min(least, each);
  }
  d.spread_degrees = total;
  if (equal_variances(relative, degrees) > kUnequalSpreads) {
    const double variance = pooled(relative);
    for (std::size_t k = 0; k < d.mean.size(); ++k)
      d.weight.push_back(counts[k] / (variance * d.mean[k] * d.mean[k]));
  } else if (equal_variances(absolute, degrees) > kUnequalSpreads) {
    const double variance = pooled(absolute);
    for (std::size_t k = 0; k < d.mean.size(); ++k) d.weight.push_back(counts[k] / variance);
  } else {
    // A spread of zero by chance would weigh without limit.
    constexpr double kLeastShare = 1e-4;
    const double floor = kLeastShare * pooled(relative);
    for (std::size_t k = 0; k < d.mean.size(); ++k) {
      const double variance = std::max(absolute[k], floor * d.mean[k] * d.mean[k]);
      d.weight.push_back(counts[k] / variance);
    }
    d.spread_degrees = least;
  }
  return d;
}

std::string other_unit(double largest) {
  constexpr double kLargest = 1e140;
  constexpr double kSmallest = 1e-140;
  if (largest == 0 || (largest >= kSmallest && largest <= kLargest)) return {};
  return fmt::format("values up to {:.3g}, whose squares no number holds: choose another unit",
                     largest);
}

}  // namespace attica
