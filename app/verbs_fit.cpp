/// @file
/// @brief `attica fit`: scaling exponents of a run against those its study predicts or bounds.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "attica/app/exit_codes.hpp"
#include "attica/app/judge_run.hpp"
#include "attica/app/verbs.hpp"
#include "attica/core/read_bytes.hpp"
#include "attica/studies/own/table.hpp"
#include "attica/studies/scaling.hpp"

namespace attica::app {
namespace {

/// In place of a meaning, where no exponent is expected.
constexpr const char* kNoneAsked = "no exponent was asked for";

Json interval(const Interval& i) { return Json::array({i.low, i.high}); }

Json exponent_object(const ExponentResult& result) {
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
              {"medians", std::move(medians)},
              {"verdict", describe(result.verdict)},
              {"weakness", fit.weakness},
              {"window_dependent", fit.window_dependent}};
  if (fit.fitted) {
    object["fitted"] = {{"exponent", fit.slope},
                        {"interval95", interval(fit.interval95)},
                        {"interval90", interval(fit.interval90)},
                        {"local_slopes", fit.local_slopes},
                        {"without_first", fit.without_first},
                        {"without_last", fit.without_last}};
  }
  return object;
}

std::string text(const ExponentResult& result) {
  const ExponentFit& fit = result.fit;
  std::string lines = fmt::format("{}: {} against {} ({})\n",
                                  result.claim.name,
                                  result.claim.series,
                                  result.claim.x_name,
                                  result.claim.meaning);
  for (const ScalingMedian& m : fit.medians) {
    lines += fmt::format("  {:>12.6g}  median {:>12.6g}", m.x, m.median);
    if (m.interval)
      lines += fmt::format("  95 % [{:.6g}, {:.6g}]", m.interval->low, m.interval->high);
    if (m.censored > 0) lines += fmt::format("  {} of {} never reached it", m.censored, m.seeds);
    lines += m.used ? "\n" : "  not used\n";
  }
  if (fit.fitted) {
    lines += fmt::format(
        "  exponent {:.3f}, 95 % [{:.3f}, {:.3f}]; local slopes {:.2f}; without the first size "
        "{:.3f}, without the last {:.3f}\n",
        fit.slope,
        fit.interval95.low,
        fit.interval95.high,
        fmt::join(fit.local_slopes, ", "),
        fit.without_first,
        fit.without_last);
  }
  if (result.claim.meaning == kNoneAsked) {
    if (!fit.weakness.empty()) lines += fmt::format("  weak: {}\n", fit.weakness);
    return lines;
  }
  lines += fmt::format("  {} {}: {}",
                       result.claim.upper_bound ? "bound" : "prediction",
                       result.claim.exponent,
                       describe(result.verdict));
  if (!fit.weakness.empty()) lines += fmt::format(" ({})", fit.weakness);
  if (fit.window_dependent) lines += " (depends on the window)";
  return lines + "\n";
}

/// Violated: like DISAGREE; undecided: like INCONCLUSIVE.
int exit_code(const std::vector<ExponentResult>& results) {
  int code = kExitDone;
  for (const ExponentResult& result : results) {
    if (result.verdict == ExponentVerdict::violated) return kExitDisagree;
    if (result.verdict == ExponentVerdict::undecided) code = kExitInconclusive;
  }
  return code;
}

/// The interval of an exponent comes from resampling replicates.
void refuse_summary(bool summary, const std::string& target) {
  if (!summary) return;
  throw Error(ErrorKind::input,
              fmt::format("'{}' has mean, sem and n: an exponent needs replicates", target));
}

/// The exponents a user asks for: the series against an x that is the curves' own, or a coordinate
/// of their points; one for every curve that differs in something else.
std::vector<ExponentResult> asked_exponents(const Options& options,
                                            std::span<const ObservedCurve> curves,
                                            std::uint64_t seed) {
  // A copy of the curves in which the chosen x is the x.
  std::vector<ObservedCurve> arranged;
  bool found = false;
  for (const ObservedCurve& curve : curves) {
    if (curve.mean.name != options.series) continue;
    found = true;
    if (curve.mean.x_name == options.x) {
      arranged.push_back(curve);
      continue;
    }
    Point rest = curve.mean.point;
    const auto at =
        std::find_if(rest.begin(), rest.end(), [&](const auto& c) { return c.first == options.x; });
    if (at == rest.end() || !std::holds_alternative<double>(at->second)) continue;
    const double size = std::get<double>(at->second);
    rest.erase(at);
    for (std::size_t k = 0; k < curve.mean.x.size(); ++k) {
      Point place = rest;
      if (curve.mean.x_name != "none") place.emplace_back(curve.mean.x_name, curve.mean.x[k]);
      auto same = std::find_if(arranged.begin(), arranged.end(), [&](const ObservedCurve& c) {
        return c.mean.point == place;
      });
      if (same == arranged.end()) {
        same = arranged.insert(
            arranged.end(),
            {.mean = {options.series, place, options.x, {}, {}}, .values = {}, .replicates = {}});
      }
      same->mean.x.push_back(size);
      same->mean.y.push_back(curve.mean.y[k]);
      same->values.push_back(curve.values[k]);
      same->replicates.push_back(curve.replicates[k]);
    }
  }
  if (arranged.empty()) {
    throw Error(
        ErrorKind::input,
        found ? fmt::format("series '{}' has no x or coordinate '{}'", options.series, options.x)
              : fmt::format("no series '{}'", options.series),
        found ? "--x" : "--series");
  }
  std::vector<ExponentResult> results;
  for (const ObservedCurve& curve : arranged) {
    ExponentClaim claim{.name = options.series,
                        .series = options.series,
                        .x_name = options.x,
                        .only = curve.mean.point,
                        .exponent = options.exponent.value_or(0),
                        .upper_bound = options.upper_bound,
                        .meaning = options.exponent ? "as asked for" : kNoneAsked};
    if (!claim.only.empty()) claim.name += " (" + describe(claim.only) + ")";
    results.push_back(judge_exponent(claim, arranged, seed));
    if (!options.exponent) results.back().verdict = ExponentVerdict::undecided;
  }
  return results;
}

/// What a study predicts or bounds, for every problem of the run's sweep.
std::vector<ExponentResult> declared_exponents(const FinishedRun& run) {
  const Study& study = *run.configuration.study;
  if (study.exponents == nullptr) {
    throw Error(
        ErrorKind::input,
        fmt::format("study '{}' declares no exponents; --series, --x and --exponent ask for one",
                    study.name));
  }
  std::vector<ExponentResult> results;
  each_problem(run.configuration,
               {.theory = {}, .simulation = run.replicates.curves()},
               [&](const Configuration& values, const Point& front, const Observed& observed) {
                 for (const ExponentClaim& claim : study.exponents(values)) {
                   results.push_back(judge_exponent(claim, observed.simulation, run.record.seed));
                   if (!front.empty()) results.back().claim.name += " (" + describe(front) + ")";
                 }
               });
  return results;
}

void tell(const Options& options, const Json& about, const std::vector<ExponentResult>& results) {
  if (options.json) {
    Json object = about;
    object["exponents"] = Json::array();
    for (const ExponentResult& result : results)
      object["exponents"].push_back(exponent_object(result));
    print(object);
  } else {
    for (const ExponentResult& result : results) fmt::print("{}", text(result));
  }
}

}  // namespace

