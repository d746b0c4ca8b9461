#include "attica/solvers/statistics/floor_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/solvers/minimise.hpp"
#include "attica/solvers/statistics/distributions.hpp"
#include "attica/solvers/statistics/profile_interval.hpp"
#include "attica/solvers/statistics/weighted_means.hpp"

namespace attica {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();
constexpr double kSteepest = 12;  ///< exponents beyond it are not looked for
constexpr double kTail95 = 0.025;
constexpr double kTail90 = 0.05;
constexpr double kPoorFloorFit = 0.001;

/// Means and standard errors by growing x; x over its geometric mean.
struct FloorData {
  std::vector<double> z;
  std::vector<double> y;
  std::vector<double> weight;  ///< one over the squared standard error
  double scale = 1;            ///< geometric mean of x
  double spread_degrees = 0;   ///< of the standard errors; 0: known up to a factor only
};

double weighted_mean(std::span<const double> values, std::span<const double> weights) {
  double sum = 0;
  double total = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    sum += weights[k] * values[k];
    total += weights[k];
  }
  return sum / total;
}

/// (z^p - 1)/p, which is ln z at p = 0: with it the fit is smooth there.
double power_basis(double z, double p) {
  const double log = std::log(z);
  return p == 0 ? log : std::expm1(p * log) / p;
}

struct LinearFit {
  double constant = 0;  ///< y = constant + slope * basis
  double slope = 0;
  double sum = kUnlimited;  ///< weighted sum of squares
};

LinearFit sum_of(const FloorData& d, const std::vector<double>& basis, LinearFit f) {
  f.sum = 0;
  for (std::size_t k = 0; k < d.y.size(); ++k) {
    const double r = d.y[k] - f.constant - f.slope * basis[k];
    f.sum += d.weight[k] * r * r;
  }
  if (!std::isfinite(f.sum)) f.sum = kUnlimited;
  return f;
}

std::vector<double> basis_of(const FloorData& d, double p) {
  std::vector<double> basis(d.z.size());
  std::ranges::transform(d.z, basis.begin(), [&](double z) { return power_basis(z, p); });
  return basis;
}

/// Constant and slope at that p.
LinearFit free_fit(const FloorData& d, double p) {
  const std::vector<double> basis = basis_of(d, p);
  const double mean_b = weighted_mean(basis, d.weight);
  const double mean_y = weighted_mean(d.y, d.weight);
  double sbb = 0;
  double sby = 0;
  for (std::size_t k = 0; k < basis.size(); ++k) {
    sbb += d.weight[k] * (basis[k] - mean_b) * (basis[k] - mean_b);
    sby += d.weight[k] * (basis[k] - mean_b) * (d.y[k] - mean_y);
  }
  if (!(sbb > 0) || !std::isfinite(sbb)) return {};
  const double slope = sby / sbb;
  return sum_of(d, basis, {.constant = mean_y - slope * mean_b, .slope = slope});
}

/// y = floor + C z^p with that floor: C follows.
LinearFit floored_fit(const FloorData& d, double p, double floor) {
  double sbb = 0;
  double sby = 0;
  std::vector<double> power(d.z.size());
  for (std::size_t k = 0; k < power.size(); ++k) {
    power[k] = std::pow(d.z[k], p);
    sbb += d.weight[k] * power[k] * power[k];
    sby += d.weight[k] * power[k] * (d.y[k] - floor);
  }
  if (!(sbb > 0) || !std::isfinite(sbb)) return {};
  return sum_of(d, power, {.constant = floor, .slope = sby / sbb});
}

/// y = floor + C x^p with that C, of x itself: the floor follows.
LinearFit fixed_prefactor_fit(const FloorData& d, double p, double prefactor) {
  std::vector<double> power(d.z.size());
  std::vector<double> rest(d.z.size());
  const double c = prefactor * std::pow(d.scale, p);
  for (std::size_t k = 0; k < power.size(); ++k) {
    power[k] = std::pow(d.z[k], p);
    rest[k] = d.y[k] - c * power[k];
  }
  return sum_of(d, power, {.constant = weighted_mean(rest, d.weight), .slope = c});
}

std::vector<double> exponent_grid() {
  constexpr int kSteps = 480;
  std::vector<double> grid(kSteps + 1);
  for (int k = 0; k <= kSteps; ++k)
    grid[static_cast<std::size_t>(k)] = kSteepest * (2.0 * k / kSteps - 1);
  return grid;
}

/// The least sum over p.
Minimum least_over_exponents(const std::function<double(double)>& sum) {
  static const std::vector<double> grid = exponent_grid();
  constexpr double kAccuracy = 1e-7;
  return minimise_on_grid(sum, grid, kAccuracy);
}

