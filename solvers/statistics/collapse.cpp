#include "attica/solvers/statistics/collapse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "attica/core/error.hpp"
#include "attica/core/random.hpp"
#include "attica/solvers/minimise.hpp"
#include "attica/solvers/statistics/order_statistics.hpp"
#include "attica/solvers/statistics/replicates.hpp"
#include "attica/solvers/statistics/weighted_means.hpp"

namespace attica {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kFewestCurves = 3;

/// Means and standard errors of one size, by rising x.
struct Summary {
  double size = 0;
  std::vector<double> x;
  std::vector<double> mean;
  std::vector<double> error;
};

void validate(const std::vector<CollapseCurve>& curves) {
  require(curves.size() >= 2, "sizes", static_cast<double>(curves.size()), "two or more");
  std::vector<double> sizes;
  for (const CollapseCurve& curve : curves) {
    require(std::isfinite(curve.size) && curve.size > 0, "size", curve.size, "a number > 0");
    sizes.push_back(curve.size);
    require(curve.x.size() == curve.values.size() && curve.x.size() >= 2,
            "points",
            static_cast<double>(curve.x.size()),
            "two or more at every size");
    std::vector<double> x = curve.x;
    std::ranges::sort(x);
    const auto twice = std::ranges::adjacent_find(x);
    require(twice == x.end(), "x", twice == x.end() ? 0 : *twice, "every x once at a size");
    for (std::size_t k = 0; k < curve.x.size(); ++k) {
      const std::vector<double>& values = curve.values[k];
      require(std::isfinite(curve.x[k]), "x", curve.x[k], "a finite number");
      require(values.size() >= 2,
              "replicates",
              static_cast<double>(values.size()),
              fmt::format("two or more at x = {}, size {}", curve.x[k], curve.size));
      for (const double y : values) require(std::isfinite(y), "value", y, "a finite number");
      require(std::ranges::any_of(values, [&](double y) { return y != values.front(); }),
              "values",
              values.front(),
              fmt::format("replicates that differ at x = {}, size {}", curve.x[k], curve.size));
      require(!curve.shared_replicates || values.size() == curve.values.front().size(),
              "replicates",
              static_cast<double>(values.size()),
              "as many at every x where they are shared");
    }
  }
  std::ranges::sort(sizes);
  const auto twice = std::ranges::adjacent_find(sizes);
  require(twice == sizes.end(), "size", twice == sizes.end() ? 0 : *twice, "every size once");
  double largest = 0;
  for (const CollapseCurve& curve : curves) {
    for (const std::vector<double>& values : curve.values) {
      for (const double y : values) largest = std::max(largest, std::abs(y));
    }
  }
  if (const std::string why = other_unit(largest); !why.empty())
    throw Error(ErrorKind::input, "collapse: " + why);
}

/// @param choose which value stands in for value r at x[k] of curve c; empty: itself
std::vector<Summary> summarise(
    const std::vector<CollapseCurve>& curves,
    const std::function<std::size_t(std::size_t c, std::size_t k, std::size_t r)>& choose) {
  std::vector<Summary> all;
  for (std::size_t c = 0; c < curves.size(); ++c) {
    const CollapseCurve& curve = curves[c];
    std::vector<std::size_t> order(curve.x.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::ranges::sort(order, {}, [&](std::size_t k) { return curve.x[k]; });
    Summary s{.size = curve.size, .x = {}, .mean = {}, .error = {}};
    for (const std::size_t k : order) {
      const std::vector<double>& values = curve.values[k];
      const auto n = static_cast<double>(values.size());
      std::vector<double> drawn = values;
      if (choose) {
        for (std::size_t r = 0; r < drawn.size(); ++r) drawn[r] = values[choose(c, k, r)];
      }
      double mean = 0;
      for (const double y : drawn) mean += y / n;
      // The weights stay those of the data: a resample of few values may have no spread at all.
      double centre = 0;
      for (const double y : values) centre += y / n;
      double squares = 0;
      for (const double y : values) squares += (y - centre) * (y - centre);
      s.x.push_back(curve.x[k]);
      s.mean.push_back(mean);
      s.error.push_back(std::sqrt(squares / (n * (n - 1))));
    }
    all.push_back(std::move(s));
  }
  return all;
}

/// The weighted straight line through points, at x: value and variance. Empty if they have one x.
struct LineAt {
  double value = 0;
  double variance = 0;
};
struct LineSums {
  double k = 0;
  double kx = 0;
  double ky = 0;
  double kxx = 0;
  double kxy = 0;

  void add(double x, double y, double error) {
    const double w = 1 / (error * error);
    k += w;
    kx += w * x;
    ky += w * y;
    kxx += w * x * x;
    kxy += w * x * y;
  }
  /// At x = 0, the points being shifted there.
  std::optional<LineAt> at_zero() const {
    const double determinant = k * kxx - kx * kx;
    constexpr double kRounding = 1e-12;
    if (!(determinant > kRounding * k * kxx)) return std::nullopt;
    return LineAt{(kxx * ky - kx * kxy) / determinant, kxx / determinant};
  }
};

CollapseQuality quality_of(const std::vector<Summary>& curves,
                           const CollapseForm& form,
                           bool keep_points) {
  CollapseQuality quality;
  std::vector<Summary> scaled = curves;
  std::size_t points = 0;
  for (Summary& s : scaled) {
    const double stretch = std::pow(s.size, form.a);
    const double height = std::pow(s.size, form.b);
    for (std::size_t k = 0; k < s.x.size(); ++k) {
      s.x[k] = (s.x[k] - form.centre) * stretch;
      s.mean[k] *= height;
      s.error[k] *= height;
    }
    points += s.x.size();
  }
  double sum = 0;
  for (std::size_t i = 0; i < scaled.size(); ++i) {
    for (std::size_t j = 0; j < scaled[i].x.size(); ++j) {
      const double x = scaled[i].x[j];
      LineSums line;
      bool bracketed = false;
      for (std::size_t other = 0; other < scaled.size(); ++other) {
        if (other == i) continue;
        const Summary& s = scaled[other];
        const auto above = std::ranges::upper_bound(s.x, x);
        if (above == s.x.begin() || above == s.x.end()) continue;
        const auto k = static_cast<std::size_t>(above - s.x.begin());
        line.add(s.x[k - 1] - x, s.mean[k - 1], s.error[k - 1]);
        line.add(s.x[k] - x, s.mean[k], s.error[k]);
        bracketed = true;
      }
      const std::optional<LineAt> at = bracketed ? line.at_zero() : std::nullopt;
      if (at) {
        const double difference = scaled[i].mean[j] - at->value;
        const double error = scaled[i].error[j];
        sum += difference * difference / (error * error + at->variance);
        ++quality.compared;
      }
      if (keep_points) {
        quality.points.push_back(
            {scaled[i].size, x, scaled[i].mean[j], scaled[i].error[j], at.has_value()});
      }
    }
  }
  // Scaled far enough apart, no two curves meet, and nothing contradicts anything.
  const bool enough = 2 * quality.compared >= points && quality.compared > 0;
  quality.s = enough ? sum / static_cast<double>(quality.compared) : kInfinity;
  if (std::isnan(quality.s)) quality.s = kInfinity;
  return quality;
}

using Vector = std::vector<double>;

}  // namespace

CollapseQuality collapse_quality(const std::vector<CollapseCurve>& curves,
                                 const CollapseForm& form) {
  validate(curves);
  return quality_of(summarise(curves, {}), form, true);
}

CollapseFit fit_collapse(const std::vector<CollapseCurve>& curves, const CollapseOptions& options) {
  validate(curves);
  require(
      options.fit_a || options.fit_b || options.fit_centre, "free", 0, "something to be fitted");
  const std::array<bool, 3> free{options.fit_a, options.fit_b, options.fit_centre};
  const auto form_of = [&](const Vector& x) {
    std::array<double, 3> all{options.start.a, options.start.b, options.start.centre};
    std::size_t next = 0;
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (free[k]) all[k] = x[next++];
    }
    return CollapseForm{all[0], all[1], all[2]};
  };
  Vector start;
  for (std::size_t k = 0; k < free.size(); ++k) {
    if (free[k])
      start.push_back(std::array{options.start.a, options.start.b, options.start.centre}[k]);
  }
  const auto lowest = [&](const std::vector<Summary>& data, Vector from, double step) {
    const auto s = [&](const Vector& x) { return quality_of(data, form_of(x), false).s; };
    // S jumps where a point gets other neighbours: from its end the method starts anew.
    constexpr int kStarts = 4;
    constexpr double kSame = 1e-9;
    constexpr double kAccuracy = 1e-6;
    double value = s(from);
    for (int i = 0; i < kStarts; ++i) {
      Vector next = minimise_simplex(s, from, step, kAccuracy);
      const double lower = s(next);
      const bool done = !(lower < value * (1 - kSame));
      if (lower <= value) {
        from = std::move(next);
        value = lower;
      }
      if (done) break;
    }
    return std::pair(from, value);
  };
  const std::vector<Summary> data = summarise(curves, {});
  CollapseFit fit;
  fit.unscaled = quality_of(data, {}, false).s;
  if (!std::isfinite(quality_of(data, form_of(start), false).s)) {
    throw Error(ErrorKind::input,
                fmt::format("collapse: with a = {}, b = {}, x_c = {} fewer than half of the points "
                            "lie between points of other sizes; expected a start where they do",
                            options.start.a,
                            options.start.b,
                            options.start.centre));
  }
  constexpr double kStep = 0.2;
  const auto [best, value] = lowest(data, start, kStep);
  const CollapseForm form = form_of(best);
  fit.quality = quality_of(data, form, true);

