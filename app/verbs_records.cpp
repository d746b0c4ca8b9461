/// @file
/// @brief Verbs on a run that was recorded: check, plot, report, status. Nothing is simulated
/// again.

#include <fmt/format.h>

#include <algorithm>

#include "attica/app/exit_codes.hpp"
#include "attica/app/judge_run.hpp"
#include "attica/app/report_page.hpp"
#include "attica/app/verbs.hpp"
#include "attica/plots/draw.hpp"

namespace attica::app {

namespace fs = std::filesystem;

namespace {

fs::path run_folder(const std::string& target) {
  const fs::path path = fs::absolute(target);
  if (!fs::is_directory(path)) {
    throw Error(ErrorKind::input, fmt::format("'{}' is not a run folder", target));
  }
  return path.has_filename() ? path : path.parent_path();
}

CheckRecord verdict_on(const FinishedRun& run, std::optional<double> margin = std::nullopt) {
  return judge_run(run.record, run.configuration, run.replicates, margin);
}

}  // namespace

void print(const Json& json) { fmt::print("{}\n", dump(json, 2)); }

FinishedRun::FinishedRun(const std::string& folder, const Registry& registry)
    : record(read_run(run_folder(folder))) {
  if (record.shard) {
    throw Error(ErrorKind::storage,
                fmt::format("'{}' is shard {} of {}: join all of them by `attica merge`",
                            record.path.string(),
                            record.shard->index,
                            record.shard->count));
  }
  if (!record.complete) {
    throw Error(ErrorKind::storage,
                fmt::format("run '{}' is not finished; `attica status` says what is missing, "
                            "`attica run --resume` carries on",
                            record.path.string()));
  }
  configuration = recorded_configuration(record, registry);
  replicates = read_replicates(record.path / "replicates.csv");
}

int check_verb(const Options& options, const Registry& registry) {
  const FinishedRun run(options.target, registry);
  if (options.self_test) return self_test_check(options, run);
  if (options.extrapolate) return extrapolate_check(options, run);
  const CheckRecord verdict = verdict_on(run, options.margin);
  const FolderLock lock(run.record.path);
  const std::string json = dump(to_json(verdict), 2) + "\n";
  write_atomically(run.record.path / "check.json", json);
  fmt::print("{}", options.json ? json : text(verdict));
  return verdict.exit_code();
}

int plot_verb(const Options& options, const Registry& registry) {
  const FinishedRun run(options.target, registry);
  const CheckRecord verdict = verdict_on(run);
  const Figure figure = figure_of(run.record, run.configuration, run.replicates);
  DrawOptions drawing = draw_options(run.record, run.configuration.values, verdict);
  if (!options.formats.empty()) drawing.formats = options.formats;
  if (!options.style.empty()) drawing.style = options.style;
  if (!options.width.empty())
    drawing.width = options.width == "full" ? FigureWidth::full : FigureWidth::half;
  for (const fs::path& file :
       draw(figure, figure_data(run.record, run.replicates, verdict), drawing)) {
    fmt::print("{}\n", file.string());
  }
  return kExitDone;
}

int report_verb(const Options& options, const Registry& registry) {
  const FinishedRun run(options.target, registry);
  const FolderLock lock(run.record.path);
  const fs::path page = run.record.path / "report.html";
  write_atomically(page,
                   report_page(run.record.path,
                               *run.configuration.study,
                               figure_of(run.record, run.configuration, run.replicates)));
  fmt::print("{}\n", page.string());
  return kExitDone;
}

int status_verb(const Options& options, const Registry&) {
  const fs::path path = run_folder(options.target);
  const RunRecord run = read_run(path);
  std::size_t done = 0;
  if (fs::is_directory(path / "parts")) {
    for (const auto& entry : fs::directory_iterator(path / "parts"))
      done += entry.path().extension() == ".part" ? 1 : 0;
  }
  done = std::min(done, run.pieces);
  if (options.json) {
    print({{"study", run.study},
           {"run", path.string()},
           {"complete", run.complete},
           {"pieces", run.pieces},
           {"done", done},
           {"missing", run.pieces - done},
           {"replicates", run.replicates}});
  } else {
    fmt::print(
        "study       {}\nrun         {}{}\nreplicates  {}\npieces      {} of {} done\nstate       "
        "{}\n",
        run.study,
        path.string(),
        run.shard ? fmt::format(" (shard {} of {})", run.shard->index, run.shard->count) : "",
        run.replicates,
        done,
        run.pieces,
        run.complete                      ? "complete"
        : run.shard && done == run.pieces ? "done: join all shards by `attica merge`"
                                          : "unfinished: carry on with `attica run ... --resume`");
  }
  return kExitDone;
}

}  // namespace attica::app
