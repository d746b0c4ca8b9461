/// @file
/// @brief Verbs for what users bring: judge, two tables; bound, a bound against measured values.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/verbs/bound_text.hpp"
#include "attica/app/verbs/fit_subject.hpp"
#include "attica/app/verbs/verbs.hpp"
#include "attica/app/verbs/workflow_files.hpp"
#include "attica/app/verdict/judge_run.hpp"
#include "attica/core/input_files.hpp"
#include "attica/sources/bounds.hpp"
#include "attica/sources/keys.hpp"
#include "attica/sources/study.hpp"
#include "attica/sources/table.hpp"

namespace attica::app {

namespace fs = std::filesystem;

namespace {

/// The table of a file, as the options say its columns are.
std::shared_ptr<const sources::OutsideTable> table_of(InputFiles& files,
                                                      const std::string& file,
                                                      sources::TableKind kind,
                                                      const Options& options) {
  sources::TableColumns columns = options.columns;
  if (kind == sources::TableKind::theory) {
    // Several columns are replicates of a simulation; a theory's value is one.
    columns = {};
    if (options.columns.values.size() == 1) columns.values = options.columns.values;
    columns.replicate = options.columns.replicate;
  }
  return sources::table_of_file(
      files,
      fs::absolute(file),
      file,
      {.kind = kind, .x_name = options.x, .x_required = true, .columns = std::move(columns)});
}

/// The series of a table, in the order of their names.
std::set<std::string> series_of(const sources::OutsideTable& table) {
  std::set<std::string> all;
  for (const sources::TableRow& row : table.rows) all.insert(row.series);
  return all;
}

/// What the options say of a table of a simulation.
Table simulation_entries(const Options& options) {
  Table entries;
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) entries.emplace_back(fmt::format("simulation.{}", key), value);
  };
  const std::vector<std::string>& values = options.columns.values;
  if (!values.empty()) entries.emplace_back("simulation.value", List(values.begin(), values.end()));
  add("replicate", options.columns.replicate);
  add("sd", options.columns.sd);
  add("n", options.columns.n);
  add("cluster", options.cluster);
  if (options.independent) entries.emplace_back("simulation.independent", true);
  if (options.match) entries.emplace_back("check.match", *options.match);
  return entries;
}

/// What compares the two tables.
Table comparison_entries(const Options& options,
                         const std::set<std::string>& compared,
                         const List& without_theory) {
  Table entries{{"x", options.x},
                {"theory.file", options.target},
                {"simulation.file", options.second_target}};
  if (options.columns.values.size() == 1)
    entries.emplace_back("theory.value", options.columns.values.front());
  for (auto& entry : simulation_entries(options)) entries.push_back(std::move(entry));
  if (options.partial) entries.emplace_back("check.partial", true);
  if (!without_theory.empty()) entries.emplace_back("check.without_theory", without_theory);
  for (const std::string& series : compared) {
    const std::string key = "agreement." + series + ".";
    entries.emplace_back(key + "relative", options.margin.value_or(0));
    entries.emplace_back(key + "absolute", options.absolute);
    entries.emplace_back(key + "tails", options.tails);
  }
  return entries;
}

/// A table, with its columns as the options say; a configuration, with the options as its keys.
Work bounded_work(const Options& options, const Registry& registry) {
  const Table columns = simulation_entries(options);
  const fs::path path(options.target);
  if (fs::is_regular_file(path) && path.extension() != ".toml") {
    Table entries{{"x", options.x}, {"simulation.file", options.target}};
    entries.insert(entries.end(), columns.begin(), columns.end());
    return prepare(configuration_of(study_of_sides(), entries, options.overrides));
  }
  Options of_configuration = options;
  for (const auto& [key, value] : columns) {
    const std::string line = fmt::format("{}={}", key, to_toml(value));
    of_configuration.overrides.push_back({line, line});
  }
  return requested_simulation(of_configuration, registry);
}

/// The bounds of a run, problem by problem of its sweep.
std::vector<sources::BoundResult> bounds_of(const FinishedRun& run) {
  if (sources::names_in(run.configuration.values, "bound").empty()) {
    throw Error(
        ErrorKind::input,
        fmt::format("'{}' states no [[bound]]; --expression states one, docs/bounds.md shows how",
                    run.record.path.string()));
  }
  std::vector<sources::BoundResult> all;
  each_problem(run.configuration,
               {.theory = run.record.theory, .simulation = run.replicates.curves()},
               [&](const Configuration& values, const Point& front, const Observed& observed) {
                 for (sources::BoundResult& b : sources::judge_bounds(values, observed)) {
                   if (!front.empty()) b.name += " (" + describe(front) + ")";
                   all.push_back(std::move(b));
                 }
               });
  return all;
}

}  // namespace

