#include "attica/solvers/statistics/exponents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/core/random.hpp"
#include "attica/solvers/statistics/distributions.hpp"
#include "attica/solvers/statistics/exponent_rules.hpp"
#include "attica/solvers/statistics/order_statistics.hpp"
#include "attica/solvers/statistics/quantile_limits.hpp"

namespace attica {
namespace {

constexpr std::size_t kFewestFitted = 3;
constexpr double kMedianQuantile = 0.5;
constexpr double kVacuousExponent = 0.5;
constexpr double kVacuousFactor = 10;

bool censored(double samples) { return std::isinf(samples); }

// Points by growing x.
void validate(std::span<const ScalingPoint> points, bool shared_seeds) {
  const auto twice = std::ranges::adjacent_find(points, {}, &ScalingPoint::x);
  require(twice == points.end(), "size", twice == points.end() ? 0 : twice->x, "every size once");
  for (const ScalingPoint& p : points) {
    require(std::isfinite(p.x) && p.x > 0, "size", p.x, "a finite number > 0");
    require(!p.samples.empty(), "seeds", 0, "at least one seed at every size");
    for (double y : p.samples) {
      require(y > 0, "samples", y, "numbers > 0, infinity for a target never reached");
      require(!censored(y) || (std::isfinite(p.cap) && p.cap > 0),
              "cap",
              p.cap,
              "the samples at which a run was stopped, where targets were not reached");
    }
    require(!shared_seeds || p.samples.size() == points.front().samples.size(),
            "seeds",
            static_cast<double>(p.samples.size()),
            "as many at every size when they are shared");
  }
}

double capped_quantile(std::vector<double> samples, double cap, double p) {
  const double m = censored_quantile(std::move(samples), p);
  return censored(m) ? cap : m;
}

// The k-th smallest or largest value, k from median_limit_rank; infinite ones are known to exceed
// the cap.
double order_limit(const ScalingPoint& p, std::size_t index) {
  std::vector<double> sorted = p.samples;
  std::ranges::sort(sorted);
  return censored(sorted[index]) ? p.cap : sorted[index];
}

ScalingMedian summarise(const ScalingPoint& p, double quantile) {
  ScalingMedian m{.x = p.x,
                  .median = capped_quantile(p.samples, p.cap, quantile),
                  .interval = std::nullopt,
                  .seeds = p.samples.size()};
  m.censored = static_cast<std::size_t>(std::ranges::count_if(p.samples, censored));
  m.used = reached_often_enough(m.censored, m.seeds, quantile);
  const QuantileRanks ranks = quantile_limit_ranks(m.seeds, quantile, kLevel95);
  if (ranks.below && ranks.above)
    m.interval = Interval{order_limit(p, *ranks.below - 1), order_limit(p, *ranks.above - 1)};
  return m;
}

std::string weakness(std::span<const ScalingPoint> points, double quantile) {
  if (points.size() < kFewestSizes) return fmt::format("fewer than {} sizes", kFewestSizes);
  if (points.back().x < kSmallestSpan * points.front().x) {
    return fmt::format("sizes span less than a factor {}", kSmallestSpan);
  }
  for (const ScalingPoint& p : points) {
    if (p.samples.size() < fewest_seeds(quantile)) {
      return fmt::format("fewer than {} seeds at size {}", fewest_seeds(quantile), p.x);
    }
  }
  return "";
}

/// A curve that levels off follows no power law: it has an exponent once a floor is fitted.
bool carries_verdict(const ExponentFit& fit) {
  return fit.fitted && fit.weakness.empty() && !(fit.window_dependent && levels_off(fit));
}

/// The slopes that a verdict has to hold of too.
std::vector<double> windows_of(const ExponentFit& fit) {
  if (!fit.window_dependent) return {};
  return {fit.without_first, fit.without_last};
}

}  // namespace

Line log_log_line(std::span<const double> x, std::span<const double> y) {
  const auto n = static_cast<double>(x.size());
  double mean_x = 0;
  double mean_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += std::log(x[i]) / n;
    mean_y += std::log(y[i]) / n;
  }
  double sxy = 0;
  double sxx = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double dx = std::log(x[i]) - mean_x;
    sxy += dx * (std::log(y[i]) - mean_y);
    sxx += dx * dx;
  }
  require(sxx > 0, "sizes", n, "two or more different ones");
  return {.slope = sxy / sxx, .intercept = mean_y - sxy / sxx * mean_x};
}

