/// @file
/// @brief `attica fit`: scaling exponents of a run against those its study predicts or bounds.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "attica/app/exit_codes.hpp"
#include "attica/app/judge_run.hpp"
#include "attica/app/verbs.hpp"
#include "attica/studies/scaling.hpp"

namespace attica::app {
namespace {

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

}  // namespace

int fit_verb(const Options& options, const Registry& registry) {
  const FinishedRun run(options.target, registry, options.accept_edits);
  const Study& study = *run.configuration.study;
  if (study.exponents == nullptr) {
    throw Error(ErrorKind::input, fmt::format("study '{}' declares no exponents", study.name));
  }
  std::vector<ExponentResult> results;
  for (const ExponentClaim& claim : study.exponents(run.configuration.values)) {
    results.push_back(judge_exponent(claim, run.replicates.curves(), run.record.seed));
  }
  if (options.json) {
    Json exponents = Json::array();
    for (const ExponentResult& result : results) exponents.push_back(exponent_object(result));
    print({{"study", study.name}, {"run", run.record.path.string()}, {"exponents", exponents}});
  } else {
    for (const ExponentResult& result : results) fmt::print("{}", text(result));
  }
  return exit_code(results);
}

}  // namespace attica::app
