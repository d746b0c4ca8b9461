/// @file
/// @brief `attica check --extrapolate`: the limit of large size.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/run/run_folder.hpp"
#include "attica/app/verbs/verbs.hpp"
#include "attica/app/verdict/comparison.hpp"
#include "attica/app/verdict/judge_run.hpp"
#include "attica/core/error.hpp"
#include "attica/solvers/statistics/agreement.hpp"
#include "attica/solvers/statistics/extrapolation.hpp"
#include "attica/solvers/statistics/multiple_tests.hpp"
#include "attica/solvers/statistics/power.hpp"

namespace attica::app {

namespace {

/// The compared points that differ in their size only.
struct SizeGroup {
  std::vector<SizePoint> points;
  double margin = 0;      ///< of the limit, 0: none is stated
  bool absolute = false;  ///< whether differences and margin are, or relative to the theory
  double power = 1;       ///< of the leading correction
};

/// A point of such a group, with the margin that is left without finite size.
struct SizedPoint {
  double size = 0;
  double theory = 0;
  SampleSummary summary;
  double relative = 0;
  double absolute = 0;
  double power = 1;
};

/// Differences are relative to the theory, whose own value may change with the size, but where a
/// margin is absolute: theory may then be next to nothing, as a density beyond its edge. The margin
/// is that of the largest size.
SizeGroup size_group(const std::vector<SizedPoint>& points) {
  SizeGroup group;
  group.absolute = std::ranges::any_of(
      points, [](const SizedPoint& p) { return p.absolute > 0 || p.theory == 0; });
  for (const SizedPoint& p : points) {
    const double scale = group.absolute ? 1.0 : std::abs(p.theory);
    group.points.push_back({.size = p.size,
                            .difference = (p.summary.mean - p.theory) / scale,
                            .sem = p.summary.sem / scale,
                            .n = p.summary.n});
  }
  const SizedPoint& largest = *std::ranges::max_element(points, {}, &SizedPoint::size);
  group.margin = group.absolute ? largest.absolute + largest.relative * std::abs(largest.theory)
                                : largest.relative;
  group.power = largest.power;
  return group;
}

/// @throws Error (input) for a margin, in a user's file, of a series that the run does not have
void require_limits_met(const Study& study, const Comparison& comparison) {
  if (!study.defined_by) return;
  std::vector<std::string> names;
  for (const Place& place : comparison.places) {
    if (std::ranges::find(names, place.series) == names.end()) names.push_back(place.series);
  }
  for (const LimitRule& limit : study.limits) {
    if (std::ranges::find(names, limit.series) == names.end())
      throw invalid_parameter("[[limit]] series",
                              limit.series,
                              fmt::format("a series that is compared: {}", fmt::join(names, ", ")));
  }
}

std::map<std::string, SizeGroup> size_groups(const Options& options, const FinishedRun& finished) {
  const Study& study = *finished.configuration.study;
  ComparisonOptions matching = comparison_options(finished.configuration);
  matching.relative_margin = options.margin;
  const Comparison comparison =
      compare(finished.record.rules, finished.record.theory, finished.replicates, matching);
  require_limits_met(study, comparison);
  std::map<std::string, std::vector<SizedPoint>> points;
  for (std::size_t k = 0; k < comparison.points.size(); ++k) {
    const ComparedPoint& p = comparison.points[k];
    Place place = comparison.places[k];
    const auto size = std::find_if(place.point.begin(), place.point.end(), [&](const auto& c) {
      return c.first == study.size_coordinate;
    });
    if (size == place.point.end() || !p.theory) continue;
    SizedPoint sized{.size = std::get<double>(size->second),
                     .theory = *p.theory,
                     .summary = summarise(p.replicates),
                     .relative = p.margin.relative,
                     .absolute = p.margin.absolute,
                     .power = study.size_power};
    if (sized.summary.n < 2 || sized.summary.sem == 0) continue;
    for (const LimitRule& limit : study.limits) {
      if (limit.series != place.series) continue;
      sized.relative = options.margin.value_or(limit.relative);
      sized.absolute = limit.absolute;
      if (limit.power > 0) sized.power = limit.power;
    }
    place.point.erase(size);
    points[place_name(place)].push_back(sized);
  }
  constexpr std::size_t kFewest = 3;
  std::map<std::string, SizeGroup> groups;
  for (const auto& [name, sizes] : points) {
    if (sizes.size() >= kFewest) groups.emplace(name, size_group(sizes));
  }
  return groups;
}

struct NamedLimit {
  std::string name;
  SizeGroup group;
  LimitVerdict verdict;
};

/// The disagreements share one level, as those of points do.
std::vector<NamedLimit> judged_limits(const std::map<std::string, SizeGroup>& groups) {
  std::vector<NamedLimit> limits;
  std::vector<double> p_disagree;
  for (const auto& [name, group] : groups) {
    // Without a margin any number serves for the fit.
    LimitVerdict v = judge_limit(group.points, group.power, group.margin > 0 ? group.margin : 1);
    if (group.margin == 0) {
      v.verdict = Verdict::none;
      v.reason = "no margin without finite size: reported, not judged";
    } else {
      p_disagree.push_back(v.p_disagree);
    }
    limits.push_back({name, group, std::move(v)});
  }
  const std::vector<double> adjusted = holm(p_disagree);
  auto p = adjusted.begin();
  for (NamedLimit& limit : limits) {
    if (limit.group.margin == 0) continue;
    limit.verdict.p_disagree = *p++;
    if (limit.verdict.verdict == Verdict::disagree && limit.verdict.p_disagree > kDisagreeLevel) {
      limit.verdict.verdict = Verdict::inconclusive;
      limit.verdict.reason = fmt::format("not beyond chance in one of {} limits", adjusted.size());
    }
  }
  return limits;
}

/// NONE only where nothing is judged.
Verdict worst_of(const std::vector<NamedLimit>& limits) {
  Verdict worst = Verdict::none;
  for (const Verdict one : {Verdict::agree, Verdict::inconclusive, Verdict::disagree}) {
    if (std::ranges::any_of(limits,
                            [&](const NamedLimit& l) { return l.verdict.verdict == one; })) {
      worst = one;
    }
  }
  return worst;
}

}  // namespace

int extrapolate_check(const Options& options, const FinishedRun& finished) {
  const Study& study = *finished.configuration.study;
  const RunRecord& run = finished.record;
  if (study.size_coordinate.empty()) {
    throw Error(ErrorKind::input,
                fmt::format("study '{}' names no size to extrapolate in", study.name));
  }
  const std::string& size_name = study.size_coordinate;
  const std::map<std::string, SizeGroup> groups = size_groups(options, finished);
  if (groups.empty()) {
    throw Error(ErrorKind::input,
                fmt::format("no point was simulated at three sizes or more: sweep them with "
                            "sweep.{0} = [..], at the same x",
                            size_name));
  }
  const std::vector<NamedLimit> limits = judged_limits(groups);
  const Verdict worst = worst_of(limits);
  Json list = Json::array();
  std::string table = fmt::format(
      "limit a as {0} grows, d = a + b {0}^-{1}; d = (simulation - theory)/theory, or "
      "simulation - theory (abs)\n",
      size_name,
      study.size_power);
  std::size_t unjudged = 0;
  for (const auto& [name, group, v] : limits) {
    const bool judged = v.verdict != Verdict::none;
    if (!judged) ++unjudged;
    const std::string margin =
        judged ? fmt::format(", margin {:.3g}{}", group.margin, group.absolute ? " abs" : "")
               : std::string(group.absolute ? " abs" : "");
    const std::string power =
        group.power == study.size_power ? "" : fmt::format(" (b {}^-{})", size_name, group.power);
    table += fmt::format("{:<48} a = {:+.4f} [{:+.4f}, {:+.4f}]{}{}: {}{}\n",
                         name,
                         v.fit.limit,
                         v.interval.low,
                         v.interval.high,
                         power,
                         margin,
                         describe(v.verdict),
                         v.reason.empty() ? "" : "; " + v.reason);
    list.push_back({{"point", name},
                    {"limit", v.fit.limit},
                    {"absolute", group.absolute},
                    {"power", group.power},
                    {"margin", judged ? Json(group.margin) : Json()},
                    {"interval90", {v.interval.low, v.interval.high}},
                    {"slope", v.fit.slope},
                    {"p_fit", v.fit.p_fit},
                    {"sizes", group.points.size()},
                    {"verdict", describe(v.verdict)},
                    {"reason", v.reason}});
  }
  if (options.json) {
    print("extrapolate",
          {{"study", study.name},
           {"run", run.path.string()},
           {"verdict", describe(worst)},
           {"size", size_name},
           {"power", study.size_power},
           {"limits", std::move(list)}});
  } else {
    if (unjudged > 0) {
      table += fmt::format(
          "{} of {} limits have no margin but what finite size changes: --margin M judges those "
          "with a theory other than 0\n",
          unjudged,
          limits.size());
    }
    put("{}{}: extrapolated limits\n", table, describe(worst));
  }
  return exit_code(worst);
}

}  // namespace attica::app
