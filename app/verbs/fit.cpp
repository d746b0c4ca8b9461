/// @file
/// @brief `attica fit`: scaling exponents of a run against those its study predicts or bounds, in
/// one size or several at once.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/verbs/fit_subject.hpp"
#include "attica/app/verbs/verbs.hpp"
#include "attica/app/verdict/exponents.hpp"
#include "attica/app/verdict/judge_run.hpp"
#include "attica/solvers/statistics/exponent_rules.hpp"
#include "attica/solvers/statistics/floor_fit.hpp"
#include "attica/studies/scaling.hpp"

namespace attica::app {
namespace {

constexpr double kMedianLevel = 0.5;

/// In place of a meaning, where no exponent is expected.
constexpr const char* kNoneAsked = "no exponent was asked for";

/// An exponent, and the floor that was fitted or given with it.
struct Fitted {
  ExponentResult result;
  std::optional<FloorFit> floor = {};
  double tolerance = kExponentTolerance;
  double quantile = kMedianLevel;
};

/// The largest used size over the smallest.
double span_of(const ExponentFit& fit) {
  double least = 0;
  double most = 0;
  for (const ScalingMedian& m : fit.medians) {
    if (!m.used) continue;
    if (least == 0) least = m.x;
    most = m.x;
  }
  return least > 0 ? most / least : 1;
}

Json exponent_object(const Fitted& fitted) {
  const ExponentResult& result = fitted.result;
  const ExponentFit& fit = result.fit;
  Json medians = Json::array();
  for (const ScalingMedian& m : fit.medians) {
    Json median{{"x", m.x},
                {"median", m.median},
                {"replicates", m.seeds},
                {"censored", m.censored},
                {"used", m.used}};
    if (m.interval) median["interval95"] = interval(*m.interval);
    medians.push_back(std::move(median));
  }
  Json object{{"name", result.claim.name},
              {"series", result.claim.series},
              {"point", app::to_json(result.claim.only)},
              {"x_name", result.claim.x_name},
              {"kind", result.claim.upper_bound ? "upper bound" : "prediction"},
              {"exponent", result.claim.exponent},
              {"meaning", result.claim.meaning},
              {"form", fitted.floor ? "floor + C x^p" : "C x^p"},
              {"tolerance", fitted.tolerance},
              {"quantile", fitted.quantile},
              {"span", span_of(fit)},
              {"medians", std::move(medians)},
              {"verdict", describe(result.verdict)},
              {"weakness", fit.weakness},
              {"window_dependent", fit.window_dependent}};
  if (fit.fitted) {
    Json values{{"exponent", fit.slope},
                {"interval95", interval(fit.interval95)},
                {"interval90", interval(fit.interval90)},
                {"interval_from", fit.from_scatter ? "scatter" : "replicates"},
                {"tolerance", fitted.tolerance},
                {"quantile", fitted.quantile},
                {"prefactor", fitted.floor ? fitted.floor->prefactor : fit.prefactor},
                {"prefactor_interval95",
                 interval(fitted.floor ? fitted.floor->prefactor95 : fit.prefactor95)},
                {"local_slopes", fit.local_slopes}};
    if (std::isfinite(fit.without_first)) {
      values["without_first"] = fit.without_first;
      values["without_last"] = fit.without_last;
    }
    if (fitted.floor) {
      values["floor"] = fitted.floor->floor;
      values["floor_interval95"] = interval(fitted.floor->floor95);
      values["chi_square"] = fitted.floor->chi_square;
      values["degrees_of_freedom"] = fitted.floor->degrees;
      values["p_value"] = fitted.floor->p_value;
      if (fitted.floor->other_optimum) values["other_optimum"] = *fitted.floor->other_optimum;
    }
    object["fitted"] = std::move(values);
  }
  return object;
}

/// The lines of what was fitted.
std::string fitted_text(const Fitted& fitted, bool predicted) {
  const ExponentFit& fit = fitted.result.fit;
  const auto with_interval = [](const std::string& name, double value, const Interval& i) {
    return fmt::format("{} {:.5g}, 95 % [{:.5g}, {:.5g}]", name, value, i.low, i.high);
  };
  std::string lines = fmt::format("  exponent {:.3f}, 95 % [{:.3f}, {:.3f}]",
                                  fit.slope,
                                  fit.interval95.low,
                                  fit.interval95.high);
  if (fitted.floor) {
    const FloorFit& f = *fitted.floor;
    if (std::isfinite(fit.without_first))
      lines += fmt::format("; without the first size {:.3f}, without the last {:.3f}",
                           fit.without_first,
                           fit.without_last);
    lines += "\n";
    lines += f.floor95.width() > 0 ? "  " + with_interval("floor", f.floor, f.floor95)
                                   : fmt::format("  floor {:.5g} (given)", f.floor);
    lines += "; " + with_interval("prefactor", f.prefactor, f.prefactor95) + "\n";
    if (f.other_optimum)
      lines += fmt::format("  another optimum at exponent {:.2f} is not rejected either\n",
                           *f.other_optimum);
    if (!fit.from_scatter)
      lines += fmt::format("  chi square {:.1f} of {} degrees of freedom, p = {:.2g}\n",
                           f.chi_square,
                           f.degrees,
                           f.p_value);
  } else {
    lines += fmt::format(
        "; local slopes {:.2f}; without the first size {:.3f}, without the last {:.3f}\n",
        fmt::join(fit.local_slopes, ", "),
        fit.without_first,
        fit.without_last);
    lines += "  " + with_interval("prefactor", fit.prefactor, fit.prefactor95) + "\n";
  }
  if (fit.from_scatter)
    lines += "  intervals from the scatter about the fit: too few replicates a size\n";
  lines += narrow_span_text("the sizes", span_of(fit), fitted.tolerance);
  if (!predicted && fit.window_dependent)
    lines += "  the exponent depends on the window: this form does not describe the whole range\n";
  if (!fitted.floor && fit.window_dependent && levels_off(fit))
    lines +=
        "  the local slopes fall from size to size: the curve may level off; --floor fits y = "
        "floor + C x^p\n";
  return lines;
}

std::string text(const Fitted& fitted) {
  const ExponentResult& result = fitted.result;
  const ExponentFit& fit = result.fit;
  std::string lines = fmt::format("{}: {} against {} ({})\n",
                                  result.claim.name,
                                  result.claim.series,
                                  result.claim.x_name,
                                  result.claim.meaning);
  for (const ScalingMedian& m : fit.medians) {
    const bool reached =
        static_cast<double>(m.censored) < (1 - fitted.quantile) * static_cast<double>(m.seeds);
    lines +=
        fmt::format("  {:>12.6g}  {} {}{:>12.6g}",
                    m.x,
                    fitted.quantile == kMedianLevel ? std::string("median")
                                                    : fmt::format("{}-quantile", fitted.quantile),
                    reached ? "" : "above ",
                    m.median);
    if (m.interval)
      lines += fmt::format("  95 % [{:.6g}, {:.6g}]", m.interval->low, m.interval->high);
    if (m.censored > 0) lines += fmt::format("  {} of {} never reached it", m.censored, m.seeds);
    lines += m.used ? "\n" : "  not used\n";
  }
  const bool predicted = result.claim.meaning != kNoneAsked;
  if (fit.fitted) lines += fitted_text(fitted, predicted);
  if (!predicted) {
    if (!fit.weakness.empty()) lines += fmt::format("  weak: {}\n", fit.weakness);
    return lines;
  }
  lines += fmt::format("  {} {}: {}",
                       result.claim.upper_bound ? "bound" : "prediction",
                       result.claim.exponent,
                       describe(result.verdict));
  if (!fit.weakness.empty()) lines += fmt::format(" ({})", fit.weakness);
  if (fit.window_dependent) lines += " (depends on the window)";
  const bool unreached = std::any_of(
      fit.medians.begin(), fit.medians.end(), [](const ScalingMedian& m) { return !m.used; });
  if (unreached && result.verdict == ExponentVerdict::violated)
    lines += " (sizes that are not used count at their caps)";
  return lines + "\n";
}

/// Violated: like DISAGREE; undecided: like INCONCLUSIVE.
int joint_exit_code(const std::vector<Fitted>& results) {
  int code = kExitDone;
  for (const Fitted& fitted : results) {
    if (fitted.result.verdict == ExponentVerdict::violated) return kExitDisagree;
    if (fitted.result.verdict == ExponentVerdict::undecided) code = kExitInconclusive;
  }
  return code;
}

/// The exponents a user asks for: the series against an x that is the curves' own, or a coordinate
/// of their points; one for every curve that differs in something else.
std::vector<Fitted> asked_exponents(const Options& options, const FitSubject& subject) {
  const std::string& x = options.sizes.front();
  std::vector<ObservedCurve> arranged = against(subject.curves, subject.series, x);
  std::vector<Point> places;
  std::vector<std::pair<Point, std::size_t>> lengths;
  std::set<double> sizes;
  for (const ObservedCurve& curve : arranged) {
    places.push_back(curve.mean.point);
    lengths.emplace_back(curve.mean.point, curve.mean.x.size());
    sizes.insert(curve.mean.x.begin(), curve.mean.x.end());
  }
  require_curves(lengths, sizes.size());
  if (!subject.cap_series.empty()) {
    for (ObservedCurve& curve : against(subject.curves, subject.cap_series, x))
      arranged.push_back(std::move(curve));
  }
  std::vector<Fitted> results;
  for (const Point& place : places) {
    ExponentClaim claim{.name = subject.series,
                        .series = subject.series,
                        .x_name = x,
                        .only = place,
                        .exponent = options.exponent.value_or(0),
                        .upper_bound = options.upper_bound,
                        .meaning = options.exponent ? "as asked for" : kNoneAsked,
                        .cap_series = subject.cap_series};
    if (!claim.only.empty()) claim.name += " (" + describe(claim.only) + ")";
    const std::vector<ScalingPoint> points = scaling_points(claim, arranged);
    for (const ScalingPoint& p : points) {
      if (p.x > 0) continue;
      throw Error(
          ErrorKind::input,
          fmt::format(
              "'{}': {} = {}, expected sizes > 0, of which power laws are; {}--window "
              "{}=LOW: leaves out those below LOW",
              options.target,
              x,
              p.x,
              options.exponent && !options.floor
                  ? fmt::format("--expect {}={} in place of --exponent, and ", x, *options.exponent)
                  : "",
              x),
          "--x");
    }
    Fitted fitted{.result = {.claim = claim, .fit = {}},
                  .tolerance = options.tolerance.value_or(kExponentTolerance),
                  .quantile = options.quantiles.empty() ? kMedianLevel : options.quantiles.front()};
    if (options.floor) {
      fitted.floor = fit_with_floor(points, options.floor_value);
      fitted.result.fit = fitted.floor->exponent;
    } else {
      fitted.result.fit = fit_exponent_of_quantile(points, fitted.quantile, {.seed = subject.seed});
    }
    const ExponentFit& fit = fitted.result.fit;
    if (options.exponent) {
      fitted.result.verdict =
          claim.upper_bound ? judge_upper_bound_of_quantile(
                                  fit, points, fitted.quantile, claim.exponent, fitted.tolerance)
                            : judge_predicted_exponent(fit, claim.exponent, fitted.tolerance);
    }
    results.push_back(std::move(fitted));
  }
  return results;
}

void tell(const Options& options, const Json& about, const std::vector<Fitted>& results) {
  if (options.json) {
    Json object = about;
    object["exponents"] = Json::array();
    for (const Fitted& fitted : results) object["exponents"].push_back(exponent_object(fitted));
    print("fit", object);
  } else {
    for (const Fitted& fitted : results) put("{}", text(fitted));
  }
}

}  // namespace

int fit_verb(const Options& given, const Registry& registry) {
  Options options = given;
  const bool is_file = std::filesystem::is_regular_file(options.target);
  const bool joint = options.sizes.size() > 1 || !options.windows.empty() ||
                     !options.corrections.empty() || options.quantiles.size() > 1 ||
                     options.robust || (!options.expected.empty() && options.collapse.empty());
  const bool asked = !options.series.empty() || options.exponent || options.upper_bound || joint ||
                     options.floor || options.tolerance || !options.collapse.empty() ||
                     !options.quantiles.empty() || !options.reach.empty() || !options.sizes.empty();
  if (options.sizes.empty()) options.sizes = {"x"};
  std::vector<std::string> distinct = options.sizes;
  std::sort(distinct.begin(), distinct.end());
  if (std::adjacent_find(distinct.begin(), distinct.end()) != distinct.end())
    throw invalid_parameter("--x", options.sizes.back(), "every size once");
  if (joint && options.exponent && !(options.floor && options.sizes.size() == 1)) {
    throw Error(ErrorKind::input,
                "--exponent is of one size; expected --expect NAME=P with several sizes, --window "
                "and --correction");
  }
  if (joint && options.upper_bound && (options.expected.empty() || options.floor)) {
    throw Error(ErrorKind::input,
                "--upper-bound of several sizes needs the exponents; expected --expect NAME=P for "
                "each, and no --floor");
  }
  if (options.upper_bound && !joint && !options.exponent) {
    throw Error(ErrorKind::input,
                "--upper-bound says that the expected exponent is a bound; expected --exponent P "
                "with it");
  }
  if (options.tolerance && !options.exponent && options.expected.empty()) {
    throw Error(ErrorKind::input,
                "--tolerance is how far the exponent may be from the expected one; expected "
                "--exponent P or --expect NAME=P with it");
  }
  if (options.floor &&
      (!options.corrections.empty() || !options.collapse.empty() || !options.quantiles.empty())) {
    throw Error(ErrorKind::input,
                "--floor fits means; expected neither --correction, --quantile nor --collapse "
                "with it");
  }
  if (options.robust && !options.floor)
    throw Error(ErrorKind::input,
                "--robust is of a fit of means; expected --floor with it (medians are robust)");
  if (!options.collapse.empty() && (!options.quantiles.empty() || !options.reach.empty())) {
    throw Error(ErrorKind::input,
                "--quantile and --reach are not of a collapse; expected neither with --collapse");
  }
  if (options.reach.empty() && !options.along.empty())
    throw Error(ErrorKind::input, "--along is of learning curves; expected --reach EPS with it");
  if (options.collapse.empty() && (!options.held.empty() || !options.starts.empty()))
    throw Error(ErrorKind::input, "--hold and --start are of a collapse; expected --collapse NAME");
  FitSubject subject{.curves = {}, .series = options.series, .cap_series = {}, .about = {}};
  std::vector<Fitted> results;
  if (!is_file && !asked) {
    const FinishedRun run(options.target, registry, options.accept_edits);
    const Study& study = *run.configuration.study;
    read_subject_run(options, run, subject);
    if (study.exponents == nullptr) {
      throw Error(ErrorKind::input,
                  fmt::format("study '{}' declares no exponents; --series, --x and --exponent ask "
                              "for one",
                              study.name));
    }
    for (ExponentResult& result :
         declared_exponents(run.configuration, run.replicates, run.record.seed))
      results.push_back({.result = std::move(result)});
    if (results.empty()) {
      throw Error(ErrorKind::input,
                  fmt::format("the run has too few sizes for the exponents that '{}' declares; "
                              "--series and --x ask for another",
                              study.name));
    }
  } else {
    read_fit_subject(options, registry, subject);
  }
  if (!options.collapse.empty()) return fit_collapse_of(options, subject);
  if (joint && options.floor) return fit_floor_sizes_of(options, subject);
  if (joint) return fit_sizes_of(options, subject);
  if (asked || is_file) results = asked_exponents(options, subject);
  tell(options, subject.about, results);
  // Without an expected exponent there is nothing to be undecided about.
  return (asked || is_file) && !options.exponent ? kExitDone : joint_exit_code(results);
}

}  // namespace attica::app
