/// @file
/// @brief `attica fit`: scaling exponents of a run against those its study predicts or bounds, in
/// one size or several at once.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "attica/app/exit_codes.hpp"
#include "attica/app/exponents.hpp"
#include "attica/app/fit_subject.hpp"
#include "attica/app/judge_run.hpp"
#include "attica/app/text.hpp"
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
int joint_exit_code(const std::vector<ExponentResult>& results) {
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
std::vector<ExponentResult> asked_exponents(const Options& options, const FitSubject& subject) {
  const std::string& x = options.sizes.front();
  std::vector<ObservedCurve> arranged = against(subject.curves, subject.series, x);
  std::vector<Point> places;
  for (const ObservedCurve& curve : arranged) places.push_back(curve.mean.point);
  if (!subject.cap_series.empty()) {
    for (ObservedCurve& curve : against(subject.curves, subject.cap_series, x))
      arranged.push_back(std::move(curve));
  }
  std::vector<ExponentResult> results;
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
    results.push_back(judge_exponent(claim, arranged, subject.seed));
    if (!options.exponent) results.back().verdict = ExponentVerdict::undecided;
  }
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
    for (const ExponentResult& result : results) put("{}", text(result));
  }
}

}  // namespace

int fit_verb(const Options& given, const Registry& registry) {
  Options options = given;
  const bool is_file = std::filesystem::is_regular_file(options.target);
  const bool joint = options.sizes.size() > 1 || !options.windows.empty() ||
                     !options.corrections.empty() ||
                     (!options.expected.empty() && options.collapse.empty());
  const bool asked = !options.series.empty() || options.exponent || options.upper_bound || joint ||
                     !options.collapse.empty() || !options.sizes.empty();
  if (options.sizes.empty()) options.sizes = {"x"};
  std::vector<std::string> distinct = options.sizes;
  std::sort(distinct.begin(), distinct.end());
  if (std::adjacent_find(distinct.begin(), distinct.end()) != distinct.end())
    throw invalid_parameter("--x", options.sizes.back(), "every size once");
  if (joint && (options.exponent || options.upper_bound)) {
    throw Error(ErrorKind::input,
                "--exponent and --upper-bound are of one size; expected --expect NAME=P beside "
                "several sizes, --window and --correction");
  }
  if (options.collapse.empty() && (!options.held.empty() || !options.starts.empty()))
    throw Error(ErrorKind::input, "--hold and --start are of a collapse; expected --collapse NAME");
  FitSubject subject{.curves = {}, .series = options.series, .cap_series = {}, .about = {}};
  std::vector<ExponentResult> results;
  if (is_file) {
    const std::optional<std::string> bytes = read_bytes(options.target);
    if (!bytes) throw Error(ErrorKind::input, fmt::format("cannot read '{}'", options.target));
    const std::string x = options.sizes.front().substr(options.sizes.front().find('/') + 1);
    const own::OutsideTable table =
        own::read_table(*bytes,
                        options.target,
                        {.kind = own::TableKind::replicates, .x_name = x, .x_required = false});
    refuse_summary(table.summary, options.target);
    Replicates replicates;
    replicates.add({.first_replicate = 0, .outcomes = own::recorded_outcomes(table, x).outcomes},
                   {});
    replicates.finish();
    subject.curves = replicates.curves();
    subject.about = {{"table", options.target}};
  } else {
    const FinishedRun run(options.target, registry, options.accept_edits);
    const Configuration& values = run.configuration.values;
    refuse_summary(values.declares("simulation.summary") && values.has("simulation.summary") &&
                       values.flag("simulation.summary"),
                   options.target);
    subject.curves = run.replicates.curves();
    subject.seed = run.record.seed;
    subject.about = {{"study", run.record.study}, {"run", run.record.path.string()}};
    const Study& study = *run.configuration.study;
    if (!asked) {
      if (study.exponents == nullptr) {
        throw Error(
            ErrorKind::input,
            fmt::format(
                "study '{}' declares no exponents; --series, --x and --exponent ask for one",
                study.name));
      }
      results = declared_exponents(run.configuration, run.replicates, run.record.seed);
      if (results.empty()) {
        throw Error(ErrorKind::input,
                    fmt::format("the run has too few sizes for the exponents that '{}' declares; "
                                "--series and --x ask for another",
                                study.name));
      }
    } else if (study.exponents != nullptr) {
      // The study knows where its replicates give up.
      for (const ExponentClaim& claim : study.exponents(values)) {
        if (subject.series.empty()) subject.series = claim.series;
        if (claim.series == subject.series) subject.cap_series = claim.cap_series;
      }
    }
  }
  if (subject.series.empty()) subject.series = "y";
  if (!options.collapse.empty()) return fit_collapse_of(options, subject);
  if (joint) return fit_sizes_of(options, subject);
  if (asked || is_file) results = asked_exponents(options, subject);
  tell(options, subject.about, results);
  // Without an expected exponent there is nothing to be undecided about.
  return (asked || is_file) && !options.exponent ? kExitDone : joint_exit_code(results);
}

}  // namespace attica::app
