#include "attica/app/verbs/bound_constant.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>
#include <utility>

#include "attica/solvers/statistics/distributions.hpp"
#include "attica/solvers/statistics/joint_exponents.hpp"
#include "attica/sources/expression.hpp"
#include "attica/sources/keys.hpp"
#include "attica/sources/study.hpp"

namespace attica::app {

Point place_of(const NeededPlace& p) {
  return p.x_name == "none" ? p.point : joined(p.point, {{p.x_name, p.x}});
}

namespace {

/// The bound's value at a place with a value of the constant.
double bound_at(sources::Expression& formula,
                const sources::StatedBound& stated,
                const std::string& constant,
                const Point& place,
                double value) {
  return formula([&](const std::string& name) {
    if (name == constant) return value;
    for (const auto& [n, coordinate] : place) {
      if (n == name) return std::get<double>(coordinate);
    }
    for (const auto& [n, number] : stated.numbers) {
      if (n == name) return number;
    }
    return 1 - stated.probability;  // delta
  });
}

/// The places of the series, each with what its replicates need: y = a + C b gives C = (y - a)/b.
std::vector<NeededPlace> needed_places(const sources::StatedBound& stated,
                                       const std::string& constant,
                                       const std::vector<ObservedCurve>& curves) {
  sources::Expression formula(stated.key + "expression", stated.formula);
  if (std::find(formula.names().begin(), formula.names().end(), constant) ==
      formula.names().end()) {
    throw invalid_parameter(
        "--constant",
        constant,
        fmt::format("a name of the formula: {}", fmt::join(formula.names(), ", ")));
  }
  std::vector<NeededPlace> places;
  for (const ObservedCurve& curve : curves) {
    if (curve.mean.name != stated.series) continue;
    for (std::size_t k = 0; k < curve.mean.x.size(); ++k) {
      NeededPlace p{.point = curve.mean.point, .x_name = curve.mean.x_name, .x = curve.mean.x[k]};
      const Point place = place_of(p);
      sources::require_one_delta(stated, formula, place);
      std::vector<std::string> known{"delta", constant};
      for (const auto& [name, value] : place) {
        if (name == constant)
          throw invalid_parameter("--constant", constant, "a name that is no column of the table");
        if (std::holds_alternative<double>(value)) known.push_back(name);
      }
      for (const auto& [name, value] : stated.numbers) known.push_back(name);
      formula.require_names(known);
      const double at_zero = bound_at(formula, stated, constant, place, 0);
      p.at_one = bound_at(formula, stated, constant, place, 1);
      const double at_two = bound_at(formula, stated, constant, place, 2);
      const double slope = p.at_one - at_zero;
      constexpr double kRounding = 1e-9;
      const double scale = std::abs(at_zero) + std::abs(p.at_one) + std::abs(at_two);
      if (!std::isfinite(scale) || !(slope > 0) ||
          std::abs(at_two - 2 * p.at_one + at_zero) > kRounding * scale) {
        throw invalid_parameter(
            "--expression",
            stated.formula,
            fmt::format(
                "a formula that is linear in {0} and grows with it ({0}*d/eps^2, or 5 + {0}*d); "
                "at {1} it is {2:.5g}, {3:.5g} and {4:.5g} for {0} = 0, 1 and 2",
                constant,
                describe(place),
                at_zero,
                p.at_one,
                at_two));
      }
      // What was watched to some end and did not get there needs more than anybody knows.
      const bool watched = sources::ends_of(stated, curves, curve, k) != nullptr;
      for (const double y : curve.values[k]) {
        if (std::isnan(y) || (watched && std::isinf(y))) {
          ++p.failed;
        } else {
          p.needed.push_back((y - at_zero) / slope);
        }
      }
      p.at_one = slope;
      if (!p.needed.empty()) places.push_back(std::move(p));
    }
  }
  if (places.empty()) {
    throw Error(ErrorKind::input,
                fmt::format("no series '{}' with values; --series names one", stated.series));
  }
  return places;
}

/// The numeric coordinates that vary.
std::vector<std::string> varying_sizes(const std::vector<NeededPlace>& places) {
  std::vector<std::string> names;
  for (const auto& [name, value] : place_of(places.front())) {
    if (!std::holds_alternative<double>(value)) continue;
    std::set<double> values;
    for (const NeededPlace& p : places) {
      for (const auto& [n, v] : place_of(p)) {
        if (n == name && std::holds_alternative<double>(v)) values.insert(std::get<double>(v));
      }
    }
    if (values.size() > 1) names.push_back(name);
  }
  return names;
}

/// The coordinates that are words: places that differ in them are curves of their own.
std::string curve_of(const NeededPlace& p) {
  Point words;
  for (const auto& coordinate : p.point) {
    if (!std::holds_alternative<double>(coordinate.second)) words.push_back(coordinate);
  }
  return describe(words);
}

/// Whether y grows faster than the bound with a size on one curve, in the direction in which the
/// bound grows.
/// @param curves  how many share the level of a violation
void judge_curve(const sources::StatedBound& stated,
                 double tolerance,
                 const std::string& curve,
                 std::size_t curves,
                 ConstantResult& result) {
  std::vector<NeededPlace> places;
  for (const NeededPlace& p : result.places) {
    if (curve_of(p) == curve) places.push_back(p);
  }
  const std::vector<std::string> sizes = varying_sizes(places);
  result.verdict = sources::BoundVerdict::undecided;
  if (sizes.empty()) {
    result.reason = "one combination of sizes: the constant is that of these sizes";
    return;
  }
  std::vector<ScalingCell> measured;
  std::vector<ScalingCell> bounds;
  for (const NeededPlace& p : places) {
    ScalingCell cell;
    for (const std::string& size : sizes) {
      for (const auto& [name, value] : place_of(p)) {
        if (name == size && std::holds_alternative<double>(value))
          cell.x.push_back(std::get<double>(value));
      }
    }
    if (cell.x.size() != sizes.size() ||
        std::any_of(cell.x.begin(), cell.x.end(), [](double x) { return !(x > 0); }) ||
        std::any_of(p.needed.begin(), p.needed.end(), [](double c) { return !(c > 0); })) {
      result.reason = "growth with the sizes needs sizes and constants > 0";
      return;
    }
    ScalingCell bound = cell;
    bound.samples = {p.at_one};
    bounds.push_back(std::move(bound));
    for (const double c : p.needed) {
      cell.samples.push_back(stated.upper ? c : 1 / c);
      if (std::isfinite(cell.samples.back())) cell.cap = std::max(cell.cap, cell.samples.back());
    }
    measured.push_back(std::move(cell));
  }
  double anywhere = 0;
  for (const ScalingCell& cell : measured) anywhere = std::max(anywhere, cell.cap);
  if (anywhere == 0) {
    result.reason = "no replicate came to a finite value";
    return;
  }
  for (ScalingCell& cell : measured) {
    if (cell.cap == 0) cell.cap = anywhere;
    // Of a lower bound 1/infinity is no number of a power law.
    for (double& y : cell.samples) {
      if (y == 0) y = std::numeric_limits<double>::min();
    }
  }
  // The direction of each size: that in which the bound grows, or larger sizes if it does not.
  const JointFit of_bound = fit_joint_exponents(bounds, sizes);
  std::vector<std::string> directed = sizes;
  constexpr double kSteady = 1e-6;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    if (!of_bound.fitted || of_bound.exponents[k].exponent > -kSteady) continue;
    directed[k] = "1/" + sizes[k];
    for (ScalingCell& cell : measured) cell.x[k] = 1 / cell.x[k];
  }
  constexpr double kAlways = 0.95;  // of a bound that is meant always
  const double p = stated.probability < 1 ? stated.probability : kAlways;
  JointFit fit = fit_joint_exponents(measured, directed, {}, 1, p);
  if (!fit.fitted) {
    result.reason = fit.weakness;
    return;
  }
  // The level 5 % is shared by all sizes of all curves.
  const auto of_sizes = kLevel95 / static_cast<double>(sizes.size());
  const double wider =
      normal_quantile(of_sizes / static_cast<double>(curves)) / normal_quantile(of_sizes);
  for (JointExponent& e : fit.exponents)
    e.interval_joint.low = e.exponent - wider * (e.exponent - e.interval_joint.low);
  std::vector<StatedExponent> steady;
  for (std::size_t k = 0; k < directed.size(); ++k) steady.push_back({k, 0});
  const JointBound joint = judge_joint_bound(fit, steady, tolerance);
  for (std::size_t k = 0; k < directed.size(); ++k) {
    // A size in which y falls behind the bound is no vacuous one: the constant says how far.
    const bool kept = joint.each[k] == ExponentVerdict::vacuous;
    result.growth.push_back({.size = directed[k] + (curve.empty() ? "" : " (" + curve + ")"),
                             .exponent = fit.exponents[k].exponent,
                             .interval95 = fit.exponents[k].interval95,
                             .verdict = kept ? ExponentVerdict::within_bound : joint.each[k]});
  }
  result.reason = joint.reason;
  for (std::size_t k = 0; k < directed.size() && result.reason.empty(); ++k) {
    if (joint.each[k] != ExponentVerdict::undecided) continue;
    const JointExponent& e = fit.exponents[k];
    result.reason =
        e.interval95.high > tolerance
            ? fmt::format("{} may grow with {} up to the power {:.3f}; expected at most {}",
                          stated.upper ? stated.series + " over the bound"
                                       : "the bound over " + stated.series,
                          directed[k],
                          e.interval95.high,
                          tolerance)
            : fmt::format(
                  "the growth with {} depends on the window: {:.3f} without the smallest, "
                  "{:.3f} without the largest",
                  directed[k],
                  e.without_smallest,
                  e.without_largest);
  }
  result.verdict = joint.verdict == ExponentVerdict::violated    ? sources::BoundVerdict::violated
                   : joint.verdict == ExponentVerdict::undecided ? sources::BoundVerdict::undecided
                                                                 : sources::BoundVerdict::holds;
}

/// All curves: violated on one, or kept on every one.
void judge_growth(const sources::StatedBound& stated, double tolerance, ConstantResult& result) {
  std::set<std::string> curves;
  for (const NeededPlace& p : result.places) curves.insert(curve_of(p));
  using enum sources::BoundVerdict;
  sources::BoundVerdict all = holds;
  std::string reason;
  for (const std::string& curve : curves) {
    result.reason.clear();
    judge_curve(stated, tolerance, curve, curves.size(), result);
    if (result.verdict == violated) all = violated;
    if (result.verdict == undecided && all == holds) all = undecided;
    if (result.verdict == undecided && reason.empty()) reason = result.reason;
  }
  result.verdict = all;
  result.reason = reason;
}

}  // namespace

