#include "attica/sources/bounds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/core/matching.hpp"
#include "attica/core/read_number.hpp"
#include "attica/solvers/statistics/distributions.hpp"
#include "attica/solvers/statistics/fractions.hpp"
#include "attica/solvers/statistics/smallest_constant.hpp"
#include "attica/sources/expression.hpp"
#include "attica/sources/keys.hpp"
#include "attica/sources/study.hpp"

namespace attica::sources {
namespace {

constexpr double kLevel = 0.05;
/// What "always" is shown up to: the largest probability of a violation that may go unseen.
constexpr double kUnseen = 0.05;

/// The share of runs that may violate the bound.
double allowed(double probability) { return probability < 1 ? 1 - probability : kUnseen; }

std::size_t violations(const std::vector<double>& values, double bound, bool upper) {
  return static_cast<std::size_t>(std::count_if(
      values.begin(), values.end(), [&](double y) { return upper ? y > bound : y < bound; }));
}

bool tight_by(const BoundPoint& p,
              const std::vector<double>& values,
              const BoundResult& b,
              std::size_t points,
              bool deterministic) {
  const double closer = b.upper ? p.bound / b.loose : p.bound * b.loose;
  return p.bound > 0 &&
         judge_bound_point(
             violations(values, closer, b.upper), p.n, b.probability, points, deterministic) ==
             BoundVerdict::holds;
}

void measure_slack(BoundPoint& p, const std::vector<double>& values, const BoundResult& b) {
  if (values.empty()) return;
  p.mean = 0;
  for (const double y : values) p.mean += y / static_cast<double>(values.size());
  std::vector<double> from = values;
  if (!b.upper) {  // the lower quantile is the upper one of -y
    for (double& y : from) y = -y;
  }
  const LimitedQuantile q = limited_quantile(std::move(from), b.probability, kLevel);
  const double sign = b.upper ? 1 : -1;
  const Interval limits = b.upper ? q.limits : Interval{sign * q.limits.high, sign * q.limits.low};
  p.quantile = sign * q.value;
  if (p.bound <= 0 || p.quantile <= 0 || !std::isfinite(p.quantile)) return;
  p.slack = b.upper ? p.bound / p.quantile : p.quantile / p.bound;
  if (b.probability >= 1 || limits.low <= 0 || !std::isfinite(limits.low) ||
      !std::isfinite(limits.high))
    return;
  p.slack_interval = b.upper ? Interval{p.bound / limits.high, p.bound / limits.low}
                             : Interval{limits.low / p.bound, limits.high / p.bound};
}

/// Without blanks at its ends.
std::string_view without_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// The conditions of "name=value, name=value" in words.
/// @throws Error (input) naming `key` for anything else
std::vector<std::pair<std::string, std::string>> conditions(const std::string& key,
                                                            std::string_view only) {
  std::vector<std::pair<std::string, std::string>> all;
  const std::string whole(only);
  while (!only.empty()) {
    const auto stop = std::min(only.find(','), only.size());
    const std::string_view one = only.substr(0, stop);
    only.remove_prefix(std::min(stop + 1, only.size()));
    const auto equals = std::min(one.find('='), one.size());
    const std::string_view name = without_blanks(one.substr(0, equals));
    if (equals == one.size() || name.empty())
      throw invalid_parameter(key, whole, "\"name=value\", several separated by commas");
    all.emplace_back(name, without_blanks(one.substr(equals + 1)));
  }
  return all;
}

/// Whether a point has all coordinates; numbers as core/matching tells them apart.
bool is_selected(const Point& point,
                 const std::vector<std::pair<std::string, std::string>>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& one) {
    return std::any_of(point.begin(), point.end(), [&](const auto& coordinate) {
      if (coordinate.first != one.first) return false;
      if (attica::describe(coordinate.second) == one.second) return true;
      const auto* own = std::get_if<double>(&coordinate.second);
      const auto number = read_number(one.second);
      return own != nullptr && number && same_number(*own, *number);
    });
  });
}

