#include "attica/app/run/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <set>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/paths.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/figures/report_page.hpp"
#include "attica/app/figures/thinning.hpp"
#include "attica/app/run/failure.hpp"
#include "attica/app/run/manifest.hpp"
#include "attica/app/run/progress.hpp"
#include "attica/app/verdict/judge_run.hpp"
#include "attica/core/named_arrays.hpp"
#include "attica/core/parallel.hpp"
#include "attica/core/read_bytes.hpp"
#include "attica/plots/draw.hpp"
#include "attica/solvers/statistics/sequential.hpp"

namespace attica::app {

namespace fs = std::filesystem;

namespace {

/// Everything after the last piece: tables, verdict, figure, page. Written as the later verbs read
/// them.
RunEnd finish(const Work& work, const RunFolder& folder, const Replicates& replicates, bool drawn) {
  const CheckedConfiguration& c = work.configuration;
  const RunRecord run = read_run(folder.path());
  // The largest file of a run: the verdict does not wait until the disk has it.
  std::future<void> written =
      std::async(std::launch::async, [&folder, table = replicates_csv(c.study->name, replicates)] {
        folder.write("replicates.csv", table);
      });
  folder.write("results.csv", results_csv(c.study->name, run.theory, &replicates));
  RunEnd end{.exit_code = kExitDone,
             .folder = folder.path(),
             .verdict = judge_run(run, c, replicates),
             .figures = {},
             .unfinished = std::nullopt};
  end.exit_code = end.verdict->exit_code();
  if (std::string failure = failure_text(c, *end.verdict); !failure.empty())
    end.verdict->diagnostics["failure"] = std::move(failure);
  written.get();
  folder.write("check.json", dump(to_json(*end.verdict), 2) + "\n");
  folder.log(summary(*end.verdict));
  if (c.study->files != nullptr) {
    const Observed observed{.theory = run.theory, .simulation = replicates.curves()};
    for (const TextFile& file : c.study->files(c.values, observed)) {
      folder.write(file.name, file.content);
    }
  }
  if (!drawn) {
    seal(folder.path());
    return end;
  }
  Figure figure = figure_of(run, c, replicates);
  try {
    FigureData data = figure_data(run, c, replicates, *end.verdict);
    thin(figure, data);
    DrawOptions drawing = draw_options(run, c, figure, *end.verdict);
    shade_bounds(figure, data, drawing);
    if (const fs::path script = drawing.folder / (figure.name + ".gp"); was_edited(script)) {
      remark(false,
             fmt::format(
                 "warning: '{}' or its data was edited: the figure is left as it is; `attica plot "
                 "--force` draws it again, `--out DIR` elsewhere",
                 script.string()));
    } else {
      end.figures = draw(figure, data, drawing);
      const std::string without = not_drawn(figure, drawing, end.figures);
      if (!without.empty()) remark(false, fmt::format("warning: {}", without));
    }
  } catch (const Error& error) {
    // A machine without gnuplot still has its run, and a full disk does not swallow the verdict.
    if (error.kind() == ErrorKind::storage) {
      end.unfinished = error;
    } else {
      remark(false, fmt::format("warning: no figure: {}", error.what()));
    }
  }
  try {
    folder.write("report.html", report_page(run, *c.study, figure));
  } catch (const Error& error) {
    if (!end.unfinished) end.unfinished = error;
  }
  seal(folder.path());
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
  const std::size_t begun = folder.begun(planned);
  const std::string text = fmt::format(
      "stopped with {} of {} pieces done{}; {}",
      planned.size() - left,
      planned.size(),
      begun > 0 ? fmt::format(" and {} begun", begun) : "",
      request.simulate
          ? "run again with --resume"
          : "merge the other shards too, or let `attica run --resume` compute the rest");
  folder.log(text);
  say(text + "\n");
  const bool nothing_done = left == planned.size() && begun == 0;
  return {
      .exit_code = end == RunnerEnd::interrupted && nothing_done ? kExitInterrupted : kExitStopped,
      .folder = folder.path(),
      .verdict = std::nullopt,
      .figures = {},
      .unfinished = std::nullopt};
}

/// The finished run in the same folder whose data these will be, judged with another margin: its
/// name, empty if there is none.
std::string judged_before(const fs::path& path, const Work& work) {
  std::error_code none;
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(path.parent_path(), none)) {
    if (entry.path() == path || !fs::exists(entry.path() / "run.json", none)) continue;
    const Json run = Json::parse(
        read_bytes(entry.path() / "run.json").value_or(""), nullptr, /*allow_exceptions=*/false);
    const auto text = [&](const char* key) {
      return run.is_object() && run.contains(key) && run[key].is_string()
                 ? run[key].get<std::string>()
                 : std::string();
    };
    if (text("data_hash") == work.data_hash && text("hash") != work.hash &&
        run.value("complete", Json()) == Json(true)) {
      found.push_back(entry.path().filename().string());
    }
  }
  return found.empty() ? std::string() : *std::min_element(found.begin(), found.end());
}

/// For somebody who wants to resume, but has changed the configuration: unfinished runs of that
/// name beside the one that will be started, and in which keys they differ.
std::vector<std::string> unfinished_siblings(const fs::path& path,
                                             const std::string& name,
                                             const Work& work) {
  std::vector<std::string> remarks;
  std::error_code none;
  if (fs::exists(path)) return remarks;
  for (const auto& entry : fs::directory_iterator(path.parent_path(), none)) {
    constexpr std::size_t kHashDigits = 8;
    const std::string folder = entry.path().filename().string();
    if (!folder.starts_with(name + "-") || folder.size() != name.size() + 1 + kHashDigits ||
        !fs::exists(entry.path() / "run.json")) {
      continue;
    }
    try {
      const RunRecord run = read_run(entry.path());
      if (run.complete || run.study != work.configuration.study->name) continue;
      const Json now = parameters_object(work.configuration);
      const Json then = parameters_object(
          recorded_configuration(run, std::vector<Study>{*work.configuration.study}));
      std::vector<std::string> keys;
      for (const auto& [key, value] : now.items()) {
        if (key != "sim.replicates" && (!then.contains(key) || then[key] != value))
          keys.push_back(key);
      }
      for (const auto& [key, value] : then.items()) {
        if (!now.contains(key)) keys.push_back(key);
      }
      // One that differs in more is another question, and nobody wants to resume it.
      constexpr std::size_t kMostChanges = 4;
      if (keys.size() > kMostChanges) continue;
      remarks.push_back(
          fmt::format("this is a new run, '{}': the unfinished '{}' differs in {}",
                      path.filename().string(),
                      folder,
                      keys.empty() ? "its input files" : fmt::format("{}", fmt::join(keys, ", "))));
    } catch (const Error&) {  // a damaged neighbour is no matter here
    }
  }
  return remarks;
}

/// Input files by their full paths: the resolved configuration gives the same run from any folder.
/// What is installed with attica keeps its short name.
CheckedConfiguration with_full_paths(const Work& work) {
  CheckedConfiguration c = work.configuration;
  const fs::path installed = data_directory();
  for (const Parameter& p : all_parameters(*c.study)) {
    if (p.type != ParameterType::file || p.list || !c.values.has(p.key) || c.is_swept(p.key))
      continue;
    std::error_code unknown;
    const fs::path path = fs::weakly_canonical(c.values.input_file(p.key), unknown);
    const fs::path short_name = c.values.text(p.key);
    if (unknown || path == fs::weakly_canonical(installed / short_name, unknown)) continue;
    const std::string arrays = array_address(short_name.string()).suffix();
    c.values.set(p.key, path.string() + arrays, c.values.given(p.key));
  }
  return c;
}

/// The most pieces of a run: each is a file.
constexpr std::size_t kMostPieces = 1'000'000;

}  // namespace

