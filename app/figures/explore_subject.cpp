#include "attica/app/figures/explore_subject.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include "attica/app/command/text.hpp"
#include "attica/app/figures/table_curves.hpp"
#include "attica/app/run/files.hpp"
#include "attica/app/run/results.hpp"
#include "attica/app/run/run.hpp"
#include "attica/app/run/work.hpp"
#include "attica/app/verdict/check.hpp"
#include "attica/app/verdict/judge_run.hpp"
#include "attica/plots/draw.hpp"
#include "attica/plots/label.hpp"
#include "attica/sources/keys.hpp"
#include "attica/sources/study.hpp"
#include "attica/studies/used_with.hpp"

namespace attica::app {

namespace fs = std::filesystem;

namespace {

std::string_view type_name(ParameterType type) {
  switch (type) {
    case ParameterType::real:
      return "real";
    case ParameterType::integer:
      return "integer";
    case ParameterType::flag:
      return "flag";
    case ParameterType::text:
      return "text";
    case ParameterType::file:
      break;
  }
  return "file";
}

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

/// Parameters that the theory can depend on, with the values that the page starts from.
Json parameters_of(const CheckedConfiguration& c) {
  Json list = Json::array();
  const std::vector<Parameter> all = all_parameters(*c.study);
  const auto add = [&](const Parameter& p, const std::string& key, bool many, std::string value) {
    list.push_back(
        {{"key", key},
         {"type", type_name(p.type)},
         {"list", many},
         {"value", std::move(value)},
         {"fallback", p.fallback && key == p.key ? to_toml(*p.fallback) : ""},
         {"low", number_or_null(p.range.low)},
         {"high", number_or_null(p.range.high)},
         {"range",
          std::isfinite(p.range.low) || std::isfinite(p.range.high) ? p.range.describe(p.name())
                                                                    : ""},
         {"choices", p.choices},
         {"meaning", p.meaning}});
    if (const UsedWith* rule = used_with(p, all)) {
      list.back()["used_with"] = {{"key", rule->decided_by}, {"words", Json::array()}};
      for (const std::string_view word : rule->words)
        list.back()["used_with"]["words"].push_back(word);
    }
  };
  const bool brought = c.study->defined_by != nullptr;
  for (const Parameter& p : all) {
    const std::string section = p.section();
    if (section == "check" || section == "plot" || section == "figure" || p.key == "sim.replicates")
      continue;
    // What the user's formula is made of; the rest of such a file says where theory and simulation
    // come from.
    if (brought && section != "model" && section != "sweep" &&
        (section != "sim" || p.key == "sim.seed"))
      continue;
    if (c.is_swept(p.key)) {
      for (const SweptScalar& s : c.swept) {
        if (s.key == p.key) add(p, "sweep." + s.name, true, to_toml(Value(s.values)));
      }
    } else {
      add(p, p.key, p.list, c.values.has(p.key) ? to_toml(c.values.at(p.key)) : "");
    }
  }
  return list;
}

Json axis_of(const Axis& axis) {
  return {{"label", axis.label},
          {"scale", axis.scale == AxisScale::log ? "log" : "linear"},
          {"low", axis.low ? Json(*axis.low) : Json()},
          {"high", axis.high ? Json(*axis.high) : Json()}};
}

/// The panels of the figure that show curves.
Json panels_of(const Figure& figure) {
  Json list = Json::array();
  for (const Panel& panel : figure.panels) {
    if (panel.kind != PanelKind::curves) continue;
    Json layers = Json::array();
    for (const Layer& layer : panel.layers) {
      layers.push_back({{"series", layer.series},
                        {"theory", layer.theory},
                        {"simulation", layer.simulation},
                        {"reference", layer.reference},
                        {"only", to_json(layer.only)}});
    }
    list.push_back({{"x", axis_of(panel.x)},
                    {"y", axis_of(panel.y)},
                    {"x_name", panel.x_name},
                    {"vertical", panel.vertical_marks},
                    {"layers", std::move(layers)}});
  }
  return list;
}

/// The simulated curves of a run, with theory and margin where they were compared.
Json points_of(const FigureData& data) {
  Json list = Json::array();
  for (const RecordedCurve& curve : data.curves) {
    if (curve.theory) continue;
    const Series& mean = curve.mean;
    std::vector<double> theory(mean.x.size());
    std::vector<double> margin(mean.x.size());
    for (const ResidualPoint& r : data.residuals) {
      if (r.series != mean.name || r.point != mean.point || r.x_name != mean.x_name) continue;
      const auto at = std::find(mean.x.begin(), mean.x.end(), r.x);
      if (at == mean.x.end()) continue;
      theory[static_cast<std::size_t>(at - mean.x.begin())] = r.theory;
      margin[static_cast<std::size_t>(at - mean.x.begin())] = r.margin;
    }
    Json one = to_json(mean);
    std::vector<double> sem = curve.sem;
    sem.resize(mean.x.size());
    for (double& error : sem) {
      if (!std::isfinite(error)) error = 0;  // of a single replicate: none
    }
    one["sem"] = sem;
    one["theory"] = theory;
    one["margin"] = margin;
    list.push_back(std::move(one));
  }
  return list;
}

/// Refuses a theory of one's own that no slider can move at once.
void require_formula(const Configuration& c) {
  for (const auto& [source, why] :
       {std::pair{"command", "a program would be started for every move of a slider"},
        std::pair{"training.command", "a program would be started for every move of a slider"},
        std::pair{"file", "its numbers stand in a table"}}) {
    const std::string key = fmt::format("theory.{}", source);
    if (!c.has(key)) continue;
    throw Error(
        ErrorKind::input,
        fmt::format("a theory of one's own is explored where it is an expression, not a {}: "
                    "{}; `attica run` and `attica figure` draw it",
                    source,
                    why),
        key);
  }
}

/// Refuses programs, which a configuration from elsewhere may name.
void require_no_command(const Configuration& c) {
  const std::string key = sources::command_key(c);
  if (key.empty()) return;
  throw Error(ErrorKind::input,
              fmt::format("the {} is a command of the configuration: read it, then start `attica "
                          "explore` with --allow-commands",
                          key.substr(0, key.find('.'))),
              key);
}

/// A folder that goes away with this object.
struct ScratchFolder {
  fs::path path;

