/// @file
/// @brief Verbs on a run that was recorded: check, plot, report, status. Nothing is simulated
/// again.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/paths.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/figures/figure_file.hpp"
#include "attica/app/figures/report_page.hpp"
#include "attica/app/figures/thinning.hpp"
#include "attica/app/run/manifest.hpp"
#include "attica/app/run/progress.hpp"
#include "attica/app/verbs/verbs.hpp"
#include "attica/app/verbs/workflow_files.hpp"
#include "attica/app/verdict/judge_run.hpp"
#include "attica/plots/draw.hpp"

namespace attica::app {

namespace fs = std::filesystem;

namespace {

fs::path run_folder(const std::string& target) {
  fs::path path = without_slash(target);
  if (!fs::is_directory(path)) {
    throw Error(ErrorKind::input, fmt::format("'{}' is not a run folder", target));
  }
  return path;
}

/// Whether this process may write there: somebody else's run can be judged all the same.
bool is_writable(const fs::path& folder) { return ::access(folder.c_str(), W_OK) == 0; }

/// Where files made from a run go: --out, or its own folder.
fs::path target_folder(const Options& options, const fs::path& own) {
  if (options.out) return *options.out;
  const fs::path run = own.filename() == "plots" ? own.parent_path() : own;
  if (is_writable(run)) return own;
  throw Error(ErrorKind::storage,
              fmt::format("the run folder '{}' cannot be written; --out DIR writes elsewhere",
                          run.string()));
}

CheckRecord verdict_on(const FinishedRun& run, std::optional<double> margin = std::nullopt) {
  return judge_run(run.record, run.configuration, run.replicates, margin);
}

}  // namespace

void print(std::string_view kind, Json json) {
  put("{}\n", dump(versioned(kind, std::move(json)), 2));
}

FinishedRun::FinishedRun(const std::string& folder, const Registry& registry, bool accept_edits)
    : record(read_run(run_folder(folder))) {
  if (record.shard) {
    throw Error(ErrorKind::storage,
                fmt::format("'{}' is shard {} of {}: join all of them by `attica merge`",
                            record.path.string(),
                            record.shard->index,
                            record.shard->count));
  }
  if (const std::string owner = lock_owner(record.path); !record.complete && !owner.empty()) {
    throw Error(
        ErrorKind::storage,
        fmt::format("run '{}' is not finished: {} works on it; `attica status` says how far "
                    "it is",
                    record.path.string(),
                    owner));
  }
  if (!record.complete) {
    throw Error(ErrorKind::storage,
                fmt::format("run '{}' is not finished; `attica status` says what is missing, "
                            "`attica run --resume` continues",
                            record.path.string()));
  }
  if (accept_edits) record.edited = edited_files(record.path);
  configuration = recorded_configuration(record, registry);
  replicates = recorded_replicates(record);  // what is damaged is told as such
  accepted_edits(record.path, accept_edits);
}

int check_verb(const Options& options, const Registry& registry) {
  const FinishedRun run(options.target, registry, options.accept_edits);
  for (const fs::path& file : changed_inputs(run.record)) {
    warn(options.quiet,
         {fmt::format("'{}' has changed since the run: claims that read it are judged by what it "
                      "holds now",
                      file.string())});
  }
  if (!options.perturbations.empty()) return perturbed_check(options, run, registry);
  if (options.sensitivity) return sensitivity_check(options, run, registry);
  if (options.self_test) return self_test_check(options, run);
  if (options.extrapolate) return extrapolate_check(options, run);
  const CheckRecord verdict = verdict_on(run, options.margin);
  const std::string json = dump(to_json(verdict), 2) + "\n";
  if (is_writable(run.record.path)) {
    const FolderLock lock(run.record.path);
    write_atomically(run.record.path / "check.json", json);
    seal_again(run.record.path, "check.json");
  } else {
    remark(options.quiet, "the run folder cannot be written: check.json stays as it is");
  }
  write_workflow_files(options, verdict);
  put("{}", options.json ? json : text(verdict));
  return verdict.exit_code();
}

void enter_drawing_options(const Options& options, DrawOptions& drawing) {
  if (!options.formats.empty()) drawing.formats = options.formats;
  if (!options.style.empty()) drawing.style = options.style;
  if (!options.width.empty()) {
    drawing.width = figure_width(options.width);
    drawing.look.width.reset();
  }
  drawing.replace_edited = options.force;
}

std::vector<fs::path> draw_files(const Options& options,
                                 const Figure& figure,
                                 const FigureData& data,
                                 const DrawOptions& drawing) {
  const fs::path script = drawing.folder / (figure.name + ".gp");
  if (!options.force && was_edited(script)) {
    throw Error(
        ErrorKind::storage,
        fmt::format("'{}' or its data was edited; --out DIR draws elsewhere, --force replaces them",
                    script.string()));
  }
  // What stays from an earlier drawing is not of this one.
  for (const char* format : {"svg", "pdf", "png", "tex"}) {
    const fs::path file = drawing.folder / (figure.name + "." + format);
    const bool drawn =
        std::find(drawing.formats.begin(), drawing.formats.end(), format) != drawing.formats.end();
    if (!drawn && fs::exists(file))
      remark(options.quiet, fmt::format("'{}' stays as it was drawn before", file.string()));
  }
  std::vector<fs::path> written = draw(figure, data, drawing);
  const std::string without = not_drawn(figure, drawing, written);
  if (!without.empty()) remark(false, fmt::format("warning: {}", without));
  return written;
}

int plot_verb(const Options& options, const Registry& registry) {
  const FigureChange change = read_figure_changes(options.overrides);
  const FinishedRun run(options.target, registry, options.accept_edits);
  const CheckRecord verdict = verdict_on(run);
  Figure figure = figure_of(run.record, run.configuration, run.replicates);
  DrawOptions drawing = draw_options(run.record, run.configuration, figure, verdict);
  FigureData data = figure_data(run.record, run.configuration, run.replicates, verdict);
  thin(figure, data);
  apply(change, figure, drawing);
  shade_bounds(figure, data, drawing);
  enter_drawing_options(options, drawing);
  drawing.folder = target_folder(options, drawing.folder);
  for (const fs::path& file : draw_files(options, figure, data, drawing))
    put("{}\n", file.string());
  return kExitDone;
}

int report_verb(const Options& options, const Registry& registry) {
  const FinishedRun run(options.target, registry, options.accept_edits);
  const fs::path folder = target_folder(options, run.record.path);
  std::optional<FolderLock> lock;
  if (options.out) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) {
      throw Error(ErrorKind::storage,
                  fmt::format("cannot make '{}': {}", folder.string(), error.message()));
    }
  } else {
    lock.emplace(run.record.path);
  }
  Figure figure = figure_of(run.record, run.configuration, run.replicates);
  FigureData data = figure_data(run.record, run.configuration, run.replicates, verdict_on(run));
  thin(figure, data);  // as it is drawn, for the caption
  const fs::path page = folder / "report.html";
  write_atomically(page, report_page(run.record, *run.configuration.study, figure));
  put("{}\n", page.string());
  return kExitDone;
}