void remark(bool quiet, const std::string& text) {
  if (!quiet) say(text + "\n");
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

void require_possible(const Work& work, std::span<const std::size_t> ends) {
  if (const double count = count_pieces(work, ends); count > static_cast<double>(kMostPieces)) {
    throw invalid_parameter(
        "sim.replicates",
        static_cast<double>(work.replicates()),
        fmt::format("fewer: the run would have {:.3g} pieces of work, a file each; at most {}",
                    count,
                    kMostPieces));
  }
}

/// Every shard has work to do.
void require_divisible(const RunRequest& request, double pieces) {
  if (!request.shard || static_cast<double>(request.shard->count) <= pieces) return;
  throw invalid_parameter("--shard",
                          fmt::format("{}/{}", request.shard->index, request.shard->count),
                          fmt::format("at most {} shards: the run has no more pieces", pieces));
}

fs::path run_path(const RunRequest& request, const Work& work) {
  const std::string name = request.name.empty() ? work.configuration.study->name : request.name;
  if (name.find('/') != std::string::npos || has_control_characters(name)) {
    throw invalid_parameter("--name", name, "a name without '/' and control characters");
  }
  fs::path path =
      request.folder.empty() ? run_path(request.out, name, work) : fs::absolute(request.folder);
  if (request.shard)
    path += fmt::format("-shard{}of{}", request.shard->index, request.shard->count);
  return path;
}

double requested_pieces(const RunRequest& request, const Work& work) {
  const double all = count_pieces(work, stopping_points(request, work.replicates()));
  require_divisible(request, all);
  if (!request.shard) return all;
  const auto count = static_cast<double>(request.shard->count);
  return std::max(0.0, std::ceil((all - static_cast<double>(request.shard->index - 1)) / count));
}

RunEnd carry_out(Work work,
                 const RunRequest& request,
                 ExitOnSignal& signals,
                 const Ranks* ranks,
                 Deadline* running) {
  std::optional<Deadline> own;
  Deadline& deadline = running != nullptr ? *running : own.emplace(request.max_seconds);
  const std::string name = request.name.empty() ? work.configuration.study->name : request.name;
  const fs::path path = run_path(request, work);
  warn(request.quiet, work.warnings);
  if (request.mode == FolderMode::resume) {
    warn(request.quiet, changed_inputs(path, name, work));
    warn(request.quiet, unfinished_siblings(path, name, work));
    std::error_code none;
    if (fs::directory_iterator(path / "parts", none) != fs::directory_iterator())
      signals.checkpoint();
  }
  const std::vector<AgreementRule> rules = agreement_rules(work);
  std::vector<std::size_t> ends = stopping_points(request, work.replicates());
  require_possible(work, ends);
  require_divisible(request, count_pieces(work, ends));

  std::set<std::string> told;  // of programs, after work.warnings
  std::string theory_text;
  if (request.theory_json) {
    theory_text = *request.theory_json;
  } else {
    TheoryRecord theory;
    {
      const Notice notice(request.quiet, kComputingTheory);
      theory = compute_theory(work, TheoryGrid::run);
    }
    warn(request.quiet, theory.warnings);
    told.insert(theory.warnings.begin(), theory.warnings.end());
    require_common_place(work, theory.predictions, rules);
    if (!request.perturbed.empty()) theory.predictions = request.perturbation(theory.predictions);
    theory_text = theory_json(theory);
  }

  const RunFolder folder(path, request.mode);
  std::vector<std::uint64_t> looks;
  // A margin that nobody gave was declared by the study before there were data.
  const bool given = work.configuration.values.given("check.margin");
  std::string judged = given ? judged_before(path, work) : std::string();
  if (const auto recorded = recorded_run(path)) {
    if (!request.folder.empty() && recorded->hash != work.hash) {
      throw invalid_parameter(
          "--folder", request.folder.string(), "a folder without another run; --force replaces it");
    }
    looks = recorded->looks;
    judged = recorded->judged_before;  // the margin was declared when the run was started
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
                     .finished = finished,
                     .perturbed = request.perturbed,
                     .looks = looks,
                     .judged_before = judged});
  };
  if (!judged.empty()) {
    warn(request.quiet,
         {fmt::format("the run '{}' has shown the same data already, with another margin: this "
                      "one counts as chosen post hoc; another --seed gives new data",
                      judged)});
  }
  const std::string resolved = to_toml(with_full_paths(work));
  folder.write("config.toml", work.configuration.text.empty() ? resolved : work.configuration.text);
  folder.write("config.resolved.toml", resolved);
  folder.write("provenance.json", provenance_json(work, request.command_line, threads));
  folder.write("theory.json", theory_text);
  folder.write("run.json", recorded_as(planned.size(), nullptr));
  for (const std::string& warning : work.warnings) folder.log("warning: " + warning);
  folder.tidy(planned);

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
    const RunnerEnd end = run_pieces(work,
                                     missing,
                                     [&](const PieceOfRun& piece, PartRecord part) {
                                       folder.store(piece, std::move(part));
                                       signals.checkpoint();
                                     },
                                     {.threads = threads,
                                      .max_seconds = deadline.left(),
                                      .quiet = request.quiet,
                                      .ranks = ranks,
                                      .states = folder.states()});
    // Programs have printed by now.
    for (const std::string& warning : work.new_warnings()) {
      if (!told.insert(warning).second) continue;
      warn(request.quiet, {warning});
      folder.log("warning: " + warning);
    }
    if (end != RunnerEnd::finished) return stopped(folder, request, planned, end);
    if (request.shard) {
      seal(path);
      break;
    }
    const Replicates replicates = folder.collect(work, all);
    work.configuration.values.set(
        "sim.replicates", static_cast<std::int64_t>(ends[look - 1]), true);
    if (!cap && (looks.empty() || looks.back() != work.replicates()))
      looks.push_back(work.replicates());
    folder.write("run.json", recorded_as(all.size(), &replicates));
    if (look < ends.size()) {
      const Verdict verdict = judge_run(read_run(path), work.configuration, replicates).verdict;
      folder.log(fmt::format("look at {} replicates: {}", ends[look - 1], describe(verdict)));
      if (verdict == Verdict::inconclusive) continue;
    }
    deadline.lift();
    return finish(work, folder, replicates, request.draw);
  }
  return {.exit_code = kExitDone,
          .folder = path,
          .verdict = std::nullopt,
          .figures = {},
          .unfinished = std::nullopt};
}

}  // namespace attica::app
