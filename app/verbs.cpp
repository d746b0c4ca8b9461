#include "attica/app/verbs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "attica/app/check.hpp"
#include "attica/app/exit_codes.hpp"
#include "attica/app/run_folder.hpp"
#include "attica/app/runner.hpp"
#include "attica/plots/draw.hpp"

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

std::vector<ClaimResult> claims(const Study& study,
                                const Configuration& values,
                                std::vector<Prediction> theory,
                                const Replicates& replicates) {
  if (study.claims == nullptr) return {};
  return study.claims(values, {.theory = std::move(theory), .simulation = replicates.curves()});
}

/// A figure from records; a machine without gnuplot still has its run.
std::vector<fs::path> draw_run(const Study& study,
                               const Configuration& values,
                               const FigureData& data,
                               const DrawOptions& drawing) {
  return draw(study.figure(values), data, drawing);
}

/// The configuration a run recorded.
CheckedConfiguration recorded_configuration(const RunRecord& run, const Registry& registry) {
  try {
    return read_configuration(
        {.target = (run.path / "config.resolved.toml").string(), .preset = {}, .overrides = {}},
        registry);
  } catch (const Error& error) {
    throw Error(ErrorKind::storage, error.what());
  }
}

fs::path run_folder(const Options& options) {
  const fs::path path = fs::absolute(options.target);
  if (!fs::is_directory(path)) {
    throw Error(ErrorKind::input, fmt::format("'{}' is not a run folder", options.target));
  }
  return path.has_filename() ? path : path.parent_path();
}

RunRecord read_complete_run(const fs::path& folder) {
  RunRecord run = read_run(folder);
  if (!run.complete) {
    throw Error(
        ErrorKind::storage,
        fmt::format(
            "run '{}' is not finished; `attica status` says what is missing, `attica run --resume` "
            "carries on",
            folder.string()));
  }
  return run;
}

std::vector<std::pair<std::string, std::string>> figure_metadata(const std::string& name,
                                                                 const std::string& hash,
                                                                 const std::string& verdict) {
  return {{"run", name + "-" + hash}, {"hash", hash}, {"verdict", verdict}};
}

/// Everything after the last piece: tables, verdict, figure.
int finish(const Options& options,
           const Work& work,
           const RunFolder& folder,
           const std::string& name,
           const std::vector<PieceOfRun>& all,
           const TheoryRecord& theory,
           const std::vector<AgreementRule>& rules) {
  const CheckedConfiguration& c = work.configuration;
  const Replicates replicates = folder.collect(work, all);
  folder.write("replicates.csv", replicates_csv(c.study->name, replicates));
  folder.write("results.csv", results_csv(c.study->name, theory.predictions, &replicates));

  Json diagnostics = to_json(theory.diagnostics);
  diagnostics["statuses"] = replicates.statuses();
  if (!replicates.failures().empty()) diagnostics["failures"] = replicates.failures();
  const CheckRecord verdict =
      check({.study = c.study->name,
             .run = folder.path().string(),
             .rules = rules,
             .theory = theory.predictions,
             .simulation = &replicates,
             .claims = claims(*c.study, c.values, theory.predictions, replicates),
             .diagnostics = std::move(diagnostics),
             .family = c.values.text("check.family"),
             .seed = work.seed(),
             .post_hoc_margin = std::nullopt,
             .failed = theory.failed || !replicates.failures().empty()});
  folder.write("check.json", dump(verdict.object, 2) + "\n");
  folder.write("run.json", run_json(work, name, all.size(), rules, &replicates));

  std::vector<fs::path> figures;
  try {
    figures = draw_run(
        *c.study,
        c.values,
        {.curves = recorded_curves(theory.predictions, replicates), .residuals = verdict.residuals},
        {.folder = folder.path() / "plots",
         .formats = c.values.texts("plot.formats"),
         .metadata = figure_metadata(name, work.hash, std::string(describe(verdict.verdict)))});
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::storage) throw;
    remark(options, fmt::format("warning: no figure: {}", error.what()));
  }
  folder.log(verdict.object.at("summary").get<std::string>());

  if (options.json) {
    fmt::print("{}\n", dump(verdict.object, 2));
  } else {
    fmt::print("{}\n{}", verdict.object.at("summary").get<std::string>(), verdict.explanation);
    fmt::print("run     {}\n", folder.path().string());
    for (const fs::path& figure : figures) {
      if (figure.extension() == ".pdf" || figure.extension() == ".svg" ||
          figure.extension() == ".png") {
        fmt::print("figure  {}\n", figure.string());
      }
    }
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

/// Replicates already asked for in an earlier call on this folder: a resumed run never loses any.
std::uint64_t recorded_replicates(const fs::path& folder) {
  return fs::exists(folder / "run.json") ? read_run(folder).replicates : 0;
}

int carry_out(const Options& options, Work work, ExitOnSignal& signals) {
  const std::string name = options.name.empty() ? work.configuration.study->name : options.name;
  if (name.find('/') != std::string::npos)
    throw invalid_parameter("--name", name, "a name without '/'");
  const fs::path path = run_path(options.out, name, work);
  warn(options, work.warnings);
  const std::vector<AgreementRule> rules = agreement_rules(work);
  if (options.dry_run)
    return describe_dry_run(options, work, path, pieces(work, work.replicates()));

  const TheoryRecord theory = compute_theory(work, TheoryGrid::run);
  warn(options, theory.warnings);

  const RunFolder folder(path,
                         options.force    ? FolderMode::force
                         : options.resume ? FolderMode::resume
                                          : FolderMode::create);
  const std::uint64_t recorded = recorded_replicates(path);
  if (recorded > work.replicates()) {
    remark(options, fmt::format("the run has {} replicates already: keeping them", recorded));
    work.configuration.values.set("sim.replicates", static_cast<std::int64_t>(recorded), true);
  }
  const std::vector<PieceOfRun> all = pieces(work, work.replicates());
  const int threads = options.threads > 0 ? options.threads : default_threads();
  const std::string resolved = to_toml(work.configuration);
  folder.write("config.toml", work.configuration.text.empty() ? resolved : work.configuration.text);
  folder.write("config.resolved.toml", resolved);
  folder.write("provenance.json", provenance_json(work, options.command_line, threads));
  folder.write("theory.json", theory_json(theory));
  folder.write("run.json", run_json(work, name, all.size(), rules, nullptr));
  for (const std::string& warning : work.warnings) folder.log("warning: " + warning);

  folder.tidy(all);
  const std::vector<PieceOfRun> missing = folder.missing(all);
  if (missing.size() < all.size()) signals.checkpoint();
  folder.log(fmt::format("{} of {} pieces to do, {} threads", missing.size(), all.size(), threads));
  const RunnerEnd end =
      run_pieces(work,
                 missing,
                 [&](const PieceOfRun& piece, const PartRecord& part) {
                   folder.store(piece, part);
                   signals.checkpoint();
                 },
                 {.threads = threads, .max_seconds = options.max_seconds, .quiet = options.quiet});
  if (end != RunnerEnd::finished) {
    const std::size_t left = folder.missing(all).size();
    const std::string text =
        fmt::format("stopped with {} of {} pieces done; run again with --resume",
                    all.size() - left,
                    all.size());
    folder.log(text);
    fmt::print(stderr, "{}\n", text);
    const bool nothing_done = left == all.size();
    return end == RunnerEnd::interrupted && nothing_done ? kExitInterrupted : kExitStopped;
  }
  return finish(options, work, folder, name, all, theory, rules);
}

}  // namespace

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

