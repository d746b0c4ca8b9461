/// @file
/// @brief `attica plan`: how many replicates, and how much time, a verdict takes.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <mutex>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/run/estimate.hpp"
#include "attica/app/run/progress.hpp"
#include "attica/app/run/runner.hpp"
#include "attica/app/verbs/fit_subject.hpp"
#include "attica/app/verbs/verbs.hpp"
#include "attica/app/verdict/claim_plan.hpp"
#include "attica/app/verdict/comparison.hpp"
#include "attica/app/verdict/judge_run.hpp"
#include "attica/core/parallel.hpp"
#include "attica/solvers/statistics/agreement.hpp"
#include "attica/solvers/statistics/planning.hpp"
#include "attica/solvers/statistics/power.hpp"
#include "attica/solvers/statistics/resolution.hpp"

namespace attica::app {

namespace {

/// What a pilot measured.
struct Pilot {
  Replicates replicates;
  double seconds_per_replicate = 0;  ///< of all points together, on one thread
  double bytes_per_replicate = 0;    ///< on disk: tables and part files
};

Pilot run_pilot(const Work& work, int threads, bool quiet) {
  const std::vector<PieceOfRun> all = pieces(work, kPilotReplicates);
  std::vector<PartRecord> parts(all.size());
  std::mutex guard;
  const RunnerEnd end = run_pieces(
      work,
      all,
      [&](const PieceOfRun& piece, const PartRecord& part) {
        const auto k = static_cast<std::size_t>(
            std::find_if(all.begin(),
                         all.end(),
                         [&](const PieceOfRun& p) { return p.file_name() == piece.file_name(); }) -
            all.begin());
        const std::lock_guard lock(guard);
        parts[k] = part;
      },
      {.threads = threads, .max_seconds = std::nullopt, .quiet = quiet});
  if (end != RunnerEnd::finished) throw Error(ErrorKind::numerical, "the pilot was interrupted");
  Pilot pilot;
  double seconds = 0;
  std::size_t bytes = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    pilot.replicates.add(parts[k], work.problems[all[k].problem].coordinates);
    seconds += parts[k].seconds;
    bytes += encode(parts[k]).size();
  }
  pilot.replicates.finish();
  bytes += replicates_csv(work.configuration.study->name, pilot.replicates).size();
  pilot.seconds_per_replicate = seconds / static_cast<double>(kPilotReplicates);
  pilot.bytes_per_replicate = static_cast<double>(bytes) / static_cast<double>(kPilotReplicates);
  return pilot;
}

/// The run that was planned: everything that was asked for, with the number of replicates that the
/// plan states.
std::string planned_command(const Options& options, std::int64_t replicates) {
  std::string command = "attica run " + shell_word(options.target);
  if (!options.preset.empty()) command += " --preset " + shell_word(options.preset);
  for (const Override& o : options.overrides) {
    const auto space = o.shown.find(' ');
    command +=
        fmt::format(" {} {}", o.shown.substr(0, space), shell_word(o.shown.substr(space + 1)));
  }
  if (options.threads > 0) command += fmt::format(" --threads {}", options.threads);
  return fmt::format("{} --replicates {}", command, replicates);
}

std::string size_text(double bytes) {
  constexpr double kMega = 1e6;
  return fmt::format("{:.1f} MB", bytes / kMega);
}

/// `plan --resolution`: how many replicates notice a theory that is wrong by so much, per series.
int plan_resolution(const Options& options,
                    const Work& work,
                    const Comparison& comparison,
                    double seconds_per_replicate,
                    int threads) {
  const double x = *options.resolution;
  if (comparison.with_theory() == 0) {
    throw Error(ErrorKind::input,
                fmt::format("study '{}' compares nothing with a theory: there is no error of one "
                            "to be found",
                            work.configuration.study->name));
  }
  const RunVerdict pilot = judge(comparison.points);
  struct Need {
    std::optional<std::size_t> replicates;  ///< of the most demanding point
    std::string place;                      ///< where no number suffices, else the most demanding
    bool forbidden = false;                 ///< the margin is wider than the error at some point
  };
  std::map<std::string, Need> needs;
  for (std::size_t k = 0; k < comparison.points.size(); ++k) {
    // What the pilot rejects as it is needs no resolution.
    if (pilot.points[k].status == PointStatus::no_theory ||
        pilot.points[k].verdict == Verdict::disagree) {
      continue;
    }
    Need& need = needs[comparison.places[k].series];
    const auto n = replicates_to_resolve(comparison.points[k], pilot.points[k], x, pilot.compared);
    if (!n && !need.forbidden) {
      need = {.replicates = {}, .place = place_name(comparison.places[k]), .forbidden = true};
    } else if (n && !need.forbidden && n > need.replicates) {
      need.replicates = n;
      need.place = place_name(comparison.places[k]);
    }
  }
  bool forbidden = false;
  Json rows = Json::array();
  if (needs.empty() && !options.json)
    put("the pilot rejects the theory as it is, at every point\n");
  for (const auto& [series, need] : needs) {
    forbidden = forbidden || need.forbidden;
    rows.push_back({{"series", series},
                    {"replicates", need.forbidden ? Json("none") : Json(*need.replicates)},
                    {"at", need.place}});
    if (options.json) continue;
    if (need.forbidden) {
      put("{:<20} no number: at {} the margin itself is {:.2g} % or wider\n",
          series,
          need.place,
          100 * x);
    } else {
      put("{:<20} {} replicates, {} on {} threads (most at {})\n",
          series,
          *need.replicates,
          duration_text(seconds_per_replicate * static_cast<double>(*need.replicates) / threads),
          threads,
          need.place);
    }
  }
  if (options.json) {
    print("plan",
          {{"study", work.configuration.study->name},
           {"resolution", x},
           {"pilot_replicates", kPilotReplicates},
           {"series", std::move(rows)}});
  }
  return forbidden ? kExitInconclusive : kExitDone;
}

/// What the compared points of a run ask for.
struct PointPlan {
  std::size_t points = 0;
  Plan right;    ///< if the theory is right
  Plan if_real;  ///< if it is off by what the pilot shows
  std::string hardest;
};

/// @throws Error (input) if no number of replicates suffices
PointPlan plan_points(const Options& options,
                      const Comparison& comparison,
                      double seconds_per_replicate,
                      int threads) {
  const std::vector<SampleSummary> samples = summarise(comparison.points);
  std::vector<PilotPoint> points;
  std::vector<std::size_t> index;
  for (std::size_t k = 0; k < comparison.points.size(); ++k) {
    const ComparedPoint& p = comparison.points[k];
    if (!p.theory) continue;
    points.push_back({.sample = samples[k],
                      .margin = p.margin.total(*p.theory),
                      .delta = 0,
                      .tails = p.tails,
                      .seconds = 0});
    index.push_back(k);
  }
  PointPlan result{.points = points.size(), .right = {}, .if_real = {}, .hardest = {}};
  if (points.empty()) return result;
  for (PilotPoint& p : points)
    p.seconds = seconds_per_replicate / static_cast<double>(points.size());
  const PlanGoal goal{.power = options.power, .points = points.size(), .shared = true};
  result.right = plan_run(points, goal, static_cast<std::size_t>(threads));

  std::size_t hardest = 0;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const auto& needed = result.right.replicates[k];
    const auto& most = result.right.replicates[hardest];
    if (!needed || (most && *needed > *most)) hardest = k;
    if (!needed) break;
  }
  result.hardest = place_name(comparison.places[index[hardest]]);
  if (!result.right.run_replicates || !result.right.seconds) {
    throw Error(ErrorKind::input,
                fmt::format("no number of replicates suffices: at {} the margin {:.3g} is below "
                            "what the theory leaves out",
                            result.hardest,
                            points[hardest].margin),
                "check.margin");
  }
  // The pilot's own differences, noisy as they are, say what a theory that is off by as much would
  // need.
  for (std::size_t k = 0; k < points.size(); ++k) {
    const ComparedPoint& p = comparison.points[index[k]];
    points[k].delta = points[k].sample.mean - *p.theory;
  }
  result.if_real = plan_run(points, goal, static_cast<std::size_t>(threads));
  return result;
}