FloorData floor_data(std::span<const ScalingPoint> used) {
  FloorData d;
  double log = 0;
  std::vector<std::span<const double>> samples;
  for (const ScalingPoint& p : used) {
    samples.emplace_back(p.samples);
    d.z.push_back(p.x);
    log += std::log(p.x) / static_cast<double>(used.size());
  }
  d.scale = std::exp(log);
  for (double& z : d.z) z /= d.scale;
  WeightedMeans means = weighted_means(samples);
  d.y = std::move(means.mean);
  d.weight = std::move(means.weight);
  d.spread_degrees = means.spread_degrees;
  return d;
}

FloorData without(FloorData d, bool first) {
  const auto drop = [&](std::vector<double>& values) {
    if (first) {
      values.erase(values.begin());
    } else {
      values.pop_back();
    }
  };
  drop(d.z);
  drop(d.y);
  drop(d.weight);
  return d;
}

/// The unit in which values are fitted: 1, or a power of two where their squares would leave the
/// range of numbers.
double unit_of(const std::vector<ScalingPoint>& points) {
  constexpr double kSmall = 1e-100;
  constexpr double kLarge = 1e100;
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const ScalingPoint& p : points) {
    for (const double y : p.samples) {
      least = std::min(least, y);
      most = std::max(most, y);
    }
  }
  return least > kSmall && most < kLarge ? 1.0 : std::ldexp(1.0, std::ilogb(most));
}

}  // namespace

