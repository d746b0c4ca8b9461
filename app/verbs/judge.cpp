/// @file
/// @brief Verbs for what users bring: judge, two tables; bound, a bound against measured values.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/verbs/verbs.hpp"
#include "attica/app/verdict/judge_run.hpp"
#include "attica/core/read_bytes.hpp"
#include "attica/studies/own/bounds.hpp"
#include "attica/studies/own/study.hpp"
#include "attica/studies/own/table.hpp"

namespace attica::app {

namespace fs = std::filesystem;

namespace {

own::OutsideTable table_of(const std::string& file, own::TableKind kind, const Options& options) {
  const std::optional<std::string> text = read_bytes(file);
  if (!text) throw Error(ErrorKind::input, fmt::format("cannot read '{}': expected a table", file));
  return own::read_table(
      *text,
      file,
      {.kind = kind, .x_name = options.x, .x_required = true, .columns = options.columns});
}

/// The keys of study `own` that name columns, a line each.
std::string columns_text(const own::TableColumns& columns, const std::string& side) {
  std::string text;
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) text += fmt::format("{} = {}\n", key, to_toml(Value(value)));
  };
  if (side == "theory") {
    if (columns.values.size() == 1) add("value", columns.values.front());
    return text;
  }
  if (!columns.values.empty())
    text += fmt::format("value = {}\n",
                        to_toml(Value(List(columns.values.begin(), columns.values.end()))));
  add("replicate", columns.replicate);
  add("sd", columns.sd);
  add("n", columns.n);
  return text;
}

std::vector<std::string> series_of(const own::OutsideTable& table) {
  std::vector<std::string> all;
  for (const own::TableRow& row : table.rows) {
    if (std::find(all.begin(), all.end(), row.series) == all.end()) all.push_back(row.series);
  }
  return all;
}

/// What the options say of a table of a simulation, in the section [simulation].
std::string simulation_text(const Options& options) {
  std::string text = columns_text(options.columns, "simulation");
  if (!options.cluster.empty())
    text += fmt::format("cluster = {}\n", to_toml(Value(options.cluster)));
  if (options.independent) text += "independent = true\n";
  return text;
}

/// The configuration of study `own` that compares the two tables.
std::string configuration_of(const Options& options,
                             const std::vector<std::string>& series,
                             const std::vector<std::string>& without_theory) {
  std::string text =
      fmt::format("study = \"own\"\nx = {}\n\n[theory]\nfile = {}\n{}\n[simulation]\nfile = {}\n{}",
                  to_toml(Value(options.x)),
                  to_toml(Value(fs::absolute(options.target).string())),
                  columns_text(options.columns, "theory"),
                  to_toml(Value(fs::absolute(options.second_target).string())),
                  simulation_text(options));
  std::string check;
  if (options.match) check += fmt::format("match = {}\n", to_toml(Value(*options.match)));
  if (options.partial) check += "partial = true\n";
  if (!without_theory.empty()) {
    check += fmt::format("without_theory = {}\n",
                         to_toml(Value(List(without_theory.begin(), without_theory.end()))));
  }
  if (!check.empty()) text += "\n[check]\n" + check;
  for (const std::string& name : series) {
    text += fmt::format("\n[agreement.{}]\nrelative = {}\nabsolute = {}\ntails = {}\n",
                        name,
                        to_toml(Value(options.margin.value_or(0))),
                        to_toml(Value(options.absolute)),
                        to_toml(Value(options.tails)));
  }
  return text;
}

std::string interval_text(const std::optional<Interval>& interval) {
  return interval ? fmt::format(" ({:.3g} to {:.3g})", interval->low, interval->high) : "";
}

std::string place_of(const own::BoundPoint& p) {
  return describe(joined(p.point, {{p.x_name, p.x}}));
}

