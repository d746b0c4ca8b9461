#include "attica/app/verdict/exponents.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "attica/app/configuration/configuration_file.hpp"
#include "attica/app/verdict/judge_run.hpp"
#include "attica/sources/bounds.hpp"
#include "attica/sources/keys.hpp"
#include "attica/sources/study.hpp"

namespace attica::app {
namespace {

constexpr std::string_view kReciprocal = "1/";
constexpr std::string_view kLogarithm = "log(";

bool is_logarithm(const std::string& size) {
  return size.starts_with(kLogarithm) && size.ends_with(')');
}

std::string within_logarithm(const std::string& size) {
  return is_logarithm(size) ? size.substr(kLogarithm.size(), size.size() - kLogarithm.size() - 1)
                            : size;
}

std::string coordinate_of(const std::string& size) { return size_coordinate(size); }

/// Takes a size out of the coordinates; empty if it is not there, or no number.
std::optional<double> take(Point& point, const std::string& size) {
  const std::string name = coordinate_of(size);
  const auto at =
      std::find_if(point.begin(), point.end(), [&](const auto& c) { return c.first == name; });
  if (at == point.end() || !std::holds_alternative<double>(at->second)) return std::nullopt;
  double value = std::get<double>(at->second);
  point.erase(at);
  if (within_logarithm(size).starts_with(kReciprocal)) value = 1 / value;
  return is_logarithm(size) ? std::log(value) : value;
}

bool has_all(const Point& point, const Point& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& pair) {
    return std::find(point.begin(), point.end(), pair) != point.end();
  });
}

bool is_swept_name(const CheckedConfiguration& c, const std::string& name) {
  return std::any_of(
      c.swept.begin(), c.swept.end(), [&](const SweptScalar& s) { return s.name == name; });
}

/// A scalar that could be swept, and is not.
bool is_fixed_scalar(const CheckedConfiguration& c, const std::string& name) {
  return !is_swept_name(c, name) &&
         (c.values.declares("model." + name) || c.values.declares("sim." + name));
}

/// One claim in a swept scalar, at every place that the other coordinates make.
void judge_swept(const ExponentClaim& claim,
                 std::span<const ObservedCurve> curves,
                 std::uint64_t seed,
                 std::vector<ExponentResult>& results) {
  const std::string& listed = claim.cap_series.empty() ? claim.series : claim.cap_series;
  std::vector<ObservedCurve> arranged = against(curves, listed, claim.x_name);
  std::vector<Point> places;
  for (const ObservedCurve& curve : arranged) {
    if (has_all(curve.mean.point, claim.only)) places.push_back(curve.mean.point);
  }
  if (listed != claim.series &&
      std::any_of(curves.begin(), curves.end(), [&](const ObservedCurve& c) {
        return c.mean.name == claim.series;
      })) {
    for (ObservedCurve& curve : against(curves, claim.series, claim.x_name))
      arranged.push_back(std::move(curve));
  }
  for (const Point& place : places) {
    ExponentClaim one = claim;
    one.only = place;
    one.name += " (" + describe(place) + ")";
    results.push_back(judge_exponent(one, arranged, seed));
  }
}

/// The exponents in the x of the curves, problem by problem.
std::vector<std::pair<Point, ExponentResult>> judge_problems(const CheckedConfiguration& c,
                                                             const Replicates& replicates,
                                                             std::uint64_t seed) {
  std::vector<std::pair<Point, ExponentResult>> results;
  each_problem(c,
               {.theory = {}, .simulation = replicates.curves()},
               [&](const Configuration& values, const Point& front, const Observed& observed) {
                 for (const ExponentClaim& claim : c.study->exponents(values)) {
                   const std::string name = coordinate_of(claim.x_name);
                   const bool against_x = std::any_of(
                       observed.simulation.begin(),
                       observed.simulation.end(),
                       [&](const ObservedCurve& o) { return o.mean.x_name == claim.x_name; });
                   if (!against_x && (is_swept_name(c, name) || is_fixed_scalar(c, name))) continue;
                   results.emplace_back(front, judge_exponent(claim, observed.simulation, seed));
                 }
               });
  return results;
}

RecordedCurve line(std::string series, Point point, std::string x_name) {
  RecordedCurve curve;
  curve.theory = true;
  curve.mean = {std::move(series), std::move(point), std::move(x_name), {}, {}};
  return curve;
}