FloorFit fit_with_floor(std::vector<ScalingPoint> points, std::optional<double> floor) {
  std::ranges::sort(points, {}, &ScalingPoint::x);
  FloorFit result;
  // The medians, and what is wrong with the sizes, as any exponent has it.
  result.exponent = fit_exponent(points, {});
  ExponentFit& fit = result.exponent;
  std::vector<ScalingPoint> used;
  for (const ScalingPoint& p : points) {
    if (std::ranges::all_of(p.samples, [](double y) { return std::isfinite(y); }))
      used.push_back(p);
  }
  const std::size_t parameters = floor ? 2 : 3;
  fit.fitted = false;
  fit.local_slopes.clear();
  fit.from_scatter = false;
  if (used.size() < parameters + 1) {
    fit.weakness = fmt::format(
        "fewer than {} sizes, which a fit with a floor needs, reach the target in every replicate",
        parameters + 1);
    return result;
  }
  for (ScalingMedian& m : fit.medians) m.used = m.censored == 0;
  const double own_unit = unit_of(used);
  for (ScalingPoint& p : used) {
    for (double& y : p.samples) y /= own_unit;
  }
  if (floor) *floor /= own_unit;
  const FloorData data = floor_data(used);
  const auto at = [&](const FloorData& d, double p) {
    return floor ? floored_fit(d, p, *floor) : free_fit(d, p);
  };
  const auto sum = [&](double p) { return at(data, p).sum; };
  const Minimum best = least_over_exponents(sum);
  const LinearFit line = at(data, best.x);
  if (best.at_edge || !std::isfinite(best.value)) {
    fit.weakness = fmt::format("no exponent between {} and {} fits best", -kSteepest, kSteepest);
    return result;
  }
  fit.fitted = true;
  fit.slope = best.x;
  if (floor) {
    result.floor = *floor;
    result.prefactor = line.slope * std::pow(data.scale, -best.x);
  } else {
    // constant + slope (z^p - 1)/p
    result.floor = line.constant - line.slope / best.x;
    result.prefactor = line.slope / best.x * std::pow(data.scale, -best.x);
  }
  result.degrees = used.size() - parameters;
  const auto degrees = static_cast<double>(result.degrees);
  double unit = 1;  // of the sum of squares
  double t95 = 0;
  double t90 = 0;
  if (data.spread_degrees > 0) {
    result.chi_square = best.value;
    result.p_value = chi_square_tail(best.value, degrees);
    unit = std::max(1.0, best.value / degrees);
    t95 = student_quantile(kTail95, data.spread_degrees);
    t90 = student_quantile(kTail90, data.spread_degrees);
  } else {
    fit.from_scatter = true;
    result.chi_square = degrees;
    unit = best.value / degrees;
    t95 = student_quantile(kTail95, degrees);
    t90 = student_quantile(kTail90, degrees);
  }
  const double limit95 = best.value + unit * t95 * t95;
  const double limit90 = best.value + unit * t90 * t90;
  constexpr double kFirstStep = 0.01;
  const auto ended = [&](double p) { return std::abs(p) > kSteepest ? kUnlimited : sum(p); };
  const auto clipped = [&](Interval i) {
    if (i.low <= -kSteepest + kFirstStep) i.low = -kUnlimited;
    if (i.high >= kSteepest - kFirstStep) i.high = kUnlimited;
    return i;
  };
  fit.interval95 = clipped(profile_interval(ended, best.x, kFirstStep, limit95));
  fit.interval90 = clipped(profile_interval(ended, best.x, kFirstStep, limit90));
  // Profiles need p in a neighbourhood alone: where the interval of p ends, so do theirs.
  constexpr int kInner = 64;
  std::vector<double> inner(kInner + 1);
  const double low = std::max(fit.interval95.low, -kSteepest);
  const double high = std::min(fit.interval95.high, kSteepest);
  const double margin = (high - low) / kInner + 1e-9;
  for (int k = 0; k <= kInner; ++k)
    inner[static_cast<std::size_t>(k)] = low - margin + (high - low + 2 * margin) * k / kInner;
  const auto least_inside = [&](const std::function<double(double)>& f) {
    constexpr double kAccuracy = 1e-7;
    return minimise_on_grid(f, inner, kAccuracy).value;
  };
  const bool levels = !(fit.interval95.low <= 0 && fit.interval95.high >= 0);
  if (floor) {
    result.floor95 = {*floor, *floor};
  } else if (!levels) {
    result.floor95 = {-kUnlimited, kUnlimited};
  } else {
    const double step = kFirstStep * (std::abs(result.floor) + std::abs(data.y.back()));
    result.floor95 = profile_interval(
        [&](double c) {
          return least_inside([&](double p) { return floored_fit(data, p, c).sum; });
        },
        result.floor,
        step,
        limit95);
  }
  if (!levels && !floor) {
    result.prefactor95 = {-kUnlimited, kUnlimited};
  } else {
    const double sign = result.prefactor < 0 ? -1 : 1;
    const Interval log = profile_interval(
        [&](double c) {
          const double prefactor = sign * std::exp(c);
          return least_inside([&](double p) {
            if (!floor) return fixed_prefactor_fit(data, p, prefactor).sum;
            const double slope = prefactor * std::pow(data.scale, p);
            std::vector<double> power(data.z.size());
            std::ranges::transform(data.z, power.begin(), [&](double z) { return std::pow(z, p); });
            return sum_of(data, power, {.constant = *floor, .slope = slope}).sum;
          });
        },
        std::log(std::abs(result.prefactor)),
        kFirstStep,
        limit95);
    const double a = sign * std::exp(log.low);
    const double b = sign * std::exp(log.high);
    result.prefactor95 = {std::min(a, b), std::max(a, b)};
  }
  // Minima elsewhere on the grid that are not rejected.
  const std::vector<double> grid = exponent_grid();
  double other = limit95;
  for (std::size_t k = 1; k + 1 < grid.size(); ++k) {
    if (grid[k] >= fit.interval95.low && grid[k] <= fit.interval95.high) continue;
    const double here = sum(grid[k]);
    if (here < other && here <= sum(grid[k - 1]) && here <= sum(grid[k + 1])) {
      other = here;
      result.other_optimum = grid[k];
    }
  }
  const auto refit = [&](bool first) {
    const FloorData part = without(data, first);
    if (part.z.size() < parameters) return fit.slope;
    return least_over_exponents([&](double p) { return at(part, p).sum; }).x;
  };
  if (used.size() > parameters + 1) {
    fit.without_first = refit(true);
    fit.without_last = refit(false);
    // Without an end there is less to tell the exponent by: is the whole's one of those left?
    const auto rejects = [&](bool first, double slope) {
      const FloorData part = without(data, first);
      return at(part, fit.slope).sum > at(part, slope).sum + unit * t95 * t95;
    };
    fit.window_dependent = rejects(true, fit.without_first) || rejects(false, fit.without_last);
  } else {
    fit.without_first = std::numeric_limits<double>::quiet_NaN();
    fit.without_last = fit.without_first;
    fit.window_dependent = false;
  }
  if (fit.weakness.empty() && result.p_value < kPoorFloorFit)
    fit.weakness = "the residuals are larger than the errors of the means";
  if (fit.weakness.empty() && !levels)
    fit.weakness = "the interval of the exponent holds 0: nothing shows that the curve levels off";
  for (double* value : {&result.floor,
                        &result.floor95.low,
                        &result.floor95.high,
                        &result.prefactor,
                        &result.prefactor95.low,
                        &result.prefactor95.high})
    *value *= own_unit;
  return result;
}

}  // namespace attica