std::string text_of(const own::BoundResult& b) {
  std::string text =
      fmt::format("bound {}: {} {} {}, {}\n",
                  b.name,
                  b.series,
                  b.upper ? "<=" : ">=",
                  b.formula,
                  b.probability < 1 ? fmt::format("with probability {}", b.probability) : "always");
  for (const own::BoundPoint& p : b.points) {
    text += fmt::format(
        "  {:<24} bound {:>11.5g}  mean {:>11.5g}  violated {} of {} ({:.3g} to {:.3g})",
        place_of(p),
        p.bound,
        p.mean,
        p.violations,
        p.n,
        p.rate.low,
        p.rate.high);
    if (p.slack > 0)
      text += fmt::format("  slack {:.3g}{}", p.slack, interval_text(p.slack_interval));
    text += fmt::format("  {}\n", own::describe(p.verdict));
  }
  text += fmt::format("{}: ", own::describe(b.verdict));
  if (b.first_violated) {
    const own::BoundPoint& p = b.points[*b.first_violated];
    text += fmt::format("first at {}, in {} of {} replicates", place_of(p), p.violations, p.n);
  } else if (b.tightest) {
    const own::BoundPoint& p = b.points[*b.tightest];
    text += fmt::format("tightest at {}, by a factor {:.3g}{}",
                        place_of(p),
                        p.slack,
                        interval_text(p.slack_interval));
  } else {
    text += fmt::format("{} points", b.points.size());
  }
  if (!b.reason.empty()) text += "; " + b.reason;
  return text + "\n";
}

Json object_of(const own::BoundResult& b) {
  const auto interval = [](const std::optional<Interval>& i) {
    return i ? Json::array({i->low, i->high}) : Json();
  };
  Json points = Json::array();
  for (const own::BoundPoint& p : b.points) {
    points.push_back({{"point", to_json(p.point)},
                      {"x_name", p.x_name},
                      {"x", p.x},
                      {"bound", p.bound},
                      {"mean", p.mean},
                      {"n", p.n},
                      {"failed", p.failed},
                      {"violations", p.violations},
                      {"violation_rate90", interval(p.rate)},
                      {"slack", p.slack > 0 ? Json(p.slack) : Json()},
                      {"slack90", interval(p.slack_interval)},
                      {"verdict", own::describe(p.verdict)}});
  }
  const auto place = [&](const std::optional<std::size_t>& k) { return k ? points[*k] : Json(); };
  Json first = place(b.first_violated);
  Json tightest = place(b.tightest);
  return {{"name", b.name},
          {"series", b.series},
          {"expression", b.formula},
          {"direction", b.upper ? "upper" : "lower"},
          {"probability", b.probability},
          {"loose", b.loose},
          {"verdict", own::describe(b.verdict)},
          {"first_violated", std::move(first)},
          {"tightest", std::move(tightest)},
          {"points", std::move(points)}};
}

/// A table, with its columns as the options say; a configuration, with the options as its keys.
Work bounded_work(const Options& options, const Registry& registry) {
  Options of_configuration = options;
  const fs::path path(options.target);
  const std::string columns = simulation_text(options);
  if (fs::is_regular_file(path) && path.extension() != ".toml") {
    std::string text = fmt::format("study = \"own\"\nx = {}\n\n[simulation]\nfile = {}\n{}",
                                   to_toml(Value(options.x)),
                                   to_toml(Value(fs::absolute(path).string())),
                                   columns);
    if (options.match)
      text += fmt::format("\n[check]\nmatch = {}\n", to_toml(Value(*options.match)));
    return prepare(read_configuration({.target = "own.toml",
                                       .preset = {},
                                       .overrides = options.overrides,
                                       .text = std::move(text)},
                                      registry));
  }
  std::istringstream lines(columns);
  for (std::string line; std::getline(lines, line);)
    of_configuration.overrides.push_back({"simulation." + line, "simulation." + line});
  if (options.match) {
    const std::string line = fmt::format("check.match={}", to_toml(Value(*options.match)));
    of_configuration.overrides.push_back({line, line});
  }
  return requested_simulation(of_configuration, registry);
}