ConstantResult judge_constant(const sources::StatedBound& stated,
                              const std::string& constant,
                              double tolerance,
                              const std::vector<ObservedCurve>& curves) {
  ConstantResult result;
  result.places = needed_places(stated, constant, curves);
  std::vector<std::vector<double>> needed;
  std::size_t failed = 0;
  for (const NeededPlace& p : result.places) {
    needed.push_back(p.needed);
    failed += p.failed;
  }
  result.constant = stated.upper ? smallest_constant(needed, stated.probability)
                                 : largest_constant(needed, stated.probability);
  const Interval& limits = result.constant.interval95;
  if (stated.upper ? std::isinf(limits.low) && limits.low > 0
                   : std::isinf(limits.high) && limits.high < 0) {
    result.verdict = sources::BoundVerdict::violated;
    result.reason = "no constant is enough";
    return result;
  }
  judge_growth(stated, tolerance, result);
  if (failed > 0 && result.verdict == sources::BoundVerdict::holds) {
    result.verdict = sources::BoundVerdict::undecided;
    result.reason = fmt::format("{} replicates have no value, and nothing holds of them", failed);
  }
  return result;
}

sources::StatedBound stated_bound(const Options& options,
                                  const Registry& registry,
                                  FitSubject& subject) {
  if (options.match || options.independent)
    throw Error(ErrorKind::input,
                fmt::format("{} changes nothing about a bound of --expression; leave it out",
                            options.match ? "--match" : "--independent"));
  subject.series = options.series;
  sources::StatedBound stated{.name = "stated",
                              .formula = options.expression,
                              .upper = options.direction == "upper",
                              .probability = options.probability.value_or(1),
                              .key = "--"};
  const std::filesystem::path path(options.target);
  if (std::filesystem::is_regular_file(path)) {
    if (path.extension() == ".toml") {
      throw Error(
          ErrorKind::input,
          fmt::format("'{}' is a configuration; --expression states a bound on a table or a "
                      "run, [[bound]] one of a configuration",
                      options.target));
    }
    const std::string x =
        !options.reach.empty() && !options.along.empty() ? options.along : options.x;
    static_cast<void>(read_subject_table(options, x, subject));
  } else {
    const FinishedRun run(options.target, registry, options.accept_edits);
    read_subject_run(options, run, subject);
    stated.numbers = sources::model_numbers(run.configuration.values);
    // What is swept is a coordinate of its own.
    std::erase_if(stated.numbers, [&](const auto& number) {
      return std::any_of(run.configuration.swept.begin(),
                         run.configuration.swept.end(),
                         [&](const SweptScalar& s) { return s.name == number.first; });
    });
  }
  if (subject.series.empty()) subject.series = "y";
  if (!options.reach.empty()) reach_targets(options, subject);
  stated.series = subject.series;
  stated.ends = subject.cap_series;
  return stated;
}

}  // namespace attica::app
