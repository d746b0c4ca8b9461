#include "attica/solvers/statistics/replicates.hpp"

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/solvers/statistics/distributions.hpp"

namespace attica {
namespace {

// Constants of the guard; see the header and docs/statistics.md.
constexpr double kGuardReach = 4;
constexpr double kSmallSampleReach = 100;  // kappa_n = 100/n for n <= 25
constexpr std::size_t kSkewnessKnown = 30;
constexpr double kFullGuardSkewness = 0.7;
constexpr std::size_t kFewestPooledReplicates = 20;
constexpr std::size_t kFewestPooledPoints = 4;
constexpr std::size_t kManyPooledReplicates = 40;
constexpr double kLeastPooledWeight = 0.03;  // with few replicates

double squared(double x) { return x * x; }

/// Variance of the skewness of n normal replicates.
double skewness_variance(std::size_t count) {
  const auto n = static_cast<double>(count);
  return 6 * n * (n - 1) / ((n - 2) * (n + 1) * (n + 3));
}

/// (1 - alpha^(1/n)) kappa_n
double guard_factor(std::size_t n, double alpha) {
  const auto count = static_cast<double>(n);
  const double beyond_largest = -std::expm1(std::log(alpha) / count);
  return beyond_largest * std::max(kGuardReach, kSmallSampleReach / count);
}

/// A difference of means is larger than it seems if the other mean is smaller.
double guard_of_other(const SampleSummary& sample, Side side, Tails tails) {
  if (!sample.other || tails == Tails::normal) return 0;
  return side == Side::upper ? sample.other->guard.lower : sample.other->guard.upper;
}

/// Standard errors by which a point stands out from its series.
double outstanding(std::size_t n) { return n < 25 ? 1.5 : n < kManyPooledReplicates ? 2 : 2.5; }

}  // namespace

bool SampleSummary::identical() const {
  return sd <= 8 * std::numeric_limits<double>::epsilon() * std::max(std::abs(min), std::abs(max));
}

double SampleSummary::standard_error() const { return other ? std::hypot(sem, other->sem) : sem; }

double SampleSummary::degrees_of_freedom() const {
  const auto own = static_cast<double>(n - 1);
  if (!other) return own;
  const double a = squared(sem);
  const double b = squared(other->sem);
  return squared(a + b) / (squared(a) / own + squared(b) / static_cast<double>(other->n - 1));
}

std::vector<double> differences(std::span<const double> first, std::span<const double> second) {
  std::vector<double> all;
  for (std::size_t r = 0; r < first.size() && r < second.size(); ++r) {
    all.push_back(first[r] - second[r]);
  }
  return all;
}

SampleSummary summarise(std::span<const double> replicates) {
  SampleSummary s;
  auto usable = [](double y) { return std::abs(y) <= kLargestValue; };  // false for NaN
  auto moment = [&](auto term) {
    double sum = 0;
    for (double y : replicates) {
      if (usable(y)) sum += term(y);
    }
    return sum / static_cast<double>(s.n);
  };
  s.n = static_cast<std::size_t>(std::ranges::count_if(replicates, usable));
  s.failed = replicates.size() - s.n;
  if (s.n == 0) return s;

  const double origin = *std::ranges::find_if(replicates, usable);
  s.min = s.max = origin;
  for (double y : replicates) {
    if (!usable(y)) continue;
    s.min = std::min(s.min, y);
    s.max = std::max(s.max, y);
  }
  // Centred on one of the values, so that identical replicates have exactly their value as mean and
  // sd 0.
  s.mean = origin + moment([&](double y) { return y - origin; });
  const double reach = std::max(s.max - s.mean, s.mean - s.min);
  if (s.n == 1 || reach <= 0) return s;

  // In units of the reach, so that no power under- or overflows.
  auto scaled = [&](double y) { return (y - s.mean) / reach; };
  const double m2 = moment([&](double y) { return scaled(y) * scaled(y); });
  const double m3 = moment([&](double y) { return scaled(y) * scaled(y) * scaled(y); });
  const auto n = static_cast<double>(s.n);
  s.sd = reach * std::sqrt(m2 * n / (n - 1));
  s.sem = s.sd / std::sqrt(n);
  s.skewness = m3 / (m2 * std::sqrt(m2));
  return s;
}

void pool_skewness(std::span<SampleSummary* const> series) {
  // Where no point has enough replicates yet, what they share is known for plans alone.
  const bool any = std::ranges::any_of(
      series, [](const SampleSummary* s) { return s->n >= kFewestPooledReplicates; });
  const std::size_t fewest = any ? kFewestPooledReplicates : kFewestReplicates;
  std::vector<SampleSummary*> points;
  for (SampleSummary* s : series) {
    if (s->n >= fewest && !s->identical()) points.push_back(s);
  }
  if (points.size() < kFewestPooledPoints) return;
  double mean = 0;
  double weights = 0;
  for (const SampleSummary* s : points) {
    mean += static_cast<double>(s->n) * s->skewness;
    weights += static_cast<double>(s->n);
  }
  mean /= weights;
  double spread = 0;  // in units of what chance gives
  for (const SampleSummary* s : points)
    spread += squared(s->skewness - mean) / skewness_variance(s->n);
  const auto explained = static_cast<double>(points.size() - 3);
  const double own = spread > explained ? 1 - explained / spread : 0;
  for (SampleSummary* s : points) {
    const double shrunk = mean + own * (s->skewness - mean);
    const double away = outstanding(s->n) * std::sqrt(skewness_variance(s->n));
    // The series' own, unless so many replicates exclude it for this point.
    TailSkewness tail{.upper = std::max(std::min(mean, s->skewness + away), shrunk),
                      .lower = std::max(std::min(-mean, -s->skewness + away), -shrunk)};
    if (s->skewness > mean + away) tail.upper = std::max(tail.upper, s->skewness);
    if (s->skewness < mean - away) tail.lower = std::max(tail.lower, -s->skewness);
    s->pooled = tail;
  }
}

GuardScale guard_scale(const SampleSummary& sample, Tails tails, std::size_t n) {
  if (tails == Tails::normal) return {};
  const bool pooled = sample.pooled && n >= kFewestPooledReplicates;
  const double least = pooled && n < kManyPooledReplicates ? kLeastPooledWeight : 0;
  const auto weight = [&](double skewness) {
    if (!pooled && n < kSkewnessKnown) return 1.0;
    return std::min(1.0, least + squared(std::max(skewness, 0.0) / kFullGuardSkewness));
  };
  const TailSkewness tail =
      pooled ? *sample.pooled : TailSkewness{.upper = sample.skewness, .lower = -sample.skewness};
  return {.upper = weight(tail.upper) * (sample.max - sample.mean),
          .lower = weight(tail.lower) * (sample.mean - sample.min)};
}

CriticalValue critical_value(std::size_t n, double alpha) {
  const auto count = static_cast<double>(n);
  require(n >= 2, "replicates", count, "at least 2 for an interval");
  return {.t = student_quantile(alpha, count - 1), .guard = guard_factor(n, alpha)};
}

CriticalValue critical_value(const SampleSummary& sample, double alpha) {
  if (!sample.other) return critical_value(sample.n, alpha);
  return {.t = student_quantile(alpha, sample.degrees_of_freedom()),
          .guard = guard_factor(sample.n, alpha),
          .other_guard = guard_factor(sample.other->n, alpha)};
}

double half_width(const SampleSummary& sample,
                  Side side,
                  const CriticalValue& critical,
                  Tails tails) {
  const GuardScale scale = guard_scale(sample, tails, sample.n);
  return critical.t * sample.standard_error() +
         critical.guard * (side == Side::upper ? scale.upper : scale.lower) +
         critical.other_guard * guard_of_other(sample, side, tails);
}

double half_width(const SampleSummary& sample, Side side, double alpha, Tails tails) {
  return half_width(sample, side, critical_value(sample, alpha), tails);
}

Interval mean_interval(const SampleSummary& sample, double alpha, Tails tails) {
  return mean_interval(sample, critical_value(sample, alpha), tails);
}

Interval mean_interval(const SampleSummary& sample, const CriticalValue& critical, Tails tails) {
  return {sample.mean - half_width(sample, Side::lower, critical, tails),
          sample.mean + half_width(sample, Side::upper, critical, tails)};
}

double p_value(const SampleSummary& sample, Side side, double gap, Tails tails) {
  if (gap <= 0) return 1;
  const GuardScale scale = guard_scale(sample, tails, sample.n);
  if ((side == Side::upper ? scale.upper : scale.lower) == 0 &&
      guard_of_other(sample, side, tails) == 0) {
    const double p = student_tail(gap / sample.standard_error(), sample.degrees_of_freedom());
    return std::max(p, kSmallestPValue);
  }
  // h falls as alpha grows: where it crosses the gap, on ln alpha.
  auto beyond = [&](double log_alpha) {
    return gap - half_width(sample, side, std::exp(log_alpha), tails);
  };
  const double low = std::log(kSmallestPValue);
  const double high = std::log(0.5);
  const double at_low = beyond(low);
  const double at_high = beyond(high);
  if (at_high <= 0) return 1;
  if (at_low > 0) return kSmallestPValue;
  std::uintmax_t iterations = 100;
  const auto crossing = boost::math::tools::toms748_solve(
      beyond, low, high, at_low, at_high, boost::math::tools::eps_tolerance<double>(), iterations);
  return std::exp(crossing.second);
}

double agree_p_value(const SampleSummary& sample, double difference, double margin, Tails tails) {
  return std::max(p_value(sample, Side::upper, margin - difference, tails),
                  p_value(sample, Side::lower, margin + difference, tails));
}

double disagree_p_value(const SampleSummary& sample,
                        double difference,
                        double margin,
                        Tails tails) {
  const double below = p_value(sample, Side::upper, -margin - difference, tails);
  const double above = p_value(sample, Side::lower, difference - margin, tails);
  return std::min(1.0, 2 * std::min(below, above));
}

}  // namespace attica