/// The bounds of a run, problem by problem of its sweep.
std::vector<own::BoundResult> bounds_of(const FinishedRun& run) {
  if (own::names_in(run.configuration.values, "bound").empty()) {
    throw Error(
        ErrorKind::input,
        fmt::format("'{}' states no [[bound]]; docs/own.md shows how", run.record.path.string()));
  }
  std::vector<own::BoundResult> all;
  each_problem(run.configuration,
               {.theory = run.record.theory, .simulation = run.replicates.curves()},
               [&](const Configuration& values, const Point& front, const Observed& observed) {
                 for (own::BoundResult& b : own::judge_bounds(values, observed)) {
                   if (!front.empty()) b.name += " (" + describe(front) + ")";
                   all.push_back(std::move(b));
                 }
               });
  return all;
}

}  // namespace

int judge_verb(const Options& options, const Registry& registry) {
  // Mistakes in the tables are named by the files as the user wrote them, before any work.
  const own::OutsideTable theory = table_of(options.target, own::TableKind::theory, options);
  own::OutsideTable simulation =
      table_of(options.second_target, own::TableKind::replicates, options);
  if (!options.cluster.empty()) own::take_cluster_means(simulation, options.cluster);
  own::require_same_columns(theory, simulation);
  static_cast<void>(own::predictions(theory, options.x));
  static_cast<void>(own::recorded_outcomes(simulation, options.x));
  const std::vector<std::string> of_theory = series_of(theory);
  std::vector<std::string> common;
  std::vector<std::string> without_theory;
  for (const std::string& name : series_of(simulation)) {
    const bool known = std::find(of_theory.begin(), of_theory.end(), name) != of_theory.end();
    (known ? common : without_theory).push_back(name);
  }
  Work work =
      prepare(read_configuration({.target = "own.toml",
                                  .preset = {},
                                  .overrides = {},
                                  .text = configuration_of(options, common, without_theory)},
                                 registry));
  RunRequest request = run_request(options);
  // The hash of a run is that of its tables: the same question has the same answer.
  if (!options.force) request.mode = FolderMode::resume;
  ExitOnSignal signals;
  return announce(carry_out(std::move(work), request, signals), options.json);
}

int bound_verb(const Options& options, const Registry& registry) {
  std::string folder = options.target;
  if (!fs::exists(fs::path(folder) / "run.json")) {
    Work work = bounded_work(options, registry);
    require_simulable(work);
    if (own::names_in(work.configuration.values, "bound").empty()) {
      throw Error(
          ErrorKind::input,
          fmt::format("'{}' states no [[bound]]: --set 'bound.b.series=\"y\"' and --set "
                      "'bound.b.expression=\"2*x\"' state one of a table; docs/own.md shows more",
                      options.target));
    }
    RunRequest request = run_request(options);
    if (!options.force) request.mode = FolderMode::resume;
    ExitOnSignal signals;
    const RunEnd end = carry_out(std::move(work), request, signals);
    if (!end.verdict) return end.exit_code;
    folder = end.folder.string();
  }
  const FinishedRun run(folder, registry, options.accept_edits);
  const std::vector<own::BoundResult> bounds = bounds_of(run);
  int code = kExitDone;
  for (const own::BoundResult& b : bounds) {
    if (b.verdict == own::BoundVerdict::violated) code = kExitDisagree;
    if (b.verdict == own::BoundVerdict::undecided && code == kExitDone) code = kExitInconclusive;
  }
  if (options.json) {
    Json list = Json::array();
    for (const own::BoundResult& b : bounds) list.push_back(object_of(b));
    print({{"study", run.record.study},
           {"run", run.record.path.string()},
           {"bounds", std::move(list)}});
  } else {
    for (const own::BoundResult& b : bounds) put("{}", text_of(b));
    put("run     {}\n", run.record.path.string());
  }
  return code;
}

}  // namespace attica::app