/// Where the run has the series, for a refusal: "; it has alpha=0.5 and alpha=1".
std::string places_of(const Observed& observed, const std::string& series) {
  constexpr std::size_t kMost = 4;
  std::vector<std::string> places;
  std::size_t count = 0;
  for (const ObservedCurve& curve : observed.simulation) {
    if (curve.mean.name == series && ++count <= kMost)
      places.push_back(fmt::format("({})", attica::describe(curve.mean.point)));
  }
  if (count > kMost) places.push_back(fmt::format("{} more", count - kMost));
  return count == 0 ? "" : fmt::format("; it has {}", fmt::join(places, ", "));
}

/// "d=4, n=10", without the x of what has none.
std::string place_of(const BoundPoint& p) {
  return attica::describe(joined(p.point, p.x_name == "none" ? Point{} : Point{{p.x_name, p.x}}));
}

/// About how many replicates decide a point, if violations go on at the rate that was seen; 0 if no
/// number below kMostReplicates does.
constexpr std::size_t kMostReplicates = 10'000'000;
std::size_t deciding_replicates(const BoundPoint& p, double probability, std::size_t points) {
  const double share = allowed(probability);
  const double rate = static_cast<double>(p.violations) / static_cast<double>(p.n);
  // Clopper and Pearson's limits, of k violations that may be no whole number.
  const auto decides = [&](double k, double n) {
    return rate < share
               ? beta_quantile(kLevel, k + 1, n - k) <= share
               : beta_lower_quantile(kLevel / static_cast<double>(points), k, n - k + 1) > share;
  };
  const auto at_rate = [&](std::size_t n) {
    return decides(rate * static_cast<double>(n), static_cast<double>(n));
  };
  std::size_t low = p.n;
  std::size_t high = p.n;
  while (!at_rate(high)) {
    if (rate == share || high >= kMostReplicates) return 0;
    low = high;
    high = 2 * high;
  }
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (at_rate(middle) ? high : low) = middle;
  }
  if (p.violations == 0) return high;
  // The first whole number of violations that decides.
  constexpr double kRounding = 1e-9;
  constexpr int kMostSteps = 1000;
  double k = std::floor(rate * static_cast<double>(high));
  for (int step = 0; step < kMostSteps; ++step, ++k) {
    const double n =
        rate < share ? std::floor(k / rate + kRounding) : std::ceil(k / rate - kRounding);
    if (n >= static_cast<double>(p.n) && decides(k, n)) return static_cast<std::size_t>(n);
  }
  return high;
}

/// Why a bound is undecided: the place that needs most, and how many replicates would decide it.
std::string what_decides(const BoundResult& b) {
  const BoundPoint* hardest = nullptr;
  std::size_t most = 0;
  for (const BoundPoint& p : b.points) {
    if (p.verdict != BoundVerdict::undecided) continue;
    const std::string place = place_of(p);
    if (p.n == 0 || p.failed > 0) {
      return fmt::format("{} of {} replicates{} have no value, and nothing holds of them",
                         p.failed,
                         p.failed + p.n,
                         place.empty() ? "" : " at " + place);
    }
    const std::size_t needed = deciding_replicates(p, b.probability, b.points.size());
    if (hardest != nullptr && most != 0 && needed != 0 && needed <= most) continue;
    if (hardest != nullptr && most == 0) continue;
    hardest = &p;
    most = needed;
  }
  if (hardest == nullptr) return {};
  if (hardest->violations == 0) {
    // All of n keep a bound that may be violated with probability a: (1 - a)^n.
    const double least = std::ceil(std::log(kLevel) / std::log1p(-allowed(b.probability)));
    return fmt::format("{:.0f} replicates without a violation would show that it holds",
                       most != 0 ? static_cast<double>(most) : least);
  }
  const std::string place = place_of(*hardest);
  const std::string seen = fmt::format("{} of {} replicates violate it{}",
                                       hardest->violations,
                                       hardest->n,
                                       place.empty() ? "" : " at " + place);
  if (most == 0)
    return fmt::format(
        "{}: too near to the {:.4g} that is stated for any number of replicates to "
        "decide",
        seen,
        allowed(b.probability));
  const double rate = static_cast<double>(hardest->violations) / static_cast<double>(hardest->n);
  return fmt::format("{}; at that rate about {} replicates would show that it {}",
                     seen,
                     most,
                     rate < allowed(b.probability) ? "holds" : "is violated");
}

}  // namespace