int status_verb(const Options& options, const Registry&) {
  const fs::path path = run_folder(options.target);
  const RunRecord run = read_run(path);
  std::size_t done = 0;
  const std::string owner = run.complete ? std::string() : lock_owner(path);
  std::error_code gone;
  const fs::file_time_type begin = fs::last_write_time(path / ".lock", gone);
  std::size_t fresh = 0;  // of the process that works on it
  if (fs::is_directory(path / "parts")) {
    for (const auto& entry : fs::directory_iterator(path / "parts")) {
      if (entry.path().extension() != ".part") continue;
      ++done;
      const fs::file_time_type written = entry.last_write_time(gone);
      fresh += !gone && written >= begin;
    }
  }
  // A finished run is whole without its parts.
  const bool removed = run.complete && done == 0;
  done = run.complete ? run.pieces : std::min(done, run.pieces);
  std::optional<double> left;
  if (!owner.empty() && fresh > 0) {
    const double elapsed =
        std::chrono::duration<double>(fs::file_time_type::clock::now() - begin).count();
    left = elapsed * static_cast<double>(run.pieces - done) / static_cast<double>(fresh);
  }
  if (options.json) {
    print("status",
          {{"study", run.study},
           {"run", path.string()},
           {"complete", run.complete},
           {"state",
            run.complete    ? "complete"
            : owner.empty() ? "unfinished"
                            : "running"},
           {"running", owner.empty() ? Json() : Json(owner)},
           {"seconds_left", left ? Json(*left) : Json()},
           {"pieces", run.pieces},
           {"done", done},
           {"missing", run.pieces - done},
           {"replicates", run.replicates}});
  } else {
    put("study       {}\nrun         {}{}\nreplicates  {}\npieces      {} of {} done\nstate       "
        "{}\n",
        run.study,
        path.string(),
        run.shard ? fmt::format(" (shard {} of {})", run.shard->index, run.shard->count) : "",
        run.replicates,
        done,
        run.pieces,
        removed        ? std::string("complete; its parts were removed")
        : run.complete ? "complete"
        : !owner.empty()
            ? fmt::format("running, {}, {} of {} pieces{}",
                          owner,
                          done,
                          run.pieces,
                          left ? fmt::format(", about {} left", duration_text(*left)) : "")
        : run.shard && done == run.pieces ? "done: join all shards by `attica merge`"
                                          : "unfinished: continue with `attica run ... --resume`");
  }
  return kExitDone;
}

}  // namespace attica::app