namespace {

std::vector<Line> bootstrap_lines(std::span<const ScalingPoint> points,
                                  std::size_t resamples,
                                  const SeedChoice& choose,
                                  double p = kMedianQuantile) {
  std::vector<double> x(points.size());
  std::vector<double> y(points.size());
  std::ranges::transform(points, x.begin(), &ScalingPoint::x);
  std::vector<Line> lines(resamples);
  std::vector<double> drawn;
  for (std::size_t b = 0; b < resamples; ++b) {
    for (std::size_t k = 0; k < points.size(); ++k) {
      const auto& samples = points[k].samples;
      drawn.resize(samples.size());
      for (std::size_t s = 0; s < samples.size(); ++s) drawn[s] = samples[choose(b, k, s)];
      y[k] = capped_quantile(drawn, points[k].cap, p);
    }
    lines[b] = log_log_line(x, y);
  }
  return lines;
}

std::vector<double> sorted_slopes(const std::vector<Line>& lines) {
  std::vector<double> slopes(lines.size());
  std::ranges::transform(lines, slopes.begin(), &Line::slope);
  std::ranges::sort(slopes);
  return slopes;
}

std::vector<double> sorted_intercepts(const std::vector<Line>& lines) {
  std::vector<double> intercepts(lines.size());
  std::ranges::transform(lines, intercepts.begin(), &Line::intercept);
  std::ranges::sort(intercepts);
  return intercepts;
}

/// Intervals of a line from the scatter about it.
void use_scatter(std::span<const double> x, std::span<const double> y, ExponentFit& fit) {
  const auto n = static_cast<double>(x.size());
  double mean = 0;
  double residual = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    mean += std::log(x[k]) / n;
    const double r = std::log(y[k]) - fit.intercept - fit.slope * std::log(x[k]);
    residual += r * r;
  }
  double sxx = 0;
  for (const double each : x) sxx += (std::log(each) - mean) * (std::log(each) - mean);
  const double variance = residual / (n - 2);
  const double of_slope = std::sqrt(variance / sxx);
  const double of_intercept = std::sqrt(variance * (1 / n + mean * mean / sxx));
  const auto within = [&](double centre, double error, double level) {
    const double half = student_quantile(level, n - 2) * error;
    return Interval{centre - half, centre + half};
  };
  fit.from_scatter = true;
  fit.interval95 = within(fit.slope, of_slope, kLevel95);
  fit.interval90 = within(fit.slope, of_slope, kLevel90);
  const Interval log = within(fit.intercept, of_intercept, kLevel95);
  fit.prefactor95 = {std::exp(log.low), std::exp(log.high)};
}

}  // namespace

std::vector<double> bootstrap_slopes(std::span<const ScalingPoint> points,
                                     std::size_t resamples,
                                     const SeedChoice& choose) {
  return sorted_slopes(bootstrap_lines(points, resamples, choose));
}

bool levels_off(const ExponentFit& fit) {
  const std::vector<double>& s = fit.local_slopes;
  if (!fit.fitted || s.size() < 3) return false;
  for (std::size_t k = 0; k + 1 < s.size(); ++k) {
    if (s[k] * s.front() <= 0 || std::abs(s[k + 1]) >= std::abs(s[k])) return false;
  }
  return true;
}

std::size_t fewest_seeds(double quantile) {
  // The largest of n lies above the quantile with probability 1 - p^n, the smallest below it with
  // 1 - (1 - p)^n.
  const double rare = std::min(quantile, 1 - quantile);
  constexpr double kMost = 1e18;
  const double n = std::ceil(std::log(kLevel95) / std::log1p(-rare) * (1 - 1e-12));
  return std::max(kFewestSeeds, static_cast<std::size_t>(std::min(n, kMost)));
}

bool reached_often_enough(std::size_t censored, std::size_t seeds, double quantile) {
  constexpr double kShare = 2;
  constexpr double kRounding = 1e-9;  // of 1 - 0.9
  return kShare * static_cast<double>(censored) <=
         (1 - quantile) * static_cast<double>(seeds) + kRounding;
}

ExponentFit fit_exponent(std::vector<ScalingPoint> points, const ScalingOptions& options) {
  return fit_exponent_of_quantile(std::move(points), kMedianQuantile, options);
}