int fit_verb(const Options& options, const Registry& registry) {
  const bool asked = !options.series.empty() || options.exponent || options.upper_bound;
  const bool is_file = std::filesystem::is_regular_file(options.target);
  std::vector<ExponentResult> results;
  Json about;
  Options question = options;
  if (question.series.empty()) question.series = "y";
  if (is_file) {
    const std::optional<std::string> bytes = read_bytes(options.target);
    if (!bytes) throw Error(ErrorKind::input, fmt::format("cannot read '{}'", options.target));
    const own::OutsideTable table = own::read_table(
        *bytes,
        options.target,
        {.kind = own::TableKind::replicates, .x_name = options.x, .x_required = false});
    refuse_summary(table.summary, options.target);
    Replicates replicates;
    replicates.add(
        {.first_replicate = 0, .outcomes = own::recorded_outcomes(table, options.x).outcomes}, {});
    replicates.finish();
    results = asked_exponents(question, replicates.curves(), 1);
    about = {{"table", options.target}};
  } else {
    const FinishedRun run(options.target, registry, options.accept_edits);
    const Configuration& values = run.configuration.values;
    refuse_summary(values.declares("simulation.summary") && values.has("simulation.summary") &&
                       values.flag("simulation.summary"),
                   options.target);
    results = asked ? asked_exponents(question, run.replicates.curves(), run.record.seed)
                    : declared_exponents(run);
    about = {{"study", run.record.study}, {"run", run.record.path.string()}};
  }
  tell(options, about, results);
  // Without an expected exponent there is nothing to be undecided about.
  return (asked || is_file) && !options.exponent ? kExitDone : exit_code(results);
}

}  // namespace attica::app