  std::vector<Vector> resampled(free.size());
  for (std::size_t b = 0; b < options.resamples; ++b) {
    std::optional<RandomStream> stream;
    const auto choose = [&](std::size_t c, std::size_t k, std::size_t r) -> std::size_t {
      const CollapseCurve& curve = curves[c];
      // The values of an x are asked for in order; those of one replicate get the same stand-in.
      if (r == 0) {
        stream.emplace(StreamAddress{.seed = options.seed,
                                     .id = StreamId::bootstrap,
                                     .point = c,
                                     .replicate = b,
                                     .step = curve.shared_replicates ? 0 : k});
      }
      return stream->below(curve.values[k].size());
    };
    const auto [end, lower] = lowest(summarise(curves, choose), best, kStep / 4);
    if (!std::isfinite(lower)) continue;
    ++fit.resamples;
    const CollapseForm at = form_of(end);
    resampled[0].push_back(at.a);
    resampled[1].push_back(at.b);
    resampled[2].push_back(at.centre);
  }
  const auto number = [&](std::size_t k, double at) {
    CollapseNumber n{
        .value = at, .free = free[k], .error = 0, .interval95 = {at, at}, .interval90 = {at, at}};
    Vector& values = resampled[k];
    if (!n.free || values.size() < 2) return n;
    std::ranges::sort(values);
    double mean = 0;
    for (const double v : values) mean += v / static_cast<double>(values.size());
    double squares = 0;
    for (const double v : values) squares += (v - mean) * (v - mean);
    n.error = std::sqrt(squares / static_cast<double>(values.size() - 1));
    n.interval95 = {quantile(values, kLevel95), quantile(values, 1 - kLevel95)};
    n.interval90 = {quantile(values, kLevel90), quantile(values, 1 - kLevel90)};
    return n;
  };
  fit.a = number(0, form.a);
  fit.b = number(1, form.b);
  fit.centre = number(2, form.centre);
  std::size_t fewest = curves.front().values.front().size();
  for (const CollapseCurve& curve : curves) {
    for (const auto& values : curve.values) fewest = std::min(fewest, values.size());
  }
  constexpr double kPoor = 4;
  if (curves.size() < kFewestCurves) {
    fit.weakness = fmt::format("fewer than {} sizes", kFewestCurves);
  } else if (fewest < kFewestReplicates) {
    fit.weakness = fmt::format("fewer than {} replicates at some point", kFewestReplicates);
  } else if (10 * fit.resamples < 9 * options.resamples) {
    fit.weakness = "more than a tenth of the resamples came to no minimum";
  } else if (fit.quality.s > kPoor) {
    fit.weakness = fmt::format("no collapse: S = {:.3g}", fit.quality.s);
  }
  return fit;
}

}  // namespace attica