ExponentFit fit_exponent_of_quantile(std::vector<ScalingPoint> points,
                                     double quantile_level,
                                     const ScalingOptions& options) {
  require(quantile_level > 0 && quantile_level < 1,
          "quantile",
          quantile_level,
          "a number above 0 and below 1");
  std::ranges::sort(points, {}, &ScalingPoint::x);
  validate(points, options.shared_seeds);
  ExponentFit fit;
  std::vector<ScalingPoint> used;
  std::vector<double> x;
  std::vector<double> y;
  for (const ScalingPoint& p : points) {
    const ScalingMedian& m = fit.medians.emplace_back(summarise(p, quantile_level));
    if (!m.used) continue;
    used.push_back(p);
    x.push_back(m.x);
    y.push_back(m.median);
  }
  if (used.size() < kFewestFitted) {
    fit.weakness = fmt::format("fewer than {} sizes reach the target often enough", kFewestFitted);
    return fit;
  }
  fit.fitted = true;
  fit.weakness = weakness(points, quantile_level);
  const std::span<const double> xs(x);
  const std::span<const double> ys(y);
  const Line line = log_log_line(xs, ys);
  fit.slope = line.slope;
  fit.intercept = line.intercept;
  fit.without_first = log_log_line(xs.subspan(1), ys.subspan(1)).slope;
  fit.without_last = log_log_line(xs.first(x.size() - 1), ys.first(y.size() - 1)).slope;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    fit.local_slopes.push_back(log_log_line(xs.subspan(i, 2), ys.subspan(i, 2)).slope);
  }

  // A stream for each (resample, size), or for each resample if all sizes share their seeds. The
  // resampling asks for the seeds of a size in order.
  std::optional<RandomStream> stream;
  auto choose = [&](std::size_t b, std::size_t k, std::size_t s) -> std::size_t {
    if (s == 0) {
      stream.emplace(StreamAddress{.seed = options.seed,
                                   .id = StreamId::bootstrap,
                                   .point = options.shared_seeds ? 0 : k,
                                   .replicate = b});
    }
    return stream->below(used[k].samples.size());
  };
  const std::vector<Line> lines = bootstrap_lines(used, kResamples, choose, quantile_level);
  const std::vector<double> slopes = sorted_slopes(lines);
  const std::vector<double> intercepts = sorted_intercepts(lines);
  fit.interval95 = {quantile(slopes, kLevel95), quantile(slopes, 1 - kLevel95)};
  fit.interval90 = {quantile(slopes, kLevel90), quantile(slopes, 1 - kLevel90)};
  fit.prefactor = std::exp(fit.intercept);
  fit.prefactor95 = {std::exp(quantile(intercepts, kLevel95)),
                     std::exp(quantile(intercepts, 1 - kLevel95))};
  // Few replicates resampled give too little, one gives nothing.
  const auto fewest =
      std::ranges::min_element(used, {}, [](const ScalingPoint& p) { return p.samples.size(); });
  if (fewest->samples.size() < fewest_seeds(quantile_level)) {
    ExponentFit scattered = fit;
    use_scatter(xs, ys, scattered);
    if (fewest->samples.size() == 1 || scattered.interval95.width() > fit.interval95.width())
      fit = scattered;
  }
  fit.window_dependent =
      !fit.interval95.contains(fit.without_first) || !fit.interval95.contains(fit.without_last);
  return fit;
}

std::string_view describe(ExponentVerdict verdict) {
  switch (verdict) {
    case ExponentVerdict::agrees:
      return "agrees";
    case ExponentVerdict::within_bound:
      return "within bound";
    case ExponentVerdict::vacuous:
      return "holds but vacuous";
    case ExponentVerdict::violated:
      return "violated";
    case ExponentVerdict::undecided:
      return "undecided";
  }
  return "";
}

ExponentVerdict judge_prediction(const Interval& interval90,
                                 const Interval& interval95,
                                 std::span<const double> windows,
                                 double predicted,
                                 double tolerance) {
  const Interval accepted{predicted - tolerance, predicted + tolerance};
  const auto all = [&](const auto& side) { return std::ranges::all_of(windows, side); };
  if (accepted.contains(interval90) && all([&](double w) { return accepted.contains(w); }))
    return ExponentVerdict::agrees;
  const bool missed =
      (interval95.high < accepted.low && all([&](double w) { return w < accepted.low; })) ||
      (interval95.low > accepted.high && all([&](double w) { return w > accepted.high; }));
  return missed ? ExponentVerdict::violated : ExponentVerdict::undecided;
}

