/// @file
/// @brief `attica plan` of a table or a finished run, the pilot: which sizes and how many
/// replicates make the interval of an exponent, a floor or a bound's constant as narrow as is
/// wanted.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/verbs/bound_constant.hpp"
#include "attica/app/verbs/bound_text.hpp"
#include "attica/app/verbs/fit_subject.hpp"
#include "attica/solvers/statistics/distributions.hpp"
#include "attica/solvers/statistics/exponent_rules.hpp"
#include "attica/solvers/statistics/fit_planning.hpp"
#include "attica/solvers/statistics/floor_surface.hpp"
#include "attica/solvers/statistics/quantile_limits.hpp"

namespace attica::app {
namespace {

/// The power of n with which degrees of freedom of a quantile's error grow.
constexpr double kOfOrderStatistics = 0.5;

/// An interval to be made narrower, and how narrow.
struct Wanted {
  std::string name;  ///< "exponent of d"
  double value = 0;
  Interval interval95;
  double width = 0;
};

/// Sizes with the replicates that they need.
struct Design {
  SizesPlan sizes;
  std::optional<std::size_t> replicates;  ///< at each combination
  std::string hardest;                    ///< what asks for most of them
};

std::vector<std::pair<std::size_t, double>> expected_exponents(const Options& options) {
  std::vector<std::pair<std::size_t, double>> expected;
  for (const std::string& one : options.expected) {
    const auto [name, exponent] = app::assignment("--expect", one);
    expected.emplace_back(app::index_of("--expect", name, options.sizes), exponent);
  }
  if (options.exponent) {
    if (options.sizes.size() > 1)
      throw Error(ErrorKind::input,
                  "--exponent is of one size; expected --expect NAME=P with several");
    expected.emplace_back(0, *options.exponent);
  }
  return expected;
}

/// The width from which on an interval about a value decides: it is then on one side of the edge of
/// the tolerance with the power asked for.
double deciding_width(const Options& options, double value, double expected) {
  const double tolerance = options.tolerance.value_or(kExponentTolerance);
  const double beyond = value - expected;
  const double distance =
      options.upper_bound ? std::abs(beyond - tolerance) : std::abs(std::abs(beyond) - tolerance);
  const double z = normal_quantile(kLevel95);
  return 2 * distance * z / (z + normal_quantile(1 - options.power));
}

double width_for(const Options& options,
                 const std::vector<std::pair<std::size_t, double>>& expected,
                 std::size_t variable,
                 double value) {
  double width = options.planned_width.value_or(std::numeric_limits<double>::infinity());
  for (const auto& [k, exponent] : expected) {
    if (k == variable) width = std::min(width, deciding_width(options, value, exponent));
  }
  return width;
}

std::string place_of_cell(const std::vector<std::string>& names, const std::vector<double>& x) {
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < names.size(); ++k)
    parts.push_back(fmt::format("{}={:g}", names[k], x[k]));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// The power of each of several aims with which all of them are reached with the power asked for.
Options with_shared_power(Options options) {
  const std::size_t aims = options.planned_width
                               ? options.sizes.size() + (options.floor && !options.floor_value)
                               : options.expected.size();
  options.power = 1 - (1 - options.power) / static_cast<double>(std::max<std::size_t>(aims, 1));
  return options;
}

/// What the plan of one curve starts from.
struct PilotFit {
  std::vector<Wanted> wanted;  ///< exponents in the order of the sizes, then the floor
  std::vector<std::vector<double>> used;
  double replicates = 0;  ///< the fewest at a combination
  double degrees = 0;
  double growth = 1;  ///< of the degrees of freedom with the replicates, a power
};

/// @throws Error (input) for a pilot with too few replicates for an interval
PilotFit pilot_fit(const Options& options,
                   const std::vector<ScalingCell>& cells,
                   std::uint64_t seed) {
  constexpr double kMedian = 0.5;
  const double quantile = options.quantiles.empty() ? kMedian : options.quantiles.front();
  const auto expected = expected_exponents(options);
  PilotFit pilot;
  const std::size_t fewest = options.floor ? 2 : fewest_seeds(quantile);
  pilot.replicates = std::numeric_limits<double>::infinity();
  const auto use = [&](const std::vector<double>& x, std::size_t n) {
    if (n < fewest) {
      throw Error(ErrorKind::input,
                  fmt::format("the pilot has {} replicate{} at {}; expected {} or more, from which "
                              "intervals can be planned",
                              n,
                              n == 1 ? "" : "s",
                              place_of_cell(options.sizes, x),
                              fewest));
    }
    pilot.used.push_back(x);
    pilot.replicates = std::min(pilot.replicates, static_cast<double>(n));
    pilot.degrees += static_cast<double>(n - 1);
  };
  const auto want = [&](std::size_t k, double exponent, const Interval& interval) {
    pilot.wanted.push_back({.name = "exponent of " + options.sizes[k],
                            .value = exponent,
                            .interval95 = interval,
                            .width = width_for(options, expected, k, exponent)});
  };
  if (options.floor) {
    const FloorSurface fit =
        fit_floor_surface(cells,
                          options.sizes,
                          {.floor = options.floor_value, .robust = options.robust, .seed = seed});
    if (!fit.fitted) throw Error(ErrorKind::input, "the pilot cannot be fitted: " + fit.weakness);
    for (const FloorCell& cell : fit.cells) {
      if (cell.used) use(cell.x, cell.replicates);
    }
    for (std::size_t k = 0; k < fit.terms.size(); ++k)
      want(k, fit.terms[k].exponent, fit.terms[k].interval95);
    if (!options.floor_value && options.planned_width)
      pilot.wanted.push_back({.name = "floor",
                              .value = fit.floor,
                              .interval95 = fit.floor95,
                              .width = *options.planned_width});
    return pilot;
  }
  const JointFit fit = fit_joint_exponents(cells, options.sizes, {}, seed, quantile);
  if (!fit.fitted) throw Error(ErrorKind::input, "the pilot cannot be fitted: " + fit.weakness);
  for (const JointMedian& m : fit.medians) {
    if (m.used) use(m.x, m.seeds);
  }
  pilot.degrees = quantile_degrees(static_cast<std::size_t>(pilot.replicates), quantile) *
                  effective_combinations(pilot.used);
  pilot.growth = kOfOrderStatistics;
  const double t = 2 * normal_quantile(kLevel95);
  for (std::size_t k = 0; k < fit.exponents.size(); ++k) {
    const double e = fit.exponents[k].exponent;
    const double half = t / 2 * std::sqrt(fit.covariance[k][k]);
    want(k, e, {e - half, e + half});
  }
  return pilot;
}

Design design_of(const Options& options, const PilotFit& pilot, SizesPlan sizes) {
  Design design{.sizes = std::move(sizes), .replicates = 1, .hardest = {}};
  for (std::size_t k = 0; k < pilot.wanted.size(); ++k) {
    const Wanted& wanted = pilot.wanted[k];
    if (std::isinf(wanted.width)) continue;
    // A floor is seen by the largest sizes, which the pilot's own factor does not describe.
    const double factor = k < design.sizes.factors.size() ? design.sizes.factors[k] : 1;
    std::optional<std::size_t> n;
    if (wanted.width > 0 && std::isfinite(wanted.interval95.width())) {
      n = replicates_for_width({.replicates = pilot.replicates,
                                .width = std::max(wanted.interval95.width() * factor, 1e-12),
                                .degrees = pilot.degrees,
                                .growth = pilot.growth},
                               wanted.width,
                               options.power);
    }
    if (!n) {
      design.replicates.reset();
      design.hardest = wanted.name;
      return design;
    }
    if (*n > *design.replicates) design.hardest = wanted.name;
    design.replicates = std::max(*design.replicates, *n);
  }
  constexpr double kMedian = 0.5;
  design.replicates =
      std::max(*design.replicates,
               fewest_seeds(options.quantiles.empty() ? kMedian : options.quantiles.front()));
  return design;
}

std::string sizes_text(const std::vector<std::string>& names, const SizesPlan& plan) {
  std::vector<std::string> parts;
  for (std::size_t v = 0; v < names.size(); ++v) {
    std::vector<std::string> values;
    for (const double x : plan.sizes[v]) values.push_back(fmt::format("{:.4g}", x));
    parts.push_back(fmt::format("{} = {}", names[v], fmt::join(values, ", ")));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// The plan of one curve. Returns the exit code.
int plan_curve(const Options& options,
               const FitSubject& subject,
               const SizedCells& curve,
               Json& list) {
  const Options each = with_shared_power(options);
  const PilotFit pilot = pilot_fit(each, curve.cells, subject.seed);
  std::vector<Design> designs;
  for (SizesPlan& sizes : plan_sizes(pilot.used)) {
    designs.push_back(design_of(each, pilot, std::move(sizes)));
    if (options.floor) break;  // how an interval above a floor changes with the sizes is not known
  }
  const bool possible = designs.front().replicates.has_value();
  Json wanted = Json::array();
  std::string text =
      fmt::format("{}{} against {}: pilot of {:g} replicates at {} combinations of sizes\n",
                  subject.series,
                  curve.rest.empty() ? "" : " (" + describe(curve.rest) + ")",
                  fmt::join(options.sizes, ", "),
                  pilot.replicates,
                  pilot.used.size());
  for (const Wanted& w : pilot.wanted) {
    wanted.push_back({{"name", w.name},
                      {"value", w.value},
                      {"interval95", interval(w.interval95)},
                      {"width", std::isinf(w.width) ? Json() : Json(w.width)}});
    text +=
        fmt::format("  {} {:.4g}, 95 % [{:.4g}, {:.4g}]{}\n",
                    w.name,
                    w.value,
                    w.interval95.low,
                    w.interval95.high,
                    std::isinf(w.width) ? "" : fmt::format("; wanted: a width of {:.3g}", w.width));
  }
  Json rows = Json::array();
  for (const Design& d : designs) {
    const auto runs = d.replicates.value_or(0) * d.sizes.combinations;
    Json sizes = Json::object();
    for (std::size_t v = 0; v < options.sizes.size(); ++v)
      sizes[options.sizes[v]] = d.sizes.sizes[v];
    rows.push_back({{"sizes", std::move(sizes)},
                    {"combinations", d.sizes.combinations},
                    {"replicates", d.replicates ? Json(*d.replicates) : Json("none")},
                    {"runs", d.replicates ? Json(runs) : Json("none")}});
    text += fmt::format("  {:>10} replicates each, {:>11} in all, at {}\n",
                        d.replicates ? fmt::format("{}", *d.replicates) : "no number of",
                        d.replicates ? fmt::format("{}", runs) : "-",
                        sizes_text(options.sizes, d.sizes));
  }
  if (possible) {
    text += fmt::format(
        "  probability {} of intervals that narrow{}\n",
        options.power,
        designs.front().hardest.empty() ? "" : "; most for the " + designs.front().hardest);
  } else {
    text += fmt::format("  no number of replicates: the {} is {}\n",
                        designs.front().hardest,
                        pilot.wanted.empty() ? "not fitted"
                                             : "at the edge of its tolerance, or its "
                                               "interval is open");
  }
  if (!options.json) put("{}", text);
  list.push_back({{"series", subject.series},
                  {"point", to_json(curve.rest)},
                  {"pilot_replicates", pilot.replicates},
                  {"wanted", std::move(wanted)},
                  {"designs", std::move(rows)}});
  return possible ? kExitDone : kExitInconclusive;
}

int plan_exponents(const Options& given, const Registry& registry) {
  Options options = given;
  if (options.sizes.empty()) options.sizes = {"x"};
  if (!options.planned_width && options.expected.empty() && !options.exponent) {
    throw Error(
        ErrorKind::input,
        "a plan needs an aim: expected --width W of the 95 % interval, or the exponent to be "
        "decided, --exponent P (--expect NAME=P of several sizes)");
  }
  if (options.quantiles.size() > 1 || !options.corrections.empty())
    throw Error(ErrorKind::input, "expected one --quantile and no --correction with a plan");
  if (options.floor && (!options.quantiles.empty() || options.upper_bound))
    throw Error(ErrorKind::input,
                "--floor fits means; expected neither --quantile nor --upper-bound with it");
  if (options.robust && !options.floor)
    throw Error(ErrorKind::input, "--robust is of a fit of means; expected --floor with it");
  FitSubject subject{.curves = {}, .series = options.series, .cap_series = {}, .about = {}};
  read_fit_subject(options, registry, subject);
  int code = kExitDone;
  Json list = Json::array();
  for (const SizedCells& curve : sized_cells(options, subject))
    code = std::max(code, plan_curve(options, subject, curve, list));
  if (options.json) {
    Json object = subject.about;
    object["power"] = options.power;
    object["plans"] = std::move(list);
    print("plan", object);
  }
  return code;
}

/// The places whose quantile may be the one that sets the constant.
std::vector<std::size_t> deciding_places(const ConstantResult& r, bool upper) {
  std::vector<std::size_t> places;
  const SmallestConstant& c = r.constant;
  for (std::size_t k = 0; k < r.places.size(); ++k) {
    const bool may =
        upper ? c.needed95[k].high >= c.interval95.low : c.needed95[k].low <= c.interval95.high;
    if (may) places.push_back(k);
  }
  return places;
}

int plan_constant(const Options& options, const Registry& registry) {
  FitSubject subject{.curves = {}, .series = {}, .cap_series = {}, .about = {}};
  const sources::StatedBound stated = stated_bound(options, registry, subject);
  if (options.constant.empty()) {
    const sources::BoundResult b = sources::judge_stated_bound(
        stated, {.theory = {}, .simulation = std::move(subject.curves)});
    if (options.json) {
      Json object = subject.about;
      object["verdict"] = sources::describe(b.verdict);
      object["reason"] = b.reason;
      print("plan", object);
    } else if (b.verdict != sources::BoundVerdict::undecided) {
      put("{} by the pilot: no more replicates are needed\n", sources::describe(b.verdict));
    } else {
      put("UNDECIDED by the pilot: {}\n", b.reason);
    }
    return kExitDone;
  }
  if (!options.planned_width)
    throw Error(ErrorKind::input,
                "a plan for a constant needs --width W, of its 95 % interval over the constant");
  if (stated.probability >= 1)
    throw Error(
        ErrorKind::input,
        "a bound that is meant always has no interval that narrows; expected --probability P "
        "below 1");
  const ConstantResult r = judge_constant(
      stated, options.constant, options.tolerance.value_or(kExponentTolerance), subject.curves);
  const SmallestConstant& c = r.constant;
  const NeededPlace& place = r.places[c.place];
  const auto n0 = place.needed.size();
  const double p = stated.upper ? stated.probability : 1 - stated.probability;
  const QuantileRanks ranks = quantile_limit_ranks(n0, p, kLevel95);
  const double relative = c.interval95.width() / std::abs(c.value);
  std::optional<std::size_t> n;
  std::string why;
  if (!std::isfinite(relative) || !ranks.below || !ranks.above) {
    why = fmt::format("the interval of the pilot is open: expected {} replicates or more at {}",
                      fewest_seeds(p),
                      describe(place_of(place)));
  } else if (relative == 0) {
    n = n0;
  } else {
    n = replicates_for_width({.replicates = static_cast<double>(n0),
                              .width = relative,
                              .degrees = static_cast<double>(*ranks.above - *ranks.below) / 2,
                              .growth = kOfOrderStatistics},
                             *options.planned_width,
                             options.power);
    if (!n) why = "more than can be planned";
  }
  std::vector<std::string> where;
  const std::vector<std::size_t> deciding = deciding_places(r, stated.upper);
  for (const std::size_t k : deciding) where.push_back("(" + describe(place_of(r.places[k])) + ")");
  if (options.json) {
    Json object = subject.about;
    object["power"] = options.power;
    object["constant"] = {{"name", options.constant},
                          {"value", finite_or_null(c.value)},
                          {"interval95", interval(c.interval95)}};
    object["width"] = *options.planned_width;
    object["pilot_replicates"] = n0;
    object["replicates"] = n ? Json(*n) : Json("none");
    object["places"] = where;
    if (!why.empty()) object["reason"] = why;
    print("plan", object);
    return n ? kExitDone : kExitInconclusive;
  }
  put("{} {:.4g}, 95 % [{:.4g}, {:.4g}]; wanted: a width of {:.3g} of it\n",
      options.constant,
      c.value,
      c.interval95.low,
      c.interval95.high,
      *options.planned_width);
  if (!n) {
    put("  no number of replicates: {}\n", why);
    return kExitInconclusive;
  }
  put("  {} replicates each, with probability {}, at {} of {} combinations of sizes: {}\n"
      "{}",
      *n,
      options.power,
      deciding.size(),
      r.places.size(),
      fmt::join(where, ", "),
      deciding.size() < r.places.size() ? "  those of the others do not set the constant\n" : "");
  return kExitDone;
}

}  // namespace

int plan_pilot(const Options& options, const Registry& registry) {
  return options.expression.empty() ? plan_exponents(options, registry)
                                    : plan_constant(options, registry);
}

}  // namespace attica::app