int check_verb(const Options& options, const Registry& registry) {
  const fs::path path = run_folder(options);
  const RunRecord run = read_complete_run(path);
  const CheckedConfiguration c = recorded_configuration(run, registry);
  const Replicates replicates = read_replicates(path / "replicates.csv");
  const CheckRecord verdict =
      check({.study = run.study,
             .run = path.string(),
             .rules = run.rules,
             .theory = run.theory,
             .simulation = &replicates,
             .claims = claims(*c.study, c.values, run.theory, replicates),
             .diagnostics = run.diagnostics,
             .family = run.family,
             .seed = run.seed,
             .post_hoc_margin = options.margin,
             .failed = run.has_failures || run.diagnostics.contains("failed")});
  const FolderLock lock(path);
  write_atomically(path / "check.json", dump(verdict.object, 2) + "\n");
  if (options.json) {
    fmt::print("{}\n", dump(verdict.object, 2));
  } else {
    fmt::print("{}", verdict.text);
  }
  return verdict.exit_code;
}

int plot_verb(const Options& options, const Registry& registry) {
  const fs::path path = run_folder(options);
  const RunRecord run = read_complete_run(path);
  const CheckedConfiguration c = recorded_configuration(run, registry);
  const Replicates replicates = read_replicates(path / "replicates.csv");
  const CheckRecord verdict = check({.study = run.study,
                                     .run = path.string(),
                                     .rules = run.rules,
                                     .theory = run.theory,
                                     .simulation = &replicates,
                                     .claims = claims(*c.study, c.values, run.theory, replicates),
                                     .family = run.family,
                                     .seed = run.seed,
                                     .post_hoc_margin = std::nullopt});
  DrawOptions drawing{
      .folder = path / "plots",
      .formats = options.formats.empty() ? c.values.texts("plot.formats") : options.formats,
      .metadata = figure_metadata(run.name, run.hash, std::string(describe(verdict.verdict)))};
  if (!options.style.empty()) drawing.style = options.style;
  if (options.width == "full") drawing.width = FigureWidth::full;
  for (const fs::path& file :
       draw_run(*c.study,
                c.values,
                {.curves = recorded_curves(run.theory, replicates), .residuals = verdict.residuals},
                drawing)) {
    fmt::print("{}\n", file.string());
  }
  return kExitDone;
}

int status_verb(const Options& options, const Registry&) {
  const fs::path path = run_folder(options);
  const RunRecord run = read_run(path);
  std::size_t done = 0;
  if (fs::is_directory(path / "parts")) {
    for (const auto& entry : fs::directory_iterator(path / "parts"))
      done += entry.path().extension() == ".part" ? 1 : 0;
  }
  done = std::min(done, run.pieces);
  if (options.json) {
    fmt::print("{}\n",
               dump({{"study", run.study},
                     {"run", path.string()},
                     {"complete", run.complete},
                     {"pieces", run.pieces},
                     {"done", done},
                     {"missing", run.pieces - done},
                     {"replicates", run.replicates}},
                    2));
  } else {
    fmt::print(
        "study       {}\nrun         {}\nreplicates  {}\npieces      {} of {} done\nstate       "
        "{}\n",
        run.study,
        path.string(),
        run.replicates,
        done,
        run.pieces,
        run.complete ? "complete" : "unfinished: carry on with `attica run ... --resume`");
  }
  return kExitDone;
}

}  // namespace attica::app
