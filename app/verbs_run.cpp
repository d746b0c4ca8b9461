/// @file
/// @brief Verbs that compute: run, demo, theory.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "attica/app/exit_codes.hpp"
#include "attica/app/judge_run.hpp"
#include "attica/app/report_page.hpp"
#include "attica/app/run_folder.hpp"
#include "attica/app/runner.hpp"
#include "attica/app/verbs.hpp"
#include "attica/plots/draw.hpp"
#include "attica/solvers/sequential.hpp"

namespace attica::app {

namespace fs = std::filesystem;

namespace {

void remark(const Options& options, const std::string& text) {
  if (!options.quiet) fmt::print(stderr, "{}\n", text);
}

void warn(const Options& options, const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) remark(options, "warning: " + warning);
}

Work prepare(const Options& options, const Registry& registry) {
  return prepare(read_configuration(
      {.target = options.target, .preset = options.preset, .overrides = options.overrides},
      registry));
}

/// Everything after the last piece: tables, verdict, figure, page. Written as the later verbs read
/// them.
int finish(const Options& options,
           const Work& work,
           const RunFolder& folder,
           const Replicates& replicates) {
  const CheckedConfiguration& c = work.configuration;
  const RunRecord run = read_run(folder.path());
  folder.write("replicates.csv", replicates_csv(c.study->name, replicates));
  folder.write("results.csv", results_csv(c.study->name, run.theory, &replicates));
  const CheckRecord verdict = judge_run(run, c, replicates);
  folder.write("check.json", dump(verdict.object, 2) + "\n");
  if (c.study->files != nullptr) {
    const Observed observed{.theory = run.theory, .simulation = replicates.curves()};
    for (const TextFile& file : c.study->files(c.values, observed)) {
      folder.write(file.name, file.content);
    }
  }

  std::vector<fs::path> figures;
  try {
    figures = draw(c.study->figure(c.values),
                   figure_data(run, replicates, verdict),
                   draw_options(run, c.values, verdict));
  } catch (const Error& error) {
    // A machine without gnuplot still has its run.
    if (error.kind() == ErrorKind::storage) throw;
    remark(options, fmt::format("warning: no figure: {}", error.what()));
  }
  folder.write("report.html", report_page(folder.path(), *c.study, c.study->figure(c.values)));
  folder.log(verdict.object.at("summary").get<std::string>());

  if (options.json) {
    fmt::print("{}\n", dump(verdict.object, 2));
    return verdict.exit_code;
  }
  fmt::print("{}\n{}", verdict.object.at("summary").get<std::string>(), verdict.explanation);
  fmt::print(
      "run     {}\nreport  {}\n", folder.path().string(), (folder.path() / "report.html").string());
  for (const fs::path& figure : figures) {
    if (figure.extension() != ".csv" && figure.extension() != ".gp")
      fmt::print("figure  {}\n", figure.string());
  }
  return verdict.exit_code;
}

int describe_dry_run(const Options& options,
                     const Work& work,
                     const fs::path& path,
                     const std::vector<PieceOfRun>& all) {
  std::size_t points = 0;
  for (const Problem& problem : work.problems) points += problem.experiment->points();
  if (options.json) {
    fmt::print("{}\n",
               dump({{"study", work.configuration.study->name},
                     {"run", path.string()},
                     {"exists", fs::exists(path)},
                     {"problems", work.problems.size()},
                     {"points", points},
                     {"replicates", work.replicates()},
                     {"pieces", all.size()}},
                    2));
    return kExitDone;
  }
  fmt::print(
      "study       {}\nrun folder  {}{}\nproblems    {}\npoints      {}\nreplicates  {}\npieces    "
      "  {}\n",
      work.configuration.study->name,
      path.string(),
      fs::exists(path) ? " (exists)" : "",
      work.problems.size(),
      points,
      work.replicates(),
      all.size());
  return kExitDone;
}

/// What an earlier call on this folder asked for.
std::optional<RunRecord> recorded_run(const fs::path& folder) {
  if (!fs::exists(folder / "run.json") || !fs::exists(folder / "theory.json")) return std::nullopt;
  return read_run(folder);
}

/// Replicate numbers at which the run may stop.
std::vector<std::size_t> stopping_points(const Options& options, std::size_t replicates) {
  if (!options.until_decided) return {replicates};
  constexpr std::size_t kFewest = 30;
  if (replicates < kFewest) {
    throw invalid_parameter(
        "sim.replicates", static_cast<double>(replicates), "at least 30 with --until-decided");
  }
  return GroupSequentialRule(replicates, 1).replicates();
}

/// A resumed run never loses replicates, and keeps its way of stopping: a fixed number chosen after
/// a look at the data would not have the stated error rates.
void reconcile(const Options& options, const RunRecord& recorded, Work& work) {
  if (recorded.cap.has_value() != options.until_decided) {
    throw Error(
        ErrorKind::input,
        fmt::format("run '{}' was started {} --until-decided; resume it so, or use another --name",
                    recorded.path.string(),
                    recorded.cap ? "with" : "without"));
  }
  const std::uint64_t before = recorded.cap.value_or(recorded.replicates);
  if (options.until_decided && before != work.replicates()) {
    throw invalid_parameter(
        "sim.replicates",
        static_cast<double>(work.replicates()),
        fmt::format("{}, the largest number this run was started with", before));
  }
  if (before > work.replicates()) {
    remark(options, fmt::format("the run has {} replicates already: keeping them", before));
    work.configuration.values.set("sim.replicates", static_cast<std::int64_t>(before), true);
  }
}

/// Remarks for somebody who wants to resume a run whose input file has changed since: it has
/// another hash.
std::vector<std::string> changed_inputs(const fs::path& path,
                                        const std::string& name,
                                        const Work& work) {
  std::vector<std::string> remarks;
  if (fs::exists(path) || work.input_digests.empty() || !fs::is_directory(path.parent_path()))
    return remarks;
  for (const auto& entry : fs::directory_iterator(path.parent_path())) {
    if (!entry.path().filename().string().starts_with(name + "-") ||
        !fs::exists(entry.path() / "provenance.json")) {
      continue;
    }
    const Json inputs = Json::parse(read_whole(entry.path() / "provenance.json"), nullptr, false)
                            .value("inputs", Json::object());
    for (const auto& [file, digest] : work.input_digests) {
      if (inputs.contains(file) && inputs[file] != std::get<std::string>(digest)) {
        remarks.push_back(fmt::format("'{}' has changed since run '{}': this is another run, '{}'",
                                      file,
                                      entry.path().string(),
                                      path.string()));
      }
    }
  }
  return remarks;
}

int carry_out(const Options& options, Work work, ExitOnSignal& signals) {
  const std::string name = options.name.empty() ? work.configuration.study->name : options.name;
  if (name.find('/') != std::string::npos) {
    throw invalid_parameter("--name", name, "a name without '/'");
  }
  const fs::path path = run_path(options.out, name, work);
  warn(options, work.warnings);
  if (options.resume) warn(options, changed_inputs(path, name, work));
  const std::vector<AgreementRule> rules = agreement_rules(work);
  std::vector<std::size_t> ends = stopping_points(options, work.replicates());
  if (options.dry_run) return describe_dry_run(options, work, path, pieces(work, ends));

  const TheoryRecord theory = compute_theory(work, TheoryGrid::run);
  warn(options, theory.warnings);

  const RunFolder folder(path,
                         options.force    ? FolderMode::force
                         : options.resume ? FolderMode::resume
                                          : FolderMode::create);
  if (const auto recorded = recorded_run(path)) {
    reconcile(options, *recorded, work);
    ends = stopping_points(options, work.replicates());
  }
  const std::size_t most = ends.back();
  const std::optional<std::size_t> cap = options.until_decided ? std::optional(most) : std::nullopt;
  const std::vector<PieceOfRun> planned = pieces(work, ends);
  const int threads = options.threads > 0 ? options.threads : default_threads();
  const std::string resolved = to_toml(work.configuration);
  folder.write("config.toml", work.configuration.text.empty() ? resolved : work.configuration.text);
  folder.write("config.resolved.toml", resolved);
  folder.write("provenance.json", provenance_json(work, options.command_line, threads));
  folder.write("theory.json", theory_json(theory));
  folder.write("run.json", run_json(work, name, planned.size(), rules, cap, nullptr));
  for (const std::string& warning : work.warnings) folder.log("warning: " + warning);
  folder.tidy(planned);

  const auto start = std::chrono::steady_clock::now();
  for (std::size_t look = 1; look <= ends.size(); ++look) {
    const std::vector<PieceOfRun> all = pieces(work, std::span(ends).first(look));
    const std::vector<PieceOfRun> missing = folder.missing(all);
    if (missing.size() < all.size()) signals.checkpoint();
    folder.log(
        fmt::format("{} of {} pieces to do, {} threads", missing.size(), all.size(), threads));
    std::optional<double> seconds = options.max_seconds;
    if (seconds)
      *seconds -= std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const RunnerEnd end =
        run_pieces(work,
                   missing,
                   [&](const PieceOfRun& piece, const PartRecord& part) {
                     folder.store(piece, part);
                     signals.checkpoint();
                   },
                   {.threads = threads, .max_seconds = seconds, .quiet = options.quiet});
    if (end != RunnerEnd::finished) {
      const std::size_t left = folder.missing(planned).size();
      const std::string text =
          fmt::format("stopped with {} of {} pieces done; run again with --resume",
                      planned.size() - left,
                      planned.size());
      folder.log(text);
      fmt::print(stderr, "{}\n", text);
      const bool nothing_done = left == planned.size();
      return end == RunnerEnd::interrupted && nothing_done ? kExitInterrupted : kExitStopped;
    }
    const Replicates replicates = folder.collect(work, all);
    work.configuration.values.set(
        "sim.replicates", static_cast<std::int64_t>(ends[look - 1]), true);
    folder.write("run.json", run_json(work, name, all.size(), rules, cap, &replicates));
    if (look < ends.size()) {
      const Verdict verdict = judge_run(read_run(path), work.configuration, replicates).verdict;
      folder.log(fmt::format("look at {} replicates: {}", ends[look - 1], describe(verdict)));
      if (verdict == Verdict::inconclusive) continue;
    }
    return finish(options, work, folder, replicates);
  }
  return kExitInconclusive;
}

}  // namespace

