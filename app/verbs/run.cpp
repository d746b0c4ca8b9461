/// @file
/// @brief Verbs that compute: run, demo, theory.

#include "attica/app/run/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/run/estimate.hpp"
#include "attica/app/run/failure.hpp"
#include "attica/app/run/files.hpp"
#include "attica/app/run/progress.hpp"
#include "attica/app/verbs/verbs.hpp"
#include "attica/app/verbs/workflow_files.hpp"
#include "attica/app/verdict/judge_run.hpp"
#include "attica/app/verdict/perturbation.hpp"
#include "attica/core/parallel.hpp"
#include "attica/sources/study.hpp"

namespace attica::app {

namespace fs = std::filesystem;

namespace {

int describe_dry_run(const Options& options, const Work& work, const RunRequest& request) {
  const fs::path path = run_path(request, work);
  const double pieces = requested_pieces(request, work);
  // Of all shards together: each takes its part.
  constexpr double kPatience = 3;
  const int threads = request.threads > 0 ? request.threads : default_threads();
  const auto replicates = static_cast<double>(work.replicates());
  const std::optional<CostEstimate> cost = estimate_cost(work, kPatience, options.quiet);
  std::size_t points = 0;
  for (const Problem& problem : work.problems) points += problem.experiment->points();
  if (options.json) {
    Json object{{"study", work.configuration.study->name},
                {"run", path.string()},
                {"exists", fs::exists(path)},
                {"problems", work.problems.size()},
                {"points", points},
                {"replicates", work.replicates()},
                {"pieces", static_cast<std::uint64_t>(pieces)}};
    if (cost) object["cost"] = cost_json(*cost, replicates, threads);
    print("dry-run", object);
    return kExitDone;
  }
  put("study       {}\nrun folder  {}{}\nproblems    {}\npoints      {}\nreplicates  {}\npieces    "
      "  {}\n{}",
      work.configuration.study->name,
      path.string(),
      fs::exists(path) ? " (exists)" : "",
      work.problems.size(),
      points,
      work.replicates(),
      static_cast<std::uint64_t>(pieces),
      cost ? cost_text(*cost, replicates, threads) : "");
  return kExitDone;
}

/// Whether a run of this name has finished pieces. Which of them is meant, the configuration tells
/// later.
bool has_parts(const Options& options) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(options.out.value_or("runs"), none)) {
    const std::string folder = entry.path().filename().string();
    if (!options.name.empty() && !folder.starts_with(options.name + "-")) continue;
    if (fs::directory_iterator(entry.path() / "parts", none) != fs::directory_iterator())
      return true;
  }
  return false;
}

}  // namespace

Work requested_work(const Options& options, const Registry& registry) {
  const Notice notice(options.quiet, "checking the problem; large ones take a while ...");
  return prepare(read_configuration(
      {.target = options.target, .preset = options.preset, .overrides = options.overrides},
      registry));
}

Work requested_simulation(const Options& options, const Registry& registry) {
  Work work = requested_work(options, registry);
  require_simulable(work);
  return work;
}

RunRequest run_request(const Options& options) {
  return {.out = options.out.value_or("runs"),
          .folder = options.folder,
          .name = options.name,
          .mode = options.force    ? FolderMode::force
                  : options.resume ? FolderMode::resume
                                   : FolderMode::create,
          .shard = options.shard,
          .until_decided = options.until_decided,
          .threads = options.threads,
          .max_seconds = options.max_seconds,
          .quiet = options.quiet,
          .command_line = options.command_line};
}

int announce(const RunEnd& end, bool json) {
  if (!end.verdict) return end.exit_code;
  const auto complain = [&] {
    const std::string failure = end.verdict->diagnostics.value("failure", std::string());
    if (!failure.empty()) say(fmt::format("attica: error: {}\n", failure));
  };
  if (json) {
    put("{}\n", dump(to_json(*end.verdict), 2));
    std::fflush(stdout);
    complain();
    if (end.unfinished) throw *end.unfinished;
    return end.exit_code;
  }
  const std::string resolution = resolution_line(*end.verdict);
  put("{}\n{}{}run     {}\n",
      summary(*end.verdict),
      explanation(*end.verdict),
      resolution.empty() ? "" : "Resolution: " + resolution + ".\n",
      end.folder.string());
  std::fflush(stdout);
  complain();
  if (end.unfinished) throw *end.unfinished;
  put("report  {}\n", (end.folder / "report.html").string());
  for (const fs::path& figure : end.figures) {
    if (figure.extension() != ".csv" && figure.extension() != ".gp")
      put("figure  {}\n", figure.string());
  }
  return end.exit_code;
}

