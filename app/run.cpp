#include "attica/app/run.hpp"

#include <fmt/format.h>

#include <chrono>

#include "attica/app/exit_codes.hpp"
#include "attica/app/judge_run.hpp"
#include "attica/app/report_page.hpp"
#include "attica/plots/draw.hpp"
#include "attica/solvers/statistics/sequential.hpp"

namespace attica::app {

namespace fs = std::filesystem;

namespace {

/// Everything after the last piece: tables, verdict, figure, page. Written as the later verbs read
/// them.
RunEnd finish(const Work& work, const RunFolder& folder, const Replicates& replicates) {
  const CheckedConfiguration& c = work.configuration;
  const RunRecord run = read_run(folder.path());
  folder.write("replicates.csv", replicates_csv(c.study->name, replicates));
  folder.write("results.csv", results_csv(c.study->name, run.theory, &replicates));
  RunEnd end{.exit_code = kExitDone,
             .folder = folder.path(),
             .verdict = judge_run(run, c, replicates),
             .figures = {}};
  end.exit_code = end.verdict->exit_code();
  folder.write("check.json", dump(to_json(*end.verdict), 2) + "\n");
  if (c.study->files != nullptr) {
    const Observed observed{.theory = run.theory, .simulation = replicates.curves()};
    for (const TextFile& file : c.study->files(c.values, observed)) {
      folder.write(file.name, file.content);
    }
  }
  try {
    end.figures = draw(figure_of(run, c, replicates),
                       figure_data(run, replicates, *end.verdict),
                       draw_options(run, c.values, *end.verdict));
  } catch (const Error& error) {
    // A machine without gnuplot still has its run.
    if (error.kind() == ErrorKind::storage) throw;
    remark(false, fmt::format("warning: no figure: {}", error.what()));
  }
  folder.write("report.html", report_page(folder.path(), *c.study, figure_of(run, c, replicates)));
  folder.log(summary(*end.verdict));
  return end;
}

/// What an earlier call on this folder asked for.
std::optional<RunRecord> recorded_run(const fs::path& folder) {
  if (!fs::exists(folder / "run.json") || !fs::exists(folder / "theory.json")) return std::nullopt;
  return read_run(folder);
}

/// Replicate numbers at which the run may stop.
std::vector<std::size_t> stopping_points(const RunRequest& request, std::size_t replicates) {
  if (!request.until_decided) return {replicates};
  constexpr std::size_t kFewest = 30;
  if (replicates < kFewest) {
    throw invalid_parameter(
        "sim.replicates", static_cast<double>(replicates), "at least 30 with --until-decided");
  }
  return GroupSequentialRule(replicates, 1).replicates();
}

/// A resumed run never loses replicates, and keeps its way of stopping: a fixed number chosen after
/// a look at the data would not have the stated error rates.
void reconcile(const RunRequest& request, const RunRecord& recorded, Work& work) {
  if (recorded.cap.has_value() != request.until_decided) {
    throw Error(
        ErrorKind::input,
        fmt::format("run '{}' was started {} --until-decided; resume it so, or use another --name",
                    recorded.path.string(),
                    recorded.cap ? "with" : "without"));
  }
  const std::uint64_t before = recorded.cap.value_or(recorded.replicates);
  if (request.until_decided && before != work.replicates()) {
    throw invalid_parameter(
        "sim.replicates",
        static_cast<double>(work.replicates()),
        fmt::format("{}, the largest number this run was started with", before));
  }
  if (before > work.replicates()) {
    remark(request.quiet, fmt::format("the run has {} replicates already: keeping them", before));
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

/// The pieces of this request among those of the whole run.
std::vector<PieceOfRun> own_pieces(const RunRequest& request,
                                   const Work& work,
                                   std::span<const std::size_t> ends) {
  const std::vector<PieceOfRun> all = pieces(work, ends);
  return request.shard ? share(all, *request.shard) : all;
}

/// What is said of a run that has pieces left, and its exit code.
RunEnd stopped(const RunFolder& folder,
               const RunRequest& request,
               const std::vector<PieceOfRun>& planned,
               RunnerEnd end) {
  const std::size_t left = folder.missing(planned).size();
  const std::string text = fmt::format(
      "stopped with {} of {} pieces done; {}",
      planned.size() - left,
      planned.size(),
      request.simulate
          ? "run again with --resume"
          : "merge the other shards too, or let `attica run --resume` compute the rest");
  folder.log(text);
  fmt::print(stderr, "{}\n", text);
  const bool nothing_done = left == planned.size();
  return {
      .exit_code = end == RunnerEnd::interrupted && nothing_done ? kExitInterrupted : kExitStopped,
      .folder = folder.path(),
      .verdict = std::nullopt,
      .figures = {}};
}

}  // namespace

void remark(bool quiet, const std::string& text) {
  if (!quiet) fmt::print(stderr, "{}\n", text);
}

void warn(bool quiet, const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) remark(quiet, "warning: " + warning);
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

fs::path run_path(const RunRequest& request, const Work& work) {
  const std::string name = request.name.empty() ? work.configuration.study->name : request.name;
  if (name.find('/') != std::string::npos) {
    throw invalid_parameter("--name", name, "a name without '/'");
  }
  fs::path path = run_path(request.out, name, work);
  if (request.shard)
    path += fmt::format("-shard{}of{}", request.shard->index, request.shard->count);
  return path;
}

std::vector<PieceOfRun> requested_pieces(const RunRequest& request, const Work& work) {
  return own_pieces(request, work, stopping_points(request, work.replicates()));
}

RunEnd carry_out(Work work, const RunRequest& request, ExitOnSignal& signals, const Ranks* ranks) {
  const std::string name = request.name.empty() ? work.configuration.study->name : request.name;
  const fs::path path = run_path(request, work);
  warn(request.quiet, work.warnings);
  if (request.mode == FolderMode::resume) warn(request.quiet, changed_inputs(path, name, work));
  const std::vector<AgreementRule> rules = agreement_rules(work);
  std::vector<std::size_t> ends = stopping_points(request, work.replicates());
  if (request.shard && request.shard->count > pieces(work, ends).size()) {
    throw invalid_parameter(
        "--shard",
        fmt::format("{}/{}", request.shard->index, request.shard->count),
        fmt::format("at most {} shards: the run has no more pieces", pieces(work, ends).size()));
  }

  std::string theory_text;
  if (request.theory_json) {
    theory_text = *request.theory_json;
  } else {
    const TheoryRecord theory = compute_theory(work, TheoryGrid::run);
    warn(request.quiet, theory.warnings);
    theory_text = theory_json(theory);
  }

  const RunFolder folder(path, request.mode);
  if (const auto recorded = recorded_run(path)) {
    reconcile(request, *recorded, work);
    ends = stopping_points(request, work.replicates());
  }
  const std::size_t most = ends.back();
  const std::optional<std::size_t> cap = request.until_decided ? std::optional(most) : std::nullopt;
  const std::vector<PieceOfRun> planned = own_pieces(request, work, ends);
  const std::size_t processes = ranks == nullptr ? 1 : ranks->count();
  const int threads = request.threads > 0 ? request.threads : processes > 1 ? 1 : default_threads();
  const auto recorded_as = [&](std::size_t pieces, const Replicates* finished) {
    return run_json(work,
                    {.name = name,
                     .pieces = pieces,
                     .rules = rules,
                     .cap = cap,
                     .shard = request.shard,
                     .finished = finished});
  };
  const std::string resolved = to_toml(work.configuration);
  folder.write("config.toml", work.configuration.text.empty() ? resolved : work.configuration.text);
  folder.write("config.resolved.toml", resolved);
  folder.write("provenance.json", provenance_json(work, request.command_line, threads));
  folder.write("theory.json", theory_text);
  folder.write("run.json", recorded_as(planned.size(), nullptr));
  for (const std::string& warning : work.warnings) folder.log("warning: " + warning);
  folder.tidy(planned);

  const auto start = std::chrono::steady_clock::now();
  for (std::size_t look = 1; look <= ends.size(); ++look) {
    const std::vector<PieceOfRun> all = own_pieces(request, work, std::span(ends).first(look));
    const std::vector<PieceOfRun> missing = folder.missing(all);
    if (missing.size() < all.size()) signals.checkpoint();
    folder.log(fmt::format("{} of {} pieces to do, {} threads, {} processes",
                           missing.size(),
                           all.size(),
                           threads,
                           processes));
    if (!request.simulate && !missing.empty())
      return stopped(folder, request, planned, RunnerEnd::out_of_time);
    std::optional<double> seconds = request.max_seconds;
    if (seconds)
      *seconds -= std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const RunnerEnd end = run_pieces(
        work,
        missing,
        [&](const PieceOfRun& piece, const PartRecord& part) {
          folder.store(piece, part);
          signals.checkpoint();
        },
        {.threads = threads, .max_seconds = seconds, .quiet = request.quiet, .ranks = ranks});
    if (end != RunnerEnd::finished) return stopped(folder, request, planned, end);
    if (request.shard) break;
    const Replicates replicates = folder.collect(work, all);
    work.configuration.values.set(
        "sim.replicates", static_cast<std::int64_t>(ends[look - 1]), true);
    folder.write("run.json", recorded_as(all.size(), &replicates));
    if (look < ends.size()) {
      const Verdict verdict = judge_run(read_run(path), work.configuration, replicates).verdict;
      folder.log(fmt::format("look at {} replicates: {}", ends[look - 1], describe(verdict)));
      if (verdict == Verdict::inconclusive) continue;
    }
    return finish(work, folder, replicates);
  }
  return {.exit_code = kExitDone, .folder = path, .verdict = std::nullopt, .figures = {}};
}

}  // namespace attica::app