std::vector<AgreementRule> agreement_rules(const Work& work) {
  const CheckedConfiguration& c = work.configuration;
  std::vector<AgreementRule> rules = c.study->agreement(c.values);
  if (c.values.has("check.margin")) {
    for (AgreementRule& rule : rules) rule.relative = c.values.real("check.margin");
  }
  for (const AgreementRule& rule : rules) {
    if (c.values.text("check.family") == "maxt" && rule.tails != Tails::normal) {
      throw invalid_parameter(
          "check.family",
          "maxt",
          fmt::format("holm: replicates of '{}' may have heavy tails", rule.series));
    }
  }
  return rules;
}

int run_verb(const Options& options, const Registry& registry) {
  ExitOnSignal signals;
  return carry_out(options, prepare(options, registry), signals);
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
  remark(options, fmt::format("{}\n{}", study->name, study->question));
  ExitOnSignal signals;
  return carry_out(demo, prepare(demo, registry), signals);
}

int theory_verb(const Options& options, const Registry& registry) {
  const Work work = prepare(options, registry);
  warn(options, work.warnings);
  const TheoryRecord theory = compute_theory(work, TheoryGrid::requested);
  warn(options, theory.warnings);
  if (theory.predictions.empty()) {
    throw Error(ErrorKind::input,
                fmt::format("study '{}' has no theory to print", work.configuration.study->name));
  }
  if (options.json) {
    fmt::print("{}\n", dump(theory_object(work, theory), 2));
  } else {
    fmt::print("{}", results_csv(work.configuration.study->name, theory.predictions, nullptr));
  }
  if (theory.failed) {
    fmt::print(stderr,
               "attica: error: the theory failed numerically at some points; --json names them "
               "under diagnostics\n");
  }
  return theory.failed ? kExitNumerical : kExitDone;
}

}  // namespace attica::app