int run_verb(const Options& options, const Registry& registry) {
  ExitOnSignal signals;
  Deadline deadline(options.max_seconds);
  Ranks ranks;
  const ThreadLimit limit(options.threads == 0 && ranks.count() > 1 ? 1 : options.threads);
  if (!ranks.leads()) {
    ranks.serve([&] { return requested_simulation(options, registry); });
    return kExitDone;
  }
  // A checkpoint is there from the start if the run that is resumed has one.
  if (options.resume && has_parts(options)) signals.checkpoint();
  Work work = requested_simulation(options, registry);
  RunRequest request = run_request(options);
  if (!options.perturbations.empty()) {
    if (options.shard) throw Error(ErrorKind::input, "--perturb and --shard exclude each other");
    // Another run than that of the right theory: another folder.
    work.hash = sha256(fmt::format("{} {}", work.hash, fmt::join(options.perturbations, " ")))
                    .substr(0, work.hash.size());
    request.perturbed = options.perturbations;
    request.perturbation = [&](const std::vector<Prediction>& theory) {
      return perturbed_theory(
          {.target = options.target, .preset = options.preset, .overrides = options.overrides},
          registry,
          theory,
          options.perturbations);
    };
  }
  if (options.dry_run) {
    // A theory that is a program is not run for this, nor is a long one computed.
    if (const auto sides = brought_sides(work.configuration); sides && sides->quick) {
      require_common_place(
          work, compute_theory(work, TheoryGrid::requested).predictions, agreement_rules(work));
    }
    return describe_dry_run(options, work, request);
  }
  const RunEnd end = carry_out(std::move(work), request, signals, &ranks, &deadline);
  if (request.shard && end.exit_code == kExitDone) {
    if (options.json) {
      put("{}\n",
          dump({{"run", end.folder.string()},
                {"shard", {{"index", request.shard->index}, {"count", request.shard->count}}}},
               2));
    } else {
      put("shard {} of {} is done; `attica merge` joins all of them\nrun     {}\n",
          request.shard->index,
          request.shard->count,
          end.folder.string());
    }
  }
  if (end.verdict) write_workflow_files(options, *end.verdict);
  return announce(end, options.json);
}

int demo_verb(const Options& options, const Registry& registry) {
  const auto has_demo = [](const Study& study) {
    return std::any_of(study.presets.begin(), study.presets.end(), [](const Preset& p) {
      return p.name == "demo";
    });
  };
  const auto study = std::find_if(registry.begin(), registry.end(), has_demo);
  if (study == registry.end()) throw Error(ErrorKind::input, "no study has a preset named 'demo'");
  Options demo = options;
  demo.target = study->name;
  demo.preset = "demo";
  demo.name = "demo";
  demo.resume = true;
  remark(options.quiet, fmt::format("{}\n{}", study->name, study->question));
  ExitOnSignal signals;
  const RunEnd end = carry_out(requested_simulation(demo, registry), run_request(demo), signals);
  const int code = announce(end, options.json);
  // It is there to show a figure: the warning has named the files that are missing.
  std::error_code ignored;
  bool drawn = false;
  for (const auto& file : fs::directory_iterator(end.folder / "plots", ignored))
    drawn = drawn || file.path().extension() == ".svg" || file.path().extension() == ".pdf" ||
            file.path().extension() == ".png";
  return code == kExitDone && !drawn ? kExitUsage : code;
}

int theory_verb(const Options& options, const Registry& registry) {
  const Work work = requested_work(options, registry);
  warn(options.quiet, work.warnings);
  TheoryRecord theory;
  {
    const Notice notice(options.quiet, kComputingTheory);
    theory = compute_theory(work, TheoryGrid::requested);
  }
  warn(options.quiet, theory.warnings);
  if (theory.predictions.empty()) {
    throw Error(ErrorKind::input,
                fmt::format("study '{}' has no theory to print", work.configuration.study->name));
  }
  if (options.json) {
    put("{}\n", dump(theory_object(work, theory), 2));
  } else {
    put("{}", results_csv(work.configuration.study->name, theory.predictions, nullptr));
  }
  // An infinite value is no row: it must not be missed.
  const auto diverged =
      std::ranges::find(theory.diagnostics, "diverged", &Table::value_type::first);
  if (diverged != theory.diagnostics.end()) {
    remark(options.quiet || options.json, diverged_theory_text(to_json(diverged->second)));
  }
  if (theory.failed) {
    const auto failed = std::find_if(theory.diagnostics.begin(),
                                     theory.diagnostics.end(),
                                     [](const auto& fact) { return fact.first == "failed"; });
    say(fmt::format("attica: error: {}; --json names all under diagnostics\n",
                    failed_theory_text(work.configuration, to_json(failed->second))));
  }
  return theory.failed ? kExitNumerical : kExitDone;
}

}  // namespace attica::app