void require_one_delta(const StatedBound& stated, const Expression& formula, const Point& place) {
  const auto is_delta = [](const auto& named) { return named.first == "delta"; };
  if (stated.probability >= 1 || std::ranges::none_of(place, is_delta) ||
      std::ranges::find(formula.names(), "delta") == formula.names().end())
    return;
  throw Error(ErrorKind::input,
              fmt::format("'delta' of the formula '{}' is a column, and 1 - P of probability {}; "
                          "expected another name for the column, or probability 1",
                          stated.formula,
                          stated.probability),
              stated.key + "probability");
}

const std::vector<double>* ends_of(const StatedBound& stated,
                                   const std::vector<ObservedCurve>& simulation,
                                   const ObservedCurve& curve,
                                   std::size_t k) {
  if (stated.ends.empty()) return nullptr;
  for (const ObservedCurve& other : simulation) {
    if (other.mean.name == stated.ends && other.mean.point == curve.mean.point &&
        other.replicates[k] == curve.replicates[k])
      return &other.values[k];
  }
  return nullptr;
}

BoundResult judge_stated_bound(const StatedBound& stated, const Observed& observed) {
  const std::string& key = stated.key;
  const std::string& name = stated.name;
  BoundResult b{.name = name,
                .series = stated.series,
                .formula = stated.formula,
                .upper = stated.upper,
                .probability = stated.probability,
                .loose = stated.loose,
                .points = {},
                .first_violated = {},
                .tightest = {},
                .reason = {}};
  Expression formula(key + "expression", b.formula);
  const auto& numbers = stated.numbers;
  const bool deterministic = stated.deterministic;
  const std::string& only = stated.only;
  const auto wanted = conditions(key + "only", only);
  std::vector<std::vector<double>> values;
  for (const ObservedCurve& curve : observed.simulation) {
    if (curve.mean.name != b.series || !is_selected(curve.mean.point, wanted)) continue;
    const std::string alias = stated.x.empty() ? curve.mean.x_name : stated.x;
    std::vector<std::string> known{"delta"};
    if (alias != "none") known.push_back(alias);  // what has no x
    for (const auto& [n, value] : numbers) known.push_back(n);
    for (const auto& [n, value] : curve.mean.point) {
      if (std::holds_alternative<double>(value)) known.push_back(n);
    }
    formula.require_names(known);
    require_one_delta(stated, formula, joined(curve.mean.point, {{alias, 0.0}}));
    for (std::size_t k = 0; k < curve.mean.x.size(); ++k) {
      BoundPoint p{.point = curve.mean.point,
                   .x_name = curve.mean.x_name,
                   .x = curve.mean.x[k],
                   .rate = {0, 1},
                   .slack_interval = {}};
      p.bound = formula([&](const std::string& variable) {
        if (variable == alias) return p.x;
        for (const auto& [n, value] : p.point) {
          if (n == variable) return std::get<double>(value);
        }
        for (const auto& [n, value] : numbers) {
          if (n == variable) return value;
        }
        return 1 - b.probability;  // delta
      });
      if (!std::isfinite(p.bound)) {
        throw Error(
            ErrorKind::numerical,
            fmt::format("{} = '{}' is {} at {}", formula.where(), b.formula, p.bound, place_of(p)));
      }
      std::vector<double> there;
      const std::vector<double>* ends = ends_of(stated, observed.simulation, curve, k);
      for (std::size_t r = 0; r < curve.values[k].size(); ++r) {
        const double y = curve.values[k][r];
        const bool unknown = ends != nullptr && std::isinf(y) && (*ends)[r] < p.bound;
        if (!std::isnan(y) && !unknown) there.push_back(y);
      }
      p.n = there.size();
      p.failed = curve.values[k].size() - p.n;
      p.violations = violations(there, p.bound, b.upper);
      if (p.n > 0) p.rate = clopper_pearson({p.violations, p.n}, kLevel);
      measure_slack(p, there, b);
      b.points.push_back(std::move(p));
      values.push_back(std::move(there));
    }
  }
  if (b.points.empty()) {
    throw Error(ErrorKind::input,
                fmt::format("bound '{}': the run has no series '{}'{}{}",
                            name,
                            b.series,
                            only.empty() ? "" : fmt::format(" with {}", only),
                            places_of(observed, b.series)),
                key + (only.empty() ? "series" : "only"));
  }
  bool all = true;
  bool all_loose = true;
  for (std::size_t k = 0; k < b.points.size(); ++k) {
    BoundPoint& p = b.points[k];
    p.verdict = judge_bound_point(p.violations, p.n, b.probability, b.points.size(), deterministic);
    if (p.failed > 0 && p.verdict == BoundVerdict::holds) p.verdict = BoundVerdict::undecided;
    if (p.verdict == BoundVerdict::violated &&
        (!b.first_violated || p.x < b.points[*b.first_violated].x)) {
      b.first_violated = k;
    }
    if (p.slack > 0 && (!b.tightest || p.slack < b.points[*b.tightest].slack)) b.tightest = k;
    all = all && p.verdict == BoundVerdict::holds;
    if (p.verdict == BoundVerdict::holds &&
        tight_by(p, values[k], b, b.points.size(), deterministic)) {
      p.verdict = BoundVerdict::loose;
    } else {
      all_loose = false;
    }
  }
  b.verdict = b.first_violated ? BoundVerdict::violated
              : !all           ? BoundVerdict::undecided
              : all_loose      ? BoundVerdict::loose
                               : BoundVerdict::holds;
  if (b.verdict == BoundVerdict::undecided) {
    b.reason = what_decides(b);
  }
  return b;
}

