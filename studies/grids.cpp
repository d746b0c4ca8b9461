#include "attica/studies/grids.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "attica/core/error.hpp"

namespace attica {
namespace {

/// Between low and high at equal ratios, which may span more than a number holds.
double at_share(double low, double high, double share) {
  const double ratio = high / low;
  return std::isfinite(ratio) ? low * std::pow(ratio, share)
                              : std::pow(low, 1 - share) * std::pow(high, share);
}

}  // namespace

std::vector<double> log_grid(double low, double high, int n) {
  std::vector<double> values;
  for (int k = 0; k < n; ++k) {
    values.push_back(at_share(low, high, static_cast<double>(k) / (n - 1)));
  }
  return values;
}

std::vector<std::int64_t> whole_log_grid(std::int64_t first, std::int64_t last, int n) {
  std::vector<std::int64_t> values;
  for (const double value : log_grid(static_cast<double>(first), static_cast<double>(last), n)) {
    values.push_back(std::llround(value));
  }
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::vector<double> line_through(std::vector<double> values,
                                 int n,
                                 AxisScale scale,
                                 TheoryGrid grid) {
  values = ascending(std::move(values));
  const double low = values.front();
  const double high = values.back();
  const bool ratios = scale == AxisScale::log && low > 0;
  for (int k = 1; grid == TheoryGrid::run && k < n && high > low; ++k) {
    const auto share = static_cast<double>(k) / n;
    values.push_back(ratios ? at_share(low, high, share) : low + (high - low) * share);
  }
  return ascending(std::move(values));
}

std::vector<double> line_between(const std::vector<double>& values,
                                 AxisScale scale,
                                 TheoryGrid grid,
                                 int parts) {
  if (grid == TheoryGrid::requested) return values;
  std::vector<double> all;
  for (std::size_t k = 0; k < values.size(); ++k) {
    for (int part = 1; k > 0 && part < parts; ++part) {
      const double low = values[k - 1];
      const double high = values[k];
      const auto share = static_cast<double>(part) / parts;
      if (scale == AxisScale::linear) {
        all.push_back(low + (high - low) * share);
      } else if (low > 0 && high > 0) {
        all.push_back(at_share(low, high, share));
      }
    }
    all.push_back(values[k]);
  }
  return all;
}

std::vector<std::int64_t> steps_between(const std::vector<std::int64_t>& steps, TheoryGrid grid) {
  std::vector<std::int64_t> all;
  for (const double x : line_between(as_reals(steps), AxisScale::linear, grid))
    all.push_back(std::llround(x));
  return ascending(std::move(all));
}

std::int64_t realised_samples(double alpha, double inputs) {
  constexpr double kLargest = 1e15;  // far beyond what a run may simulate
  return std::max<std::int64_t>(1, std::llround(std::min(alpha * inputs, kLargest)));
}

SampleSizes::SampleSizes(
    std::vector<double> alphas, double inputs, double most, std::string key, SampleCheck check)
    : alphas_(std::move(alphas)), inputs_(inputs), most_(most), key_(std::move(key)) {
  for (const double alpha : alphas_) {
    const double asked = samples(alpha);
    require(check == SampleCheck::when_used || (asked >= 1 && asked <= most),
            key_,
            alpha,
            fmt::format("between 1 and {:g} samples alpha N, N = {:g}", most, inputs));
    sizes_.push_back(realised_samples(alpha, inputs));
  }
  sizes_ = ascending(std::move(sizes_));
}

void SampleSizes::require_usable(TheoryGrid grid) const {
  for (const double alpha : alphas_) {
    require(samples(alpha) >= 1,
            key_,
            alpha,
            fmt::format("alpha N >= 1, at least one sample, N = {:g}", inputs_));
    if (grid == TheoryGrid::run) {
      require(static_cast<double>(realised_samples(alpha, inputs_)) <= most_,
              key_,
              alpha,
              fmt::format("at most {:g} samples alpha N to simulate, N = {:g}", most_, inputs_));
    }
  }
}

double SampleSizes::samples(double alpha) const {
  const double product = alpha * inputs_;
  const double nearest = std::round(product);
  const bool rounding =
      std::abs(product - nearest) <= 2 * std::numeric_limits<double>::epsilon() * nearest;
  return rounding ? nearest : product;
}

std::vector<double> SampleSizes::alphas(TheoryGrid grid) const {
  require_usable(grid);
  if (grid == TheoryGrid::requested) return alphas_;
  std::vector<double> realised;
  for (std::size_t point = 0; point < count(); ++point) realised.push_back(alpha(point));
  return realised;
}

}  // namespace attica
