#include "attica/sim/networks/bounce.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attica/core/random.hpp"

namespace attica {
namespace {

/// The curve after its start, a mean over five records in turn; of a shorter curve itself.
std::vector<double> smoothed(const std::vector<double>& curve) {
  constexpr std::size_t kRecords = 5;
  std::vector<double> means;
  for (std::size_t k = 1; k + kRecords <= curve.size(); ++k) {
    double sum = 0;
    for (std::size_t i = 0; i < kRecords; ++i) sum += curve[k + i];
    means.push_back(sum / kRecords);
  }
  return means.empty() ? curve : means;
}

}  // namespace

double fall_statistic(const std::vector<double>& curve) {
  if (curve.empty()) return 0;
  const std::vector<double> means = smoothed(curve);
  return curve.front() - *std::min_element(means.begin(), means.end());
}

double bounce_statistic(const std::vector<double>& curve) {
  const double fallen = fall_statistic(curve);
  if (fallen <= 0) return 0;
  return (smoothed(curve).back() - (curve.front() - fallen)) / fallen;
}

BounceOfRows bounce_of_rows(const Eigen::MatrixXd& entropies, std::uint64_t seed) {
  constexpr Eigen::Index kFewest = 8;
  constexpr std::size_t kDraws = 2000;
  constexpr double kTail = 0.025;
  const Eigen::VectorXd mean = entropies.colwise().mean();
  const std::vector<double> curve(mean.begin(), mean.end());
  BounceOfRows result{.fall = fall_statistic(curve), .bounce = bounce_statistic(curve)};
  if (entropies.rows() < kFewest) return result;
  RandomStream stream({.seed = seed, .id = StreamId::bootstrap});
  std::vector<double> bounces;
  std::vector<double> drawn(curve.size());
  const auto rows = static_cast<std::uint64_t>(entropies.rows());
  for (std::size_t k = 0; k < kDraws; ++k) {
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(entropies.cols());
    for (std::uint64_t i = 0; i < rows; ++i)
      sum += entropies.row(static_cast<Eigen::Index>(stream.below(rows))).transpose();
    sum /= static_cast<double>(rows);
    std::copy(sum.begin(), sum.end(), drawn.begin());
    bounces.push_back(bounce_statistic(drawn));
  }
  std::sort(bounces.begin(), bounces.end());
  const auto at = [&](double share) {
    return bounces[static_cast<std::size_t>(std::lround(share * static_cast<double>(kDraws - 1)))];
  };
  result.low = at(kTail);
  result.high = at(1 - kTail);
  return result;
}

}  // namespace attica