std::string_view describe(BoundVerdict verdict) {
  switch (verdict) {
    case BoundVerdict::holds:
      return "HOLDS";
    case BoundVerdict::loose:
      return "HOLDS BUT LOOSE";
    case BoundVerdict::violated:
      return "VIOLATED";
    case BoundVerdict::undecided:
      break;
  }
  return "UNDECIDED";
}

BoundVerdict judge_bound_point(std::size_t violations,
                               std::size_t n,
                               double probability,
                               std::size_t points,
                               bool deterministic) {
  if (n == 0) return BoundVerdict::undecided;
  if (deterministic) return violations == 0 ? BoundVerdict::holds : BoundVerdict::violated;
  const Count count{violations, n};
  if (probability >= 1) {
    if (violations > 0) return BoundVerdict::violated;
  } else if (clopper_pearson(count, kLevel / static_cast<double>(points)).low > 1 - probability) {
    return BoundVerdict::violated;
  }
  return clopper_pearson(count, kLevel).high <= allowed(probability) ? BoundVerdict::holds
                                                                     : BoundVerdict::undecided;
}

std::vector<BoundResult> judge_bounds(const Configuration& c, const Observed& observed) {
  if (c.declares("simulation.summary") && c.has("simulation.summary") &&
      c.flag("simulation.summary")) {
    throw Error(ErrorKind::input,
                "a bound is judged on replicates; the table of the simulation has mean, sem and n");
  }
  const bool deterministic =
      (c.declares("simulation.expression") && c.has("simulation.expression")) ||
      !names_in(c, "simulation.expression").empty();
  std::vector<BoundResult> all;
  for (const std::string& name : names_in(c, "bound")) {
    const std::string key = "bound." + name + ".";
    all.push_back(judge_stated_bound({.name = name,
                                      .series = c.text(key + "series"),
                                      .formula = c.text(key + "expression"),
                                      .upper = c.text(key + "direction") == "upper",
                                      .probability = c.real(key + "probability"),
                                      .loose = c.real(key + "loose"),
                                      .key = key,
                                      .x = c.has(key + "x") ? c.text(key + "x") : "",
                                      .only = c.has(key + "only") ? c.text(key + "only") : "",
                                      .numbers = model_numbers(c),
                                      .deterministic = deterministic},
                                     observed));
  }
  return all;
}

}  // namespace attica::sources
