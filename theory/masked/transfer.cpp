#include "attica/theory/masked/transfer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/solvers/minimise.hpp"

namespace attica {
namespace {

void require_transfer(const TransferTask& task) {
  const auto require_at_least = [](double value, double low, const char* name) {
    require(std::isfinite(value) && value >= low, name, value, fmt::format("{} or more", low));
  };
  require_at_least(task.dimension, 1, "dimension");
  require_at_least(task.theta, 0, "theta");
  require_at_least(task.noise, 0, "noise");
}

double head_factor(double samples) {
  require(std::isfinite(samples) && samples > 2, "samples", samples, "more than 2");
  return (samples - 1) / (samples - 2);
}

void require_overlap(double overlap) {
  require(overlap >= 0 && overlap <= 1, "overlap", overlap, "0 <= overlap <= 1");
}

}  // namespace

double feature_risk(const TransferTask& task, double overlap, double samples) {
  require_transfer(task);
  require_overlap(overlap);
  return (task.noise + 1 / (1 + task.theta * overlap)) * head_factor(samples);
}

double feature_risk_slope(const TransferTask& task, double overlap, double samples) {
  require_transfer(task);
  require_overlap(overlap);
  const double variance = 1 + task.theta * overlap;
  return -task.theta / (variance * variance) * head_factor(samples);
}

LinearTask raw_task(const TransferTask& task) {
  require_transfer(task);
  const auto d = static_cast<Eigen::Index>(std::llround(task.dimension));
  LinearTask raw{.spectrum = Eigen::ArrayXd::Ones(d),
                 .weights2 = Eigen::ArrayXd::Zero(d),
                 .noise = task.noise + 1 / (1 + task.theta)};
  raw.spectrum[d - 1] = 1 + task.theta;
  raw.weights2[d - 1] = task.theta / ((1 + task.theta) * (1 + task.theta));
  return raw;
}

BestRidge best_raw_ridge(const TransferTask& task, double samples) {
  constexpr int kPoints = 41;
  constexpr double kDecades = 4;
  constexpr double kAccuracy = 1e-7;
  const LinearTask raw = raw_task(task);
  std::vector<double> grid;
  for (int k = 0; k < kPoints; ++k) {
    grid.push_back(std::log(10.0) * kDecades * (2.0 * k / (kPoints - 1) - 1));
  }
  const Minimum best = minimise_on_grid(
      [&](double log_lambda) {
        return label_ridge(raw, samples, std::exp(log_lambda), RidgeOrder::leading).test_error;
      },
      grid,
      kAccuracy);
  const double lambda = std::exp(best.x);
  return {.lambda = lambda, .ridge = label_ridge(raw, samples, lambda)};
}

std::optional<double> transfer_crossing(const TransferTask& task, double overlap) {
  constexpr double kFewest = 3;
  constexpr double kMost = 1e4;  // in dimensions
  constexpr int kPoints = 60;
  constexpr double kAccuracy = 1e-10;
  const auto gain = [&](double log_samples) {
    const double samples = std::exp(log_samples);
    return best_raw_ridge(task, samples).ridge.test_error - feature_risk(task, overlap, samples);
  };
  const double low = std::log(kFewest);
  const double step = (std::log(kMost * task.dimension) - low) / kPoints;
  if (gain(low + kPoints * step) >= 0) return {};
  for (int k = kPoints - 1; k >= 0; --k) {
    double better = low + k * step;
    if (gain(better) <= 0) continue;
    double worse = better + step;
    while (worse - better > kAccuracy) {
      const double middle = 0.5 * (better + worse);
      (gain(middle) > 0 ? better : worse) = middle;
    }
    return std::exp(better);
  }
  return {};
}

}  // namespace attica