  ScratchFolder() {
    std::string place = (fs::temp_directory_path() / "attica-explore-XXXXXX").string();
    if (::mkdtemp(place.data()) == nullptr)
      throw Error(ErrorKind::storage, fmt::format("cannot make a folder as '{}'", place));
    path = place;
  }
  ~ScratchFolder() {
    std::error_code none;
    fs::remove_all(path, none);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
};

}  // namespace

Subject::Subject(const Options& options, const Registry& registry)
    : registry_(registry),
      accept_edits_(options.accept_edits),
      allow_commands_(options.allow_commands),
      request_{.target = options.target, .preset = options.preset, .overrides = options.overrides} {
  const bool is_run = fs::exists(fs::path(options.target) / "run.json");
  Json overlays = Json::array();
  if (is_run) {
    overlays.push_back(overlay_of_run(options.target));
    request_.target = (fs::path(options.target) / "config.resolved.toml").string();
  }
  const CheckedConfiguration c = read_configuration(request_, registry);
  study_ = c.study->name;
  const bool brought = c.study->defined_by != nullptr;
  if (brought) require_formula(c.values);
  Json panels = panels_of(c.study->figure(c.values));
  const Work work = prepare(c);
  const TheoryRecord theory = compute_theory(work, TheoryGrid::requested);
  if (panels.empty() || theory.predictions.empty()) {
    throw Error(ErrorKind::input,
                fmt::format("study '{}' has no curve of a theory to explore", study_));
  }
  for (const Prediction& p : theory.predictions) {
    const std::string& name = p.series.x_name;
    if (name != "none" && std::find(x_names_.begin(), x_names_.end(), name) == x_names_.end())
      x_names_.push_back(name);
  }
  for (const std::string& file : options.overlays) {
    const fs::path place = file;
    if (fs::exists(place / "run.json")) {
      overlays.push_back(overlay_of_run(file));
    } else if (!fs::is_regular_file(place)) {
      throw invalid_parameter("--overlay", file, "a table or a run folder");
    } else {
      overlays.push_back(overlay_of_table(read_whole(place), file));
    }
  }
  Json letters = Json::object();
  for (const std::string_view name : plots::greek_names())
    letters[std::string(name)] = plots::greek_letter(name);
  Json arguments = Json::array();
  if (!options.preset.empty()) arguments.insert(arguments.end(), {"--preset", options.preset});
  for (const Override& o : options.overrides)
    arguments.insert(arguments.end(), {"--set", o.assignment});
  description_ = {{"study", study_},
                  {"question", c.study->question},
                  {"target", request_.target},
                  {"arguments", std::move(arguments)},
                  {"parameters", parameters_of(c)},
                  {"brought", brought},
                  {"letters", std::move(letters)},
                  {"panels", std::move(panels)},
                  {"overlays", std::move(overlays)},
                  {"replicates", work.replicates()}};
}

ConfigurationRequest Subject::request_at(const Json& values) const {
  if (!values.is_object()) throw Error(ErrorKind::input, "expected an object of keys and values");
  ConfigurationRequest request = request_;
  for (const auto& [key, value] : values.items()) {
    if (!value.is_string())
      throw invalid_parameter(printable(key), dump(value), "text: a value in TOML");
    const std::string assignment = fmt::format("{}={}", key, value.get<std::string>());
    request.overrides.push_back({"--set " + assignment, assignment});
  }
  return request;
}

Work Subject::work_at(const Json& values) const {
  CheckedConfiguration checked = read_configuration(request_at(values), registry_);
  if (checked.study->defined_by != nullptr) require_formula(checked.values);
  checked.values.shared = shared_;
  return prepare(std::move(checked));
}

Json Subject::theory(const Json& values, TheoryGrid grid) const {
  const Work work = work_at(values);
  Json theory = theory_object(work, compute_theory(work, grid));
  if (grid == TheoryGrid::requested) return theory;
  // To be drawn: lines need no allowances.
  for (Json& series : theory.at("series")) {
    for (const char* unused : {"finite_size", "numerical_error", "compared"}) series.erase(unused);
  }
  return theory;
}

std::string Subject::figure(const Json& values, const Json& overlays) const {
  const Work work = work_at(values);
  FigureData data;
  data.curves = recorded_curves(compute_theory(work, TheoryGrid::run).predictions, {});
  if (!overlays.is_array()) throw Error(ErrorKind::input, "expected a list of overlays");
  try {
    for (const Json& overlay : overlays) {
      for (const Json& one : overlay.at("series")) {
        RecordedCurve curve;
        curve.mean = series_from(one);
        curve.sem = one.at("sem").get<std::vector<double>>();
        const std::size_t count = curve.mean.x.size();
        if (curve.mean.y.size() != count || curve.sem.size() != count)
          throw Error(ErrorKind::input, "an overlay's x, y and sem differ in length");
        curve.sd.resize(count);
        curve.n.resize(count, 1);
        data.curves.push_back(std::move(curve));
      }
    }
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::input, fmt::format("an overlay cannot be read: {}", error.what()));
  }
  const ScratchFolder scratch;
  const Configuration& configuration = work.configuration.values;
  for (const fs::path& file : draw(work.configuration.study->figure(configuration),
                                   data,
                                   {.folder = scratch.path, .formats = {"svg"}})) {
    if (file.extension() == ".svg") return read_whole(file);
  }
  throw Error(ErrorKind::storage, "no figure was drawn");
}

std::vector<std::string> Subject::simulation(const Json& values) const {
  const ConfigurationRequest request = request_at(values);
  CheckedConfiguration checked = read_configuration(request, registry_);
  if (!allow_commands_) require_no_command(checked.values);
  require_simulable(prepare(std::move(checked)));
  std::vector<std::string> words{request.target};
  if (!request.preset.empty()) words.insert(words.end(), {"--preset", request.preset});
  for (const Override& o : request.overrides) words.insert(words.end(), {"--set", o.assignment});
  return words;
}

Json Subject::overlay_of_run(const std::string& folder) const {
  const FinishedRun run(folder, registry_, accept_edits_);
  const CheckRecord verdict = judge_run(run.record, run.configuration, run.replicates);
  return {
      {"label", run.record.name + ", " + std::string(describe(verdict.verdict))},
      {"series", points_of(figure_data(run.record, run.configuration, run.replicates, verdict))}};
}

Json Subject::overlay_of_table(const std::string& text, const std::string& name) const {
  // The x of the study's own curves by its name, or just x: then of any curve.
  const std::vector<std::string> columns = sources::column_names(text, name);
  const auto has = [&](const std::string& x) {
    return std::find(columns.begin(), columns.end(), x) != columns.end();
  };
  const auto named = std::find_if(x_names_.begin(), x_names_.end(), has);
  const bool any = has("x") || named == x_names_.end();
  TableData table = table_data(text, name, any ? "x" : *named, {}, true);
  warn(false, table.remarks);
  FigureData data = std::move(table.data);
  if (any) {
    for (RecordedCurve& curve : data.curves) curve.mean.x_name.clear();
  }
  return {{"label", fs::path(name).filename().string()}, {"series", points_of(data)}};
}

Subject::Grid Subject::grid(const std::string& assignment) const {
  const std::size_t equals = assignment.find('=');
  const std::string key = assignment.substr(0, equals);
  const std::size_t dot = key.find('.');
  if (equals == std::string::npos || dot == std::string::npos)
    throw invalid_parameter("--grid", assignment, "KEY=VALUES, as model.rho=[0.1, 0.5, 0.9]");
  // The values are those of a sweep of this scalar alone: the configuration may give it, too.
  const std::string name = key.substr(dot + 1);
  const bool brought = description_.at("brought");  // such a configuration is always that of a file
  ConfigurationRequest request{
      .target = brought ? request_.target : study_, .preset = {}, .overrides = {}};
  if (brought)
    request.text = "x = \"none\"\n[theory]\nexpression = \"0\"\n[sweep]\n" + name + " = [0.0]\n";
  bool known = false;
  for (const Json& parameter : description_.at("parameters")) {
    known = known || parameter.at("key") == key;
    if (parameter.at("key") == "sweep." + name)
      throw invalid_parameter(
          "--grid", assignment, "a scalar of [model] or [sim] that is not swept");
  }
  request.overrides.push_back(
      {"--grid " + assignment, "sweep." + name + assignment.substr(equals)});
  const CheckedConfiguration c = read_configuration(request, registry_);
  for (const SweptScalar& swept : c.swept) {
    // Keys of [sim] of a user's configuration are free ones in this one.
    if (swept.key != key && !(brought && known)) continue;
    Grid grid{.key = key, .values = {}};
    for (const Value& value : swept.values) grid.values.push_back(to_toml(value));
    return grid;
  }
  throw invalid_parameter("--grid", assignment, "a scalar of [model] or [sim] that is not swept");
}

}  // namespace attica::app