ExponentVerdict judge_predicted_exponent(const ExponentFit& fit,
                                         double predicted,
                                         double tolerance) {
  if (!carries_verdict(fit)) return ExponentVerdict::undecided;
  return judge_prediction(fit.interval90, fit.interval95, windows_of(fit), predicted, tolerance);
}

ExponentVerdict judge_bounded(const Interval& interval95,
                              const Interval& violation,
                              std::span<const double> windows,
                              double exponent,
                              double tolerance) {
  const double most = exponent + tolerance;
  const auto all = [&](const auto& side) { return std::ranges::all_of(windows, side); };
  if (violation.low > most && all([&](double w) { return w > most; }))
    return ExponentVerdict::violated;
  if (interval95.high > most || !all([&](double w) { return w <= most; }))
    return ExponentVerdict::undecided;
  const double far = exponent - kVacuousExponent;
  return interval95.high <= far && all([&](double w) { return w <= far; })
             ? ExponentVerdict::vacuous
             : ExponentVerdict::within_bound;
}

ExponentFit fit_at_caps(std::vector<ScalingPoint> points, double quantile_level) {
  std::ranges::sort(points, {}, &ScalingPoint::x);
  const auto count = [](const ScalingPoint& p) {
    return static_cast<std::size_t>(std::ranges::count_if(p.samples, censored));
  };
  bool any = false;
  bool above = points.size() > kFewestFitted;
  // A larger value raises the slope where it stands above the mean of ln x, of all sizes and of all
  // but the first.
  double mean = 0;
  for (std::size_t k = 1; k < points.size(); ++k)
    mean += std::log(points[k].x) / static_cast<double>(points.size() - 1);
  for (ScalingPoint& p : points) {
    if (reached_often_enough(count(p), p.samples.size(), quantile_level)) continue;
    any = true;
    above = above && std::log(p.x) > mean;
    std::ranges::replace_if(p.samples, censored, p.cap);
  }
  if (!any || !above) return {};
  return fit_exponent_of_quantile(std::move(points), quantile_level);
}

ExponentVerdict judge_upper_bound_of_quantile(const ExponentFit& fit,
                                              std::span<const ScalingPoint> points,
                                              double quantile_level,
                                              double exponent,
                                              double tolerance) {
  const ExponentFit least = fit_at_caps({points.begin(), points.end()}, quantile_level);
  if (least.fitted && least.weakness.empty() &&
      judge_bounded(least.interval95, least.interval95, windows_of(least), exponent, tolerance) ==
          ExponentVerdict::violated)
    return ExponentVerdict::violated;
  std::vector<double> windows = windows_of(fit);
  if (!windows.empty() && levels_off(fit)) {
    // A power law of negative exponent ends in a floor, where it keeps no such bound; one that
    // grows less and less keeps the bound that all windows keep.
    if (fit.local_slopes.back() < 0) return ExponentVerdict::undecided;
    windows.push_back(fit.local_slopes.back());
  }
  if (!fit.fitted || !fit.weakness.empty()) return ExponentVerdict::undecided;
  return judge_bounded(fit.interval95, fit.interval95, windows, exponent, tolerance);
}

ExponentVerdict judge_upper_bound(const ExponentFit& fit,
                                  std::span<const ScalingPoint> points,
                                  double exponent,
                                  const std::function<double(double)>& bound,
                                  double tolerance) {
  if (bound) {
    const double level = 2 * kLevel95 / static_cast<double>(points.size());
    for (const ScalingPoint& p : points) {
      const auto k = median_limit_rank(p.samples.size(), level);
      if (k && order_limit(p, *k - 1) > bound(p.x)) return ExponentVerdict::violated;
    }
  }
  const ExponentVerdict verdict =
      judge_upper_bound_of_quantile(fit, points, kMedianQuantile, exponent, tolerance);
  if (verdict != ExponentVerdict::within_bound) return verdict;
  const bool far_above = bound && std::ranges::all_of(fit.medians, [&](const ScalingMedian& m) {
                           return bound(m.x) >= kVacuousFactor * m.median;
                         });
  return far_above ? ExponentVerdict::vacuous : ExponentVerdict::within_bound;
}

}  // namespace attica
