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

/// A finished run with everything its verdict and figure are made of.
struct FinishedRun {
  RunRecord record;
  CheckedConfiguration configuration;
  Replicates replicates;

  FinishedRun(const std::string& target, const Registry& registry)
      : record(read_run(run_folder(target))) {
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
                              "`attica run --resume` "
                              "carries on",
                              record.path.string()));
    }
    configuration = recorded_configuration(record, registry);
    replicates = read_replicates(record.path / "replicates.csv");
  }

  CheckRecord verdict(std::optional<double> margin = std::nullopt) const {
    return judge_run(record, configuration, replicates, margin);
  }
};

}  // namespace

int check_verb(const Options& options, const Registry& registry) {
  const FinishedRun run(options.target, registry);
  if (options.self_test) return self_test_check(options, run.record, run.replicates);
  if (options.extrapolate) {
    return extrapolate_check(options, *run.configuration.study, run.record, run.replicates);
  }
  const CheckRecord verdict = run.verdict(options.margin);
  const FolderLock lock(run.record.path);
  write_atomically(run.record.path / "check.json", dump(verdict.object, 2) + "\n");
  if (options.json) {
    fmt::print("{}\n", dump(verdict.object, 2));
  } else {
    fmt::print("{}", verdict.text);
  }
  return verdict.exit_code;
}

int plot_verb(const Options& options, const Registry& registry) {
  const FinishedRun run(options.target, registry);
  DrawOptions drawing = draw_options(run.record, run.configuration.values, run.verdict());
  if (!options.formats.empty()) drawing.formats = options.formats;
  if (!options.style.empty()) drawing.style = options.style;
  if (!options.width.empty())
    drawing.width = options.width == "full" ? FigureWidth::full : FigureWidth::half;
  for (const fs::path& file : draw(run.configuration.study->figure(run.configuration.values),
                                   figure_data(run.record, run.replicates, run.verdict()),
                                   drawing)) {
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
                               run.configuration.study->figure(run.configuration.values)));
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