std::int64_t rounded(double n) { return static_cast<std::int64_t>(std::ceil(n)); }

}  // namespace

int plan_verb(const Options& options, const Registry& registry) {
  namespace fs = std::filesystem;
  const fs::path target(options.target);
  if ((fs::is_regular_file(target) && target.extension() != ".toml") ||
      fs::exists(target / "run.json"))
    return plan_pilot(options, registry);
  if (options.planned_width || !options.expression.empty() || !options.sizes.empty() ||
      !options.reach.empty() || options.exponent || options.floor) {
    throw Error(ErrorKind::input,
                fmt::format("'{}' is neither a table nor the folder of a run: --width, --x, "
                            "--exponent and --expression are of a pilot that was made before",
                            options.target));
  }
  for (const Override& o : options.overrides) {
    if (o.shown.starts_with("--replicates "))
      throw Error(ErrorKind::input,
                  fmt::format("{}: `plan` estimates the number of replicates, from a pilot of {}; "
                              "leave the option out",
                              o.shown,
                              kPilotReplicates));
  }
  const Work work = requested_simulation(options, registry);
  const CheckedConfiguration& c = work.configuration;
  const int threads = options.threads > 0 ? options.threads : default_threads();
  constexpr double kPatience = 3;
  const auto pilot_replicates = static_cast<double>(kPilotReplicates);
  if (const auto cost = estimate_cost(work, kPatience, options.quiet)) {
    remark(options.quiet,
           fmt::format("the pilot of {} replicates takes {} {}",
                       kPilotReplicates,
                       cost->complete ? "about" : "more than",
                       duration_text(cost->seconds(pilot_replicates, threads))));
  }
  TheoryRecord theory;
  {
    const Notice notice(options.quiet, kComputingTheory);
    theory = compute_theory(work, TheoryGrid::run);
  }
  const Pilot pilot = run_pilot(work, threads, options.quiet);
  const Comparison comparison = compare(agreement_rules(work),
                                        theory.predictions,
                                        pilot.replicates,
                                        comparison_options(work.configuration));
  if (options.resolution)
    return plan_resolution(options, work, comparison, pilot.seconds_per_replicate, threads);
  const PointPlan points = plan_points(options, comparison, pilot.seconds_per_replicate, threads);
  const ClaimPlan claims =
      plan_claims(c,
                  {.theory = theory.predictions, .simulation = pilot.replicates.curves()},
                  kPilotReplicates,
                  options.power,
                  work.seed());
  if (points.points == 0 && claims.claims == 0) {
    throw Error(
        ErrorKind::input,
        fmt::format("study '{}' compares and claims nothing that could be planned", c.study->name));
  }
  // All points and claims take the largest number; the run makes the pilot's replicates anew.
  const bool decided = claims.claims == 0 || claims.replicates.has_value();
  PlannedRange replicates = points.right.run_replicates.value_or(PlannedRange{});
  PlannedRange seconds = points.right.seconds.value_or(PlannedRange{});
  const auto of_claims = static_cast<double>(claims.replicates.value_or(0));
  const double seconds_of_claims =
      of_claims * pilot.seconds_per_replicate / static_cast<double>(threads);
  for (double PlannedRange::*value :
       {&PlannedRange::expected, &PlannedRange::low, &PlannedRange::high}) {
    replicates.*value = std::max(replicates.*value, of_claims);
    seconds.*value = std::max(seconds.*value, seconds_of_claims);
  }
  const double bytes = pilot.bytes_per_replicate * replicates.expected;
  const auto none_or = [](const auto& number) { return number ? Json(*number) : Json("none"); };
  if (options.json) {
    Json object{{"study", c.study->name},
                {"power", options.power},
                {"points", points.points},
                {"claims", claims.claims},
                {"pilot_replicates", kPilotReplicates}};
    if (points.points > 0) {
      const auto& if_real = points.if_real.run_replicates;
      object["replicates_if_pilot_differences_are_real"] =
          if_real ? Json(rounded(if_real->expected)) : Json("none");
      object["hardest_point"] = points.hardest;
    }
    if (claims.claims > 0) {
      object["claims_shown_by_pilot"] = claims.shown;
      object["replicates_of_claims"] = none_or(claims.replicates);
      if (!claims.hardest.empty()) object["hardest_claim"] = claims.hardest;
    }
    if (decided) {
      object["replicates"] = rounded(replicates.expected);
      object["replicates_range"] = {rounded(replicates.low), rounded(replicates.high)};
      object["seconds"] = seconds.expected;
      object["seconds_range"] = {seconds.low, seconds.high};
      object["bytes"] = bytes;
    }
    object["threads"] = threads;
    print("plan", object);
    return decided ? kExitDone : kExitInconclusive;
  }
  put("pilot        {} replicates of {} points\n", kPilotReplicates, points.points);
  if (points.points > 0) {
    const PlannedRange& right = *points.right.run_replicates;
    const auto& if_real = points.if_real.run_replicates;
    put("points       {} ({} to {}) replicates for AGREE with probability {} if the theory is "
        "right\n"
        "             {} if it is off by what the pilot shows; hardest: {}\n",
        rounded(right.expected),
        rounded(right.low),
        rounded(right.high),
        options.power,
        if_real ? fmt::format("{}", rounded(if_real->expected)) : "no number",
        points.hardest);
  }
  if (claims.claims > 0) {
    put("claims       {} of {} shown by the pilot; {}{}\n",
        claims.shown,
        claims.claims,
        claims.replicates
            ? fmt::format("{} replicates show all with probability {} if it is typical",
                          *claims.replicates,
                          options.power)
            : fmt::format("up to {} replicates do not show all if it is typical", kMostPlanned),
        claims.hardest.empty() ? "" : "; hardest: " + claims.hardest);
  }
  if (!decided) return kExitInconclusive;
  put("replicates   {} ({} to {})\n"
      "time         {} ({} to {}) on {} threads\n"
      "disk         {}\n"
      "then         {}\n",
      rounded(replicates.expected),
      rounded(replicates.low),
      rounded(replicates.high),
      duration_text(seconds.expected),
      duration_text(seconds.low),
      duration_text(seconds.high),
      threads,
      size_text(bytes),
      planned_command(options, rounded(replicates.expected)));
  return kExitDone;
}

}  // namespace attica::app