/// "bound NAME" with its values, "bound NAME quantile" with what it bounds, and "bound NAME
/// limits", a line around the 90 % limits of that.
void add_bound(const sources::BoundResult& b,
               const Point& front,
               std::vector<RecordedCurve>& curves) {
  struct Drawn {
    RecordedCurve bound;
    RecordedCurve quantile;
    std::vector<std::pair<double, Interval>> limits;
  };
  std::map<std::string, std::size_t> index;
  std::vector<Drawn> all;
  for (const sources::BoundPoint& p : b.points) {
    const auto [at, fresh] = index.try_emplace(describe(p.point) + '\x1f' + p.x_name, all.size());
    if (fresh) {
      const Point point = joined(front, p.point);
      all.push_back({.bound = line("bound " + b.name, point, p.x_name),
                     .quantile = line("bound " + b.name + " quantile", point, p.x_name),
                     .limits = {}});
      all.back().quantile.theory = false;
    }
    Drawn& d = all[at->second];
    d.bound.mean.x.push_back(p.x);
    d.bound.mean.y.push_back(p.bound);
    if (!std::isfinite(p.quantile) || p.n == 0) continue;
    d.quantile.mean.x.push_back(p.x);
    d.quantile.mean.y.push_back(p.quantile);
    if (!p.slack_interval) continue;
    const Interval& slack = *p.slack_interval;
    d.limits.emplace_back(p.x,
                          b.upper ? Interval{p.bound / slack.high, p.bound / slack.low}
                                  : Interval{p.bound * slack.low, p.bound * slack.high});
  }
  for (Drawn& d : all) {
    RecordedCurve around =
        line("bound " + b.name + " limits", d.bound.mean.point, d.bound.mean.x_name);
    const auto add = [&](double x, double y) {
      around.mean.x.push_back(x);
      around.mean.y.push_back(y);
    };
    for (const auto& [x, i] : d.limits) add(x, i.low);
    for (auto at = d.limits.rbegin(); at != d.limits.rend(); ++at) add(at->first, at->second.high);
    if (!d.limits.empty()) {
      add(d.limits.front().first, d.limits.front().second.low);
      curves.push_back(std::move(around));
    }
    if (!d.quantile.mean.x.empty()) {
      d.quantile.sem.assign(d.quantile.mean.x.size(), 0);
      d.quantile.sd = d.quantile.sem;
      d.quantile.n.assign(d.quantile.mean.x.size(), 1);
      curves.push_back(std::move(d.quantile));
    }
    curves.push_back(std::move(d.bound));
  }
}

void add_bounds(const CheckedConfiguration& c,
                const Replicates& replicates,
                std::vector<RecordedCurve>& curves) {
  if (sources::names_in(c.values, "bound").empty()) return;
  each_problem(c,
               {.theory = {}, .simulation = replicates.curves()},
               [&](const Configuration& values, const Point& front, const Observed& observed) {
                 for (const sources::BoundResult& b : sources::judge_bounds(values, observed))
                   add_bound(b, front, curves);
               });
}

}  // namespace

std::string size_coordinate(const std::string& size) {
  const std::string name = within_logarithm(size);
  return name.starts_with(kReciprocal) ? name.substr(kReciprocal.size()) : name;
}

std::vector<SizedSeries> by_sizes(std::span<const ObservedCurve> curves,
                                  const std::string& series,
                                  const std::vector<std::string>& sizes) {
  std::vector<SizedSeries> all;
  std::vector<std::string> names;        // of the series
  std::vector<std::string> coordinates;  // of this one
  std::string missing;
  const auto list = [](std::vector<std::string>& known, const std::string& name) {
    if (std::find(known.begin(), known.end(), name) == known.end()) known.push_back(name);
  };
  for (const ObservedCurve& curve : curves) {
    list(names, curve.mean.name);
    if (curve.mean.name != series) continue;
    if (curve.mean.x_name != "none") list(coordinates, curve.mean.x_name);
    for (const auto& [name, value] : curve.mean.point) {
      if (std::holds_alternative<double>(value)) list(coordinates, name);
    }
    for (std::size_t k = 0; k < curve.mean.x.size(); ++k) {
      Point rest = curve.mean.point;
      if (curve.mean.x_name != "none") rest.emplace_back(curve.mean.x_name, curve.mean.x[k]);
      SizedValues cell{.sizes = {}, .values = curve.values[k], .replicates = curve.replicates[k]};
      for (const std::string& size : sizes) {
        const std::optional<double> value = take(rest, size);
        if (value) {
          cell.sizes.push_back(*value);
        } else {
          missing = size;
        }
      }
      if (cell.sizes.size() != sizes.size()) continue;
      auto same = std::find_if(
          all.begin(), all.end(), [&](const SizedSeries& s) { return s.rest == rest; });
      if (same == all.end()) same = all.insert(all.end(), {.rest = rest, .cells = {}});
      same->cells.push_back(std::move(cell));
    }
  }
  if (all.empty()) {
    const auto hint = [](const std::string& word, const std::vector<std::string>& known) {
      if (known.empty()) return std::string("there is none");
      const std::string near = nearest(word, known);
      return near.empty() ? fmt::format("expected one of {}", fmt::join(known, ", "))
                          : fmt::format("did you mean '{}'?", near);
    };
    if (missing.empty())
      throw Error(ErrorKind::input,
                  fmt::format("no series '{}'; {}", series, hint(series, names)),
                  "--series");
    throw Error(ErrorKind::input,
                fmt::format("series '{}' has no x or coordinate '{}' that is a number; {}",
                            series,
                            missing,
                            hint(missing, coordinates)),
                "--x");
  }
  return all;
}

