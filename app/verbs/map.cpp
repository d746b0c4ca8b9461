/// @file
/// @brief `attica map`: verdict and deviation over a plane of two parameters, each place an
/// ordinary run, with more places along the edge of where the theory holds.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/figures/figure_file.hpp"
#include "attica/app/figures/validity_map.hpp"
#include "attica/app/run/estimate.hpp"
#include "attica/app/run/files.hpp"
#include "attica/app/run/progress.hpp"
#include "attica/app/run/run.hpp"
#include "attica/app/verbs/verbs.hpp"
#include "attica/app/verdict/judge_run.hpp"
#include "attica/app/version.hpp"
#include "attica/core/numeric_csv.hpp"
#include "attica/core/parallel.hpp"
#include "attica/plots/label.hpp"

namespace attica::app {

namespace fs = std::filesystem;

namespace {

/// A place of the map and what came of its run.
struct MapCell {
  double x = 0;
  double y = 0;
  MapMark mark = MapMark::error;
  std::string verdict = "ERROR";
  std::optional<double> deviation = {};   ///< largest |difference| / margin of the compared points
  std::optional<double> z = {};           ///< largest |z|
  std::optional<double> resolution = {};  ///< coarsest, of an AGREE
  std::string run = {};                   ///< folder within cells/; empty: there is none
  std::string message = {};               ///< why there is no verdict
  /// Numbers of replicates that would decide what is undecided, by series and point; none: no
  /// number would.
  std::map<std::string, std::optional<std::size_t>> undecided = {};
  /// Of every compared series, what was predicted and simulated: equal of series that are equal.
  std::map<std::string, std::uint64_t> compared = {};
};

/// A map as it is made: what it asks for, and all of its places so far.
struct MapWork {
  const Options& options;
  const Registry& registry;
  CheckedConfiguration configuration;  ///< without the two parameters
  MapAxis x;
  MapAxis y;
  fs::path folder;
  std::vector<MapCell> cells = {};
  std::set<std::string> left_out = {};  ///< series that do not count
};

/// The parameter of an axis, by value: callers pass a list that they have just made.
Parameter find_parameter(const std::string& flag,
                         const MapAxis& axis,
                         const std::vector<Parameter>& parameters) {
  std::vector<std::string> keys;
  for (const Parameter& p : parameters) {
    const bool number = p.type == ParameterType::real || p.type == ParameterType::integer;
    const bool of_problem = p.section() != "check" && p.section() != "plot" &&
                            p.section() != "figure" && p.key != "sim.seed" &&
                            p.key != "sim.replicates";
    if (p.key == axis.key && number && of_problem && !p.rows) return p;
    if (p.key == axis.key) {
      throw invalid_parameter(flag,
                              axis.key,
                              !number      ? "a number: it is a text or a switch"
                              : of_problem ? "a scalar: it is a list of lists"
                                           : "a parameter of the problem, not of its judging");
    }
    if (number && of_problem && !p.rows) keys.push_back(p.key);
  }
  const std::string near = nearest(axis.key, keys);
  throw invalid_parameter(flag,
                          axis.key,
                          near.empty() ? fmt::format("one of {}", fmt::join(keys, ", "))
                                       : fmt::format("a parameter; did you mean '{}'?", near));
}

/// The axis that an option asks for, checked against the study's parameters.
MapAxis checked_axis(const std::string& flag,
                     const std::string& text,
                     const CheckedConfiguration& configuration) {
  MapAxis axis = parse_map_axis(flag, text);
  const Parameter p = find_parameter(flag, axis, all_parameters(*configuration.study));
  if (configuration.is_swept(axis.key))
    throw invalid_parameter(flag, axis.key, "a parameter that [sweep] does not take over");
  axis.whole = p.type == ParameterType::integer;
  if (!axis.whole) return axis;
  if (axis.low != std::round(axis.low) || axis.high != std::round(axis.high))
    throw invalid_parameter(flag, text, fmt::format("whole numbers: '{}' is an integer", axis.key));
  const std::vector<double> places = axis.values(0);
  if (std::adjacent_find(places.begin(), places.end()) != places.end()) {
    throw invalid_parameter(
        flag, text, fmt::format("fewer than {} places: whole numbers that differ", axis.count));
  }
  return axis;
}

/// The value of an axis as an assignment of the command line.
Override assignment(const std::string& flag,
                    const MapAxis& axis,
                    double value,
                    const CheckedConfiguration& configuration) {
  const Parameter p = find_parameter(flag, axis, all_parameters(*configuration.study));
  Value scalar(value);
  if (axis.whole) scalar = Value(static_cast<std::int64_t>(value));
  const Value all = p.list ? Value(List{scalar}) : scalar;
  const std::string text = fmt::format("{}={}", axis.key, to_toml(all));
  return {.shown = fmt::format("{} {}", flag, text), .assignment = text};
}

/// The options of one place: those of a run.
Options cell_options(const MapWork& map, double x, double y) {
  Options own = map.options;
  std::erase_if(own.overrides,
                [](const Override& o) { return o.assignment.starts_with("figure."); });
  own.overrides.push_back(assignment("--x", map.x, x, map.configuration));
  own.overrides.push_back(assignment("--y", map.y, y, map.configuration));
  own.out = (map.folder / "cells").string();
  own.name = "cell";
  own.quiet = true;
  own.force = false;
  return own;
}

/// What the command line asks for; all that can be refused without building a problem is.
MapWork requested_map(const Options& options, const Registry& registry) {
  if (options.x == Options().x || options.y.empty()) {
    throw Error(
        ErrorKind::input,
        fmt::format(
            "map: {} is missing: the range of a parameter, as model.rho=0.1..0.9:5",
            options.y.empty() && !options.x.empty() && options.x != Options().x ? "--y" : "--x"));
  }
  std::vector<Override> overrides = options.overrides;
  std::erase_if(overrides, [](const Override& o) { return o.assignment.starts_with("figure."); });
  MapWork map{
      .options = options,
      .registry = registry,
      .configuration = read_configuration(
          {.target = options.target, .preset = options.preset, .overrides = overrides}, registry),
      .x = {},
      .y = {},
      .folder = {}};
  map.x = checked_axis("--x", options.x, map.configuration);
  map.y = checked_axis("--y", options.y, map.configuration);
  if (map.x.key == map.y.key)
    throw invalid_parameter("--y", map.y.key, "another parameter than that of --x");
  for (const Override& o : overrides) {
    for (const MapAxis* axis : {&map.x, &map.y}) {
      if (o.assignment.starts_with(axis->key + "="))
        throw invalid_parameter(
            o.shown, "given", fmt::format("{} once: it is an axis of the map", axis->key));
    }
  }
  // The ends of both ranges are allowed: only a problem built from them can be refused later.
  for (const double x : {map.x.low, map.x.high}) {
    for (const double y : {map.y.low, map.y.high}) {
      const Options own = cell_options(map, x, y);
      static_cast<void>(read_configuration(
          {.target = own.target, .preset = own.preset, .overrides = own.overrides}, registry));
    }
  }
  const std::string name = options.name.empty() ? map.configuration.study->name : options.name;
  if (name.find('/') != std::string::npos || has_control_characters(name))
    throw invalid_parameter("--name", name, "a name without '/' and control characters");
  std::string identity =
      fmt::format("attica {}\nstudy {}\n", kVersion, map.configuration.study->name);
  for (const auto& [key, value] : map.configuration.values.entries()) {
    if (key == map.x.key || key == map.y.key || key == "sim.replicates" ||
        key.starts_with("plot.") || key.starts_with("figure.")) {
      continue;
    }
    identity += fmt::format("{} = {}\n", key, to_toml(value));
  }
  for (const SweptScalar& s : map.configuration.swept)
    identity += fmt::format("sweep {} = {}\n", s.key, to_toml(Value(s.values)));
  for (const MapAxis* axis : {&map.x, &map.y})
    identity +=
        fmt::format("{} {} {} {} {}\n", axis->key, axis->low, axis->high, axis->count, axis->log);
  constexpr std::size_t kHashDigits = 8;
  map.folder = fs::absolute(options.out.value_or("maps")) /
               fmt::format("{}-{}", name, sha256(identity).substr(0, kHashDigits));
  return map;
}

/// Makes the map's folder, or finds it, as a run's.
void open_folder(const MapWork& map) {
  const Options& options = map.options;
  std::error_code error;
  if (fs::exists(map.folder) && options.force) {
    int n = 1;
    while (fs::exists(fmt::format("{}.old-{}", map.folder.string(), n))) ++n;
    fs::rename(map.folder, fmt::format("{}.old-{}", map.folder.string(), n), error);
  } else if (fs::exists(map.folder) && !options.resume) {
    throw Error(ErrorKind::storage,
                fmt::format("map folder '{}' exists; --resume continues it, --force starts "
                            "again",
                            map.folder.string()));
  }
  if (!error) fs::create_directories(map.folder / "cells", error);
  if (error) {
    throw Error(
        ErrorKind::storage,
        fmt::format("cannot make map folder '{}': {}", map.folder.string(), error.message()));
  }
}

/// FNV-1a over the bytes of a number.
void mix(std::uint64_t& hash, double value) {
  constexpr std::uint64_t kPrime = 1099511628211U;
  constexpr unsigned kByte = 8;
  constexpr std::uint64_t kMask = 0xFF;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (unsigned shift = 0; shift < 8 * sizeof bits; shift += kByte)
    hash = (hash ^ ((bits >> shift) & kMask)) * kPrime;
}

/// A series and its coordinates, without those that are axes of the map.
std::string curve_name(const MapWork& map, const Place& place) {
  Point point = place.point;
  std::erase_if(point, [&](const auto& coordinate) {
    return map.x.key.ends_with("." + coordinate.first) ||
           map.y.key.ends_with("." + coordinate.first);
  });
  return place.series + (point.empty() ? "" : fmt::format(" ({})", describe(point)));
}

void enter_verdict(const MapWork& map, const CheckRecord& record, MapCell& cell) {
  cell.run = fs::path(record.run).filename().string();
  if (record.failed) {
    cell.message = "numerical failure: " + summary(record);
    return;
  }
  cell.mark = mark_of(record.verdict);
  cell.verdict = describe(record.verdict);
  const auto enter = [](std::optional<double>& most, double value) {
    if (std::isfinite(value)) most = std::max(most.value_or(0), value);
  };
  for (std::size_t k = 0; k < record.places.size(); ++k) {
    const PointVerdict& v = record.points.points[k];
    if (v.status == PointStatus::no_theory || v.sample.n == 0) continue;
    if (v.margin > 0) enter(cell.deviation, std::abs(v.difference) / v.margin);
    if (v.z) enter(cell.z, std::abs(*v.z));
    constexpr std::uint64_t kBasis = 14695981039346656037U;
    std::uint64_t& hash = cell.compared.emplace(record.places[k].series, kBasis).first->second;
    for (const double value : {record.places[k].x,
                               v.theory,
                               v.sample.mean,
                               v.sample.sem,
                               static_cast<double>(v.sample.n)}) {
      mix(hash, value);
    }
    if (v.verdict != Verdict::inconclusive) continue;
    const auto [known, is_new] =
        cell.undecided.emplace(curve_name(map, record.places[k]), v.replicates_needed);
    if (is_new || !known->second) continue;
    known->second = v.replicates_needed
                        ? std::optional(std::max(*known->second, *v.replicates_needed))
                        : std::nullopt;
  }
  for (const ClaimResult& claim : record.claims) {
    if (claim.verdict == Verdict::inconclusive)
      cell.undecided.emplace("claim " + claim.name, claim.replicates_needed);
  }
  const Json told = to_json(record);
  if (record.verdict == Verdict::agree && told.contains("coarsest_resolution") &&
      told["coarsest_resolution"].is_number()) {
    cell.resolution = told["coarsest_resolution"].get<double>();
  }
}

/// The verdict of a run that an earlier call finished with at least as many replicates.
std::optional<CheckRecord> finished_verdict(const fs::path& folder,
                                            const Work& work,
                                            const Registry& registry) {
  if (!fs::exists(folder / "run.json") || !fs::exists(folder / "manifest.json"))
    return std::nullopt;
  const FinishedRun run(folder.string(), registry);
  if (run.record.replicates < work.replicates()) return std::nullopt;
  return judge_run(run.record, run.configuration, run.replicates);
}

/// Judges the place's run anew, without the series that do not count.
void leave_out(const MapWork& map, MapCell& cell) {
  if (cell.run.empty() || !cell.message.empty()) return;
  const FinishedRun run((map.folder / "cells" / cell.run).string(), map.registry);
  MapCell anew{.x = cell.x, .y = cell.y};
  const bool claims = map.options.map_series.empty();
  enter_verdict(
      map, judge_series(run.record, run.configuration, run.replicates, map.left_out, claims), anew);
  cell = std::move(anew);
}

/// Series that are the same at all places that have a verdict: they depend on neither axis, and say
/// nothing of where in the plane a theory holds. None if no others are left, or if places with a
/// verdict lie on one line.
std::set<std::string> independent_series(const std::vector<MapCell>& cells) {
  std::set<double> x;
  std::set<double> y;
  std::map<std::string, std::set<std::uint64_t>> all;
  for (const MapCell& cell : cells) {
    if (cell.compared.empty()) continue;
    x.insert(cell.x);
    y.insert(cell.y);
    for (const auto& [series, hash] : cell.compared) all[series].insert(hash);
  }
  std::set<std::string> same;
  for (const auto& [series, hashes] : all) {
    if (hashes.size() == 1) same.insert(series);
  }
  if (x.size() < 2 || y.size() < 2 || same.size() == all.size()) same.clear();
  return same;
}

/// The series that were compared anywhere.
std::set<std::string> compared_series(const std::vector<MapCell>& cells) {
  std::set<std::string> all;
  for (const MapCell& cell : cells) {
    for (const auto& [series, hash] : cell.compared) all.insert(series);
  }
  return all;
}

/// Leaves out the series that --series does not choose; else those that depend on neither axis.
void choose_series(MapWork& map) {
  const std::vector<std::string>& chosen = map.options.map_series;
  if (chosen.empty()) {
    map.left_out = independent_series(map.cells);
  } else {
    const std::set<std::string> all = compared_series(map.cells);
    if (all.empty()) return;
    for (const std::string& series : chosen) {
      if (!all.contains(series)) {
        throw invalid_parameter(
            "--series", series, fmt::format("a series that is compared: {}", fmt::join(all, ", ")));
      }
    }
    map.left_out = all;
    for (const std::string& series : chosen) map.left_out.erase(series);
  }
  if (map.left_out.empty() && chosen.empty()) return;
  for (MapCell& cell : map.cells) leave_out(map, cell);
}

/// What is undecided, where, and what would decide it: a line for every curve.
std::string undecided_text(const MapWork& map) {
  std::size_t judged = 0;
  std::map<std::string, std::vector<std::optional<std::size_t>>> curves;
  for (const MapCell& cell : map.cells) {
    if (cell.mark != MapMark::error) ++judged;
    for (const auto& [curve, needed] : cell.undecided) curves[curve].push_back(needed);
  }
  std::string text;
  for (const auto& [curve, places] : curves) {
    std::size_t most = 0;
    std::size_t never = 0;
    for (const auto& needed : places) {
      most = std::max(most, needed.value_or(0));
      never += needed ? 0 : 1;
    }
    std::string advice =
        most > 0 ? fmt::format("{} replicates would decide", most) : "no replicates would decide";
    if (most > 0 && never > 0) advice += fmt::format(", but at {}", never);
    text +=
        fmt::format("undecided  {} at {} of {} places: {}\n", curve, places.size(), judged, advice);
  }
  return text;
}

/// The run of one place. Empty: it was stopped; `exit_code` says how.
std::optional<MapCell> evaluate(const MapWork& map,
                                double x,
                                double y,
                                ExitOnSignal& signals,
                                std::optional<double> seconds,
                                int& exit_code) {
  MapCell cell{.x = x, .y = y};
  Options own = cell_options(map, x, y);
  own.max_seconds = seconds;
  try {
    Work work = requested_simulation(own, map.registry);
    RunRequest request = run_request(own);
    request.draw = false;
    const fs::path folder = run_path(request, work);
    request.mode = fs::exists(folder) ? FolderMode::resume : FolderMode::create;
    if (const auto verdict = finished_verdict(folder, work, map.registry)) {
      enter_verdict(map, *verdict, cell);
    } else {
      const RunEnd end = carry_out(std::move(work), request, signals);
      if (!end.verdict) {
        exit_code = end.exit_code;
        return std::nullopt;
      }
      enter_verdict(map, *end.verdict, cell);
    }
    if (!map.left_out.empty()) leave_out(map, cell);
  } catch (const Error& error) {
    // A folder that cannot be written is no outcome of a place.
    if (error.kind() == ErrorKind::storage) throw;
    cell.message = error.what();
  }
  return cell;
}

/// Places without a verdict that an earlier call has found: they need not fail again.
std::vector<MapCell> known_errors(const fs::path& folder) {
  std::vector<MapCell> known;
  std::error_code none;
  if (!fs::exists(folder / "map.json", none)) return known;
  const Json object = Json::parse(read_whole(folder / "map.json"), nullptr, false);
  const auto cells = object.is_object() ? object.find("cells") : object.end();
  if (!object.is_object() || cells == object.end() || !cells->is_array())
    throw Error(ErrorKind::storage,
                fmt::format("'{}' is damaged: not a map", (folder / "map.json").string()));
  for (const Json& cell : *cells) {
    if (cell.value("verdict", "") != "ERROR") continue;
    known.push_back({.x = cell.at("x").get<double>(),
                     .y = cell.at("y").get<double>(),
                     .run = cell.value("run", ""),
                     .message = cell.value("message", "")});
  }
  return known;
}

std::string table(const MapWork& map) {
  const auto number = [](const std::optional<double>& v) { return v ? fmt::format("{}", *v) : ""; };
  std::string text =
      fmt::format("{},{},verdict,deviation,z,resolution,run,message\n", map.x.key, map.y.key);
  for (const MapCell& c : map.cells) {
    text += fmt::format("{},{},{},{},{},{},{},{}\n",
                        c.x,
                        c.y,
                        c.verdict,
                        number(c.deviation),
                        number(c.z),
                        number(c.resolution),
                        c.run,
                        csv_field(c.message));
  }
  return text;
}

Json counts(const MapWork& map) {
  Json all = Json::object();
  for (const MapCell& c : map.cells) all[c.verdict] = all.value(c.verdict, 0) + 1;
  return all;
}

Json map_object(const MapWork& map, const MapMesh& mesh) {
  const auto number = [](const std::optional<double>& v) { return v ? Json(*v) : Json(nullptr); };
  const auto axis = [](const MapAxis& a) {
    return Json{{"key", a.key},
                {"low", a.low},
                {"high", a.high},
                {"places", a.count},
                {"scale", a.log ? "log" : "linear"}};
  };
  Json cells = Json::array();
  for (const MapCell& c : map.cells) {
    cells.push_back({{"x", c.x},
                     {"y", c.y},
                     {"verdict", c.verdict},
                     {"deviation", number(c.deviation)},
                     {"z", number(c.z)},
                     {"resolution", number(c.resolution)},
                     {"run", c.run}});
    if (!c.message.empty()) cells.back()["message"] = c.message;
    for (const auto& [curve, needed] : c.undecided)
      cells.back()["undecided"][curve] = needed ? Json(*needed) : Json("none");
  }
  Json edge = Json::array();
  for (const MapLine& line : agreement_edge(mesh, map.x, map.y)) {
    Json points = Json::array();
    for (const auto& [x, y] : line) points.push_back(Json::array({x, y}));
    edge.push_back(std::move(points));
  }
  return {{"study", map.configuration.study->name},
          {"map", map.folder.string()},
          {"x", axis(map.x)},
          {"y", axis(map.y)},
          {"depth", map.options.depth},
          {"complete", mesh.complete},
          {"left_out", map.left_out},
          {"counts", counts(map)},
          {"edge", std::move(edge)},
          {"cells", std::move(cells)}};
}

/// Colours that readers of all kinds of sight tell apart, after Okabe and Ito; markers do it in
/// grey.
struct MarkLook {
  std::string colour;
  std::string marker;
  bool hollow;
  std::string shade;
};
const std::array<MarkLook, kMapMarks>& mark_looks() {
  static const std::array<MarkLook, kMapMarks> looks{
      MarkLook{"#0072b2", "circle", false, "#cfe3f1"},
      MarkLook{"#d55e00", "square", false, "#f7d3ba"},
      MarkLook{"#555555", "triangle", true, "#eeeeee"},
      MarkLook{"#555555", "diamond", true, "#ffffff"},
      MarkLook{"#000000", "inverted-triangle", false, "#bdbdbd"}};
  return looks;
}

std::vector<fs::path> draw_map(const MapWork& map, const MapMesh& mesh) {
  const auto axis = [](const MapAxis& a) {
    constexpr double kRoom = 0.04;  // for the markers at the ends
    const double room = kRoom * (a.log ? std::log(a.high / a.low) : a.high - a.low);
    return Axis{.label = plots::pretty_name(a.key.substr(a.key.find('.') + 1)),
                .scale = a.log ? AxisScale::log : AxisScale::linear,
                .low = a.log ? a.low * std::exp(-room) : a.low - room,
                .high = a.log ? a.high * std::exp(room) : a.high + room};
  };
  Panel panel;
  panel.kind = PanelKind::scatter;
  panel.x = axis(map.x);
  panel.y = axis(map.y);
  PanelLook look;
  FigureData data;
  const std::string edge = "edge of AGREE";
  std::array<std::string, kMapMarks> colours;
  for (std::size_t m = 0; m < kMapMarks; ++m) {
    colours[m] = mark_looks()[m].shade;
    RecordedCurve curve;
    curve.mean.x_name = map.x.key;
    for (const MapCell& c : map.cells) {
      if (static_cast<std::size_t>(c.mark) != m) continue;
      curve.mean.name = c.verdict;
      curve.mean.x.push_back(c.x);
      curve.mean.y.push_back(c.y);
    }
    if (curve.mean.x.empty()) continue;
    panel.layers.push_back({.series = curve.mean.name,
                            .label = curve.mean.name,
                            .theory = false,
                            .hollow = mark_looks()[m].hollow});
    look.layers.push_back({.colour = mark_looks()[m].colour, .marker = mark_looks()[m].marker});
    data.curves.push_back(std::move(curve));
  }
  const std::vector<MapLine> lines = agreement_edge(mesh, map.x, map.y);
  for (const MapLine& line : lines) {
    RecordedCurve curve;
    curve.theory = true;
    curve.mean.name = edge;
    curve.mean.x_name = map.x.key;
    for (const auto& [x, y] : line) {
      curve.mean.x.push_back(x);
      curve.mean.y.push_back(y);
    }
    data.curves.push_back(std::move(curve));
  }
  if (!lines.empty()) {
    panel.layers.push_back({.series = edge, .label = edge, .simulation = false});
    look.layers.push_back({.colour = "#000000", .line = "solid"});
  }
  look.shades = shades(mesh, map.x, map.y, colours);

  Figure figure{.name = "map", .panels = {std::move(panel)}, .columns = 1, .caption = {}};
  DrawOptions drawing;
  drawing.look.panels = {std::move(look)};
  drawing.look.key = false;
  drawing.look.aspect = 0.8;
  std::string without;
  for (const std::string& series : map.left_out)
    without += (without.empty() ? ", without " : ", ") + plots::pretty_name(series);
  drawing.note = fmt::format("{}, {} places{}{}",
                             map.configuration.study->name,
                             map.cells.size(),
                             without,
                             mesh.complete ? "" : ", not complete");
  drawing.metadata = {{"study", map.configuration.study->name},
                      {"map", map.folder.filename().string()},
                      {"attica", kVersion}};
  std::vector<Override> changes;
  for (const Override& o : map.options.overrides) {
    if (o.assignment.starts_with("figure.")) changes.push_back(o);
  }
  apply(read_figure_changes(changes), figure, drawing);
  enter_drawing_options(map.options, drawing);
  drawing.folder = map.folder / "plots";
  return draw_files(map.options, figure, data, drawing);
}

int describe_map(const MapWork& map) {
  const auto places = [&](int depth) {
    return map.x.values(depth).size() * map.y.values(depth).size();
  };
  const Options own =
      cell_options(map, map.x.values(0)[map.x.count / 2], map.y.values(0)[map.y.count / 2]);
  const Work work = requested_simulation(own, map.registry);
  constexpr double kPatience = 3;
  const int threads = map.options.threads > 0 ? map.options.threads : default_threads();
  const auto replicates = static_cast<double>(work.replicates());
  const std::optional<CostEstimate> cost = estimate_cost(work, kPatience, map.options.quiet);
  if (map.options.json) {
    Json object{{"study", map.configuration.study->name},
                {"map", map.folder.string()},
                {"exists", fs::exists(map.folder)},
                {"places", places(0)},
                {"places_at_most", places(map.options.depth)},
                {"replicates", work.replicates()}};
    if (cost) object["cost_of_a_place"] = cost_json(*cost, replicates, threads);
    print("dry-run", object);
    return kExitDone;
  }
  put("study       {}\nmap folder  {}{}\nplaces      {}, and up to {} along edges\n"
      "replicates  {} at each\n{}",
      map.configuration.study->name,
      map.folder.string(),
      fs::exists(map.folder) ? " (exists)" : "",
      places(0),
      places(map.options.depth) - places(0),
      work.replicates(),
      cost ? "of the place in the middle:\n" + cost_text(*cost, replicates, threads) : "");
  return kExitDone;
}

}  // namespace

int map_verb(const Options& options, const Registry& registry) {
  ExitOnSignal signals;
  Deadline deadline(options.max_seconds);
  MapWork map = requested_map(options, registry);
  if (options.dry_run) return describe_map(map);
  open_folder(map);
  const FolderLock lock(map.folder);
  const std::vector<MapCell> errors = known_errors(map.folder);
  int exit_code = kExitDone;
  const auto evaluate_place = [&](double x, double y) -> std::optional<MapMark> {
    const auto known = std::find_if(
        errors.begin(), errors.end(), [&](const MapCell& c) { return c.x == x && c.y == y; });
    if (known != errors.end()) {
      map.cells.push_back(*known);
      return MapMark::error;
    }
    const std::optional<double> left = deadline.left();
    if (left && *left <= 0) {
      exit_code = kExitStopped;
      return std::nullopt;
    }
    const std::optional<MapCell> cell = evaluate(map, x, y, signals, left, exit_code);
    if (!cell) return std::nullopt;
    signals.checkpoint();
    map.cells.push_back(*cell);
    return cell->mark;
  };
  // Which series count is known once the coarse grid is.
  const std::vector<double> columns = map.x.values(0);
  const std::vector<double> rows = map.y.values(0);
  remark(options.quiet, fmt::format("coarse grid: {} places", rows.size() * columns.size()));
  bool whole = true;
  for (const double y : rows) {
    for (const double x : columns) whole = whole && evaluate_place(x, y);
  }
  if (whole || !map.options.map_series.empty()) choose_series(map);
  const std::size_t coarse = map.cells.size();
  std::size_t round = 0;
  const auto told = [&](std::size_t places) {
    if (round > 0) remark(options.quiet, fmt::format("bisection {}: {} places", round, places));
    ++round;
  };
  const MapMesh mesh = refine(
      map.x,
      map.y,
      options.depth,
      [&](double x, double y) -> std::optional<MapMark> {
        const auto end = map.cells.begin() + static_cast<std::ptrdiff_t>(coarse);
        const auto known = std::find_if(
            map.cells.begin(), end, [&](const MapCell& c) { return c.x == x && c.y == y; });
        if (known != end) return known->mark;
        return whole ? evaluate_place(x, y) : std::nullopt;
      },
      told);
  deadline.lift();
  if (exit_code != kExitDone && !map.cells.empty()) exit_code = kExitStopped;
  const Json object = versioned("map", map_object(map, mesh));
  write_atomically(map.folder / "map.csv", table(map));
  write_atomically(map.folder / "map.json", dump(object, 2) + "\n");
  const auto no_verdict = [](const MapCell& c) { return c.mark == MapMark::error; };
  if (mesh.complete && std::all_of(map.cells.begin(), map.cells.end(), no_verdict)) {
    std::error_code ignored;  // without a run there is nothing to keep
    if (fs::is_empty(map.folder / "cells", ignored)) fs::remove_all(map.folder, ignored);
    throw Error(ErrorKind::input,
                fmt::format("no place of the map has a verdict; the first says: {}",
                            map.cells.front().message));
  }
  std::vector<fs::path> figures;
  if (!map.cells.empty()) {
    try {
      figures = draw_map(map, mesh);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::storage) throw;
      remark(false, fmt::format("warning: no figure: {}", error.what()));
    }
  }
  if (!mesh.complete) {
    say(fmt::format("stopped with {} places known; run again with --resume\n", map.cells.size()));
    return exit_code;
  }
  if (options.json) {
    put("{}\n", dump(object, 2));
    return exit_code;
  }
  std::string words;
  for (const auto& [word, count] : object["counts"].items())
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", word, count.get<int>());
  put("{} of {} places\n{}", words, map.cells.size(), undecided_text(map));
  if (!map.left_out.empty()) {
    put("left out   {}{}\n",
        fmt::format("{}", fmt::join(map.left_out, ", ")),
        options.map_series.empty() ? ": equal at all places, they depend on neither axis "
                                     "(--series NAME chooses)"
                                   : "");
  }
  put("map     {}\n", (map.folder / "map.csv").string());
  for (const fs::path& figure : figures) {
    if (figure.extension() != ".csv" && figure.extension() != ".gp" &&
        figure.extension() != ".sty" && !figure.string().ends_with("common.tex"))
      put("figure  {}\n", figure.string());
  }
  return exit_code;
}

}  // namespace attica::app