int judge_verb(const Options& options, const Registry& /*registry*/) {
  // The tables are read once: here for their series, and by the run.
  const auto files = std::make_shared<InputFiles>();
  const auto theory = table_of(*files, options.target, sources::TableKind::theory, options);
  const auto simulation =
      table_of(*files, options.second_target, sources::TableKind::replicates, options);
  const std::set<std::string> of_theory = series_of(*theory);
  std::set<std::string> compared;
  List without_theory;
  for (const std::string& name : series_of(*simulation)) {
    if (of_theory.contains(name)) {
      compared.insert(name);
    } else {
      without_theory.emplace_back(name);
    }
  }
  warn(options.quiet || *files->bytes(fs::absolute(options.target)) !=
                            *files->bytes(fs::absolute(options.second_target)),
       {fmt::format("{} and {} have the same content: the simulation is compared with itself",
                    options.target,
                    options.second_target)});
  std::vector<std::string> without_simulation;
  std::ranges::set_difference(of_theory, compared, std::back_inserter(without_simulation));
  warn(options.quiet || without_simulation.empty(),
       {fmt::format("{}: no simulation of series {}, which is not compared",
                    options.target,
                    fmt::join(without_simulation, ", "))});
  CheckedConfiguration configuration = configuration_of(
      study_of_sides(), comparison_entries(options, compared, without_theory), options.overrides);
  configuration.values.inputs = files;
  Work work = prepare(std::move(configuration));
  RunRequest request = run_request(options);
  // The hash of a run is that of its tables: the same question has the same answer.
  if (!options.force) request.mode = FolderMode::resume;
  ExitOnSignal signals;
  const RunEnd end = carry_out(std::move(work), request, signals);
  if (end.verdict) write_workflow_files(options, *end.verdict);
  return announce(end, options.json);
}

int bound_verb(const Options& options, const Registry& registry) {
  if (!options.expression.empty()) return judge_statement(options, registry);
  if (options.probability || !options.constant.empty() || !options.reach.empty() ||
      !options.along.empty() || !options.series.empty() || options.tolerance ||
      options.direction != "upper") {
    throw Error(
        ErrorKind::input,
        "--direction, --probability, --constant, --series, --tolerance and --reach are of a "
        "bound that the command states; expected --expression E with them");
  }
  std::string folder = options.target;
  const auto no_bound = [&] {
    return Error(
        ErrorKind::input,
        fmt::format("'{}' states no [[bound]]: --expression '2*x' states one of a table or "
                    "a run; docs/bounds.md shows more",
                    options.target));
  };
  const bool stated =
      std::any_of(options.overrides.begin(), options.overrides.end(), [](const Override& o) {
        return o.shown.find("bound.") != std::string::npos;
      });
  if (fs::is_regular_file(folder) && fs::path(folder).extension() != ".toml" && !stated)
    throw no_bound();
  if (!fs::exists(fs::path(folder) / "run.json")) {
    Work work = bounded_work(options, registry);
    require_simulable(work);
    if (sources::names_in(work.configuration.values, "bound").empty()) throw no_bound();
    RunRequest request = run_request(options);
    if (!options.force) request.mode = FolderMode::resume;
    ExitOnSignal signals;
    const RunEnd end = carry_out(std::move(work), request, signals);
    if (!end.verdict) return end.exit_code;
    folder = end.folder.string();
  }
  const FinishedRun run(folder, registry, options.accept_edits);
  const std::vector<sources::BoundResult> bounds = bounds_of(run);
  int code = kExitDone;
  for (const sources::BoundResult& b : bounds) {
    if (b.verdict == sources::BoundVerdict::violated) code = kExitDisagree;
    if (b.verdict == sources::BoundVerdict::undecided && code == kExitDone)
      code = kExitInconclusive;
  }
  if (options.json) {
    Json list = Json::array();
    for (const sources::BoundResult& b : bounds) list.push_back(bound_object(b));
    print("bound",
          {{"study", run.record.study},
           {"run", run.record.path.string()},
           {"bounds", std::move(list)}});
  } else {
    for (const sources::BoundResult& b : bounds) put("{}", bound_text(b));
    put("run     {}\n", run.record.path.string());
  }
  return code;
}

}  // namespace attica::app