std::vector<ObservedCurve> against(std::span<const ObservedCurve> curves,
                                   const std::string& series,
                                   const std::string& size) {
  std::vector<ObservedCurve> all;
  for (SizedSeries& one : by_sizes(curves, series, {size})) {
    ObservedCurve curve{
        .mean = {series, std::move(one.rest), size, {}, {}}, .values = {}, .replicates = {}};
    for (SizedValues& cell : one.cells) {
      double mean = 0;
      for (const double y : cell.values) mean += y / static_cast<double>(cell.values.size());
      curve.mean.x.push_back(cell.sizes.front());
      curve.mean.y.push_back(mean);
      curve.values.push_back(std::move(cell.values));
      curve.replicates.push_back(std::move(cell.replicates));
    }
    all.push_back(std::move(curve));
  }
  return all;
}

std::vector<ExponentResult> declared_exponents(const CheckedConfiguration& configuration,
                                               const Replicates& replicates,
                                               std::uint64_t seed) {
  std::vector<ExponentResult> results;
  for (auto& [front, result] : judge_problems(configuration, replicates, seed)) {
    if (!front.empty()) result.claim.name += " (" + describe(front) + ")";
    results.push_back(std::move(result));
  }
  for (ExponentResult& result : swept_exponents(configuration, replicates.curves(), seed))
    results.push_back(std::move(result));
  return results;
}

std::vector<ExponentResult> swept_exponents(const CheckedConfiguration& configuration,
                                            std::span<const ObservedCurve> curves,
                                            std::uint64_t seed) {
  std::vector<ExponentResult> results;
  if (configuration.study->exponents == nullptr || configuration.swept.empty()) return results;
  Configuration values = configuration.values;
  const std::vector<Table> problems = combinations(configuration.swept);
  for (const auto& [key, value] : problems.front()) values.set(key, value, true);
  for (const ExponentClaim& claim : configuration.study->exponents(values)) {
    if (!is_swept_name(configuration, coordinate_of(claim.x_name))) continue;
    const std::string& listed = claim.cap_series.empty() ? claim.series : claim.cap_series;
    if (std::any_of(curves.begin(), curves.end(), [&](const ObservedCurve& c) {
          return c.mean.name == listed && !c.mean.x.empty();
        }))
      judge_swept(claim, curves, seed, results);
  }
  return results;
}

std::vector<RecordedCurve> exponent_curves(const CheckedConfiguration& configuration,
                                           const Replicates& replicates,
                                           std::uint64_t seed) {
  std::vector<RecordedCurve> curves;
  try {
    if (configuration.study->exponents != nullptr) {
      for (const auto& [front, result] : judge_problems(configuration, replicates, seed)) {
        const ExponentFit& fit = result.fit;
        if (!fit.fitted) continue;
        const Point point = joined(front, result.claim.only);
        RecordedCurve fitted = line(result.claim.series + "_fit", point, result.claim.x_name);
        RecordedCurve bound = line(result.claim.series + "_bound", point, result.claim.x_name);
        for (const ScalingMedian& m : fit.medians) {
          if (!m.used) continue;
          fitted.mean.x.push_back(m.x);
          fitted.mean.y.push_back(std::exp(fit.intercept + fit.slope * std::log(m.x)));
          bound.mean.x.push_back(m.x);
          bound.mean.y.push_back(
              fitted.mean.y.front() *
              std::pow(m.x / fitted.mean.x.front(), result.claim.exponent + kExponentTolerance));
        }
        curves.push_back(std::move(fitted));
        if (result.claim.upper_bound) curves.push_back(std::move(bound));
      }
    }
    add_bounds(configuration, replicates, curves);
  } catch (const Error&) {
    // A figure of what there is: `fit` and `bound` say what is missing.
  }
  return curves;
}

}  // namespace attica::app
