#include "attica/app/figures/composition.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "attica/app/command/text.hpp"
#include "attica/app/figures/table_curves.hpp"
#include "attica/app/run/files.hpp"
#include "attica/app/verdict/judge_run.hpp"
#include "attica/core/matching.hpp"
#include "attica/core/read_bytes.hpp"
#include "attica/plots/label.hpp"
#include "attica/plots/text.hpp"
#include "attica/sources/table.hpp"

namespace attica::app {

namespace fs = std::filesystem;

namespace {

/// A run or a table with what can be drawn of it.
struct FigureSource {
  std::string name;  ///< of the run, or the table's file without its ending
  std::string tag;   ///< unique
  std::unique_ptr<FinishedRun> run = {};
  Figure figure = {};        ///< of the run's study
  DrawOptions drawing = {};  ///< as the run's figure is drawn
  FigureData data = {};
  std::string x_unit = {};  ///< of a table that states it
  std::string value_unit = {};
};

FigureSource read_source(const std::string& folder,
                         const Registry& registry,
                         bool accept_edits,
                         DrawOptions& drawing) {
  auto run = std::make_unique<FinishedRun>(folder, registry, accept_edits);
  const CheckRecord verdict = judge_run(run->record, run->configuration, run->replicates);
  FigureSource source{run->record.name, run->record.path.filename().string()};
  source.figure = figure_of(run->record, run->configuration, run->replicates);
  source.data = figure_data(run->record, run->configuration, run->replicates, verdict);
  DrawOptions own = draw_options(run->record, run->configuration, source.figure, verdict);
  const auto noted = std::move(own.metadata);
  source.drawing = std::move(own);
  for (const auto& pair : noted) {
    if (pair.first != "hash") drawing.metadata.push_back(pair);
  }
  source.run = std::move(run);
  return source;
}

// ------------------------------------------------------------------------------ by a file

/// The folder of a run: as it is named, or the one folder of that name and a hash.
fs::path find_run(const std::string& name, const fs::path& directory) {
  std::vector<fs::path> found;
  for (const fs::path& base : {directory, fs::current_path()}) {
    const fs::path path = base / name;
    if (fs::is_directory(path)) return path;
    constexpr std::size_t kHash = 8;
    std::error_code ignored;
    const fs::path parent =
        path.has_filename() ? path.parent_path() : path.parent_path().parent_path();
    const std::string front = path.filename().string() + "-";
    for (const auto& entry : fs::directory_iterator(parent, ignored)) {
      const std::string own = entry.path().filename().string();
      const bool hashed =
          own.size() == front.size() + kHash && own.starts_with(front) &&
          own.find_first_not_of("0123456789abcdef", front.size()) == std::string::npos;
      if (hashed && fs::exists(entry.path() / "run.json")) found.push_back(entry.path());
    }
    if (!found.empty()) break;
  }
  if (found.size() == 1) return found.front();
  std::sort(found.begin(), found.end());
  std::vector<std::string> names;
  for (const fs::path& path : found) names.push_back(path.filename().string());
  throw invalid_parameter(
      "run",
      name,
      found.empty()
          ? std::string("the folder of a run, next to the figure's file or in the working "
                        "folder")
          : fmt::format("one run, but there are {}", fmt::join(names, ", ")));
}

fs::path find_table(const std::string& name, const fs::path& directory) {
  for (const fs::path& base : {directory, fs::current_path()}) {
    if (fs::is_regular_file(base / name)) return base / name;
  }
  throw invalid_parameter(
      "csv", name, "a file, next to the figure's file or in the working folder");
}

bool is_selected(const Point& point, const LayerRequest& layer) {
  return std::all_of(layer.only.begin(), layer.only.end(), [&](const auto& wanted) {
    return std::any_of(point.begin(), point.end(), [&](const auto& pair) {
      return pair.first == wanted.first &&
             std::any_of(wanted.second.begin(), wanted.second.end(), [&](const CoordinateValue& v) {
               return same_value(v, pair.second);
             });
    });
  });
}

std::string words(const std::set<std::string>& all) {
  return all.empty() ? "nothing" : fmt::format("{}", fmt::join(all, ", "));
}

/// Every value that a layer asks for must be there, or it would be missing in silence.
void check_only(const LayerRequest& layer, const std::vector<const RecordedCurve*>& curves) {
  for (const auto& [name, values] : layer.only) {
    std::set<std::string> there;
    std::set<std::string> names;
    std::vector<CoordinateValue> found;
    for (const RecordedCurve* curve : curves) {
      for (const auto& [own, value] : curve->mean.point) {
        names.insert(own);
        if (own != name) continue;
        there.insert(describe(value));
        found.push_back(value);
      }
    }
    if (there.empty())
      throw invalid_parameter(
          "only." + name, describe(values.front()), "one of the coordinates " + words(names));
    for (const CoordinateValue& value : values) {
      const bool known = std::any_of(found.begin(), found.end(), [&](const CoordinateValue& other) {
        return same_value(value, other);
      });
      if (!known)
        throw invalid_parameter("only." + name, describe(value), "one of " + words(there));
    }
  }
}

/// A ratio that the run was asked for stands for the one it was realised at: alpha = 0.5 with 39
/// inputs is a run of 20 samples, alpha = 20/39.
LayerRequest as_realised(LayerRequest layer,
                         const FigureSource& source,
                         const std::vector<const RecordedCurve*>& curves) {
  if (!source.run) return layer;
  const Configuration& c = source.run->configuration.values;
  for (auto& [name, values] : layer.only) {
    const std::string key = "sweep." + name;
    if (!c.declares(key) || !c.has(key)) continue;
    const List* const asked = std::get_if<List>(&c.at(key));
    for (CoordinateValue& value : values) {
      const double* const wanted = std::get_if<double>(&value);
      if (asked == nullptr || wanted == nullptr) continue;
      const bool configured = std::any_of(asked->begin(), asked->end(), [&](const Value& v) {
        const double* const number = std::get_if<double>(&v);
        return number != nullptr && same_number(*number, *wanted);
      });
      std::optional<double> near;
      for (const RecordedCurve* curve : curves) {
        for (const auto& [own, there] : curve->mean.point) {
          const double* const number = std::get_if<double>(&there);
          if (own != name || number == nullptr) continue;
          if (!near || std::abs(*number - *wanted) < std::abs(*near - *wanted)) near = *number;
        }
      }
      if (configured && near) value = *near;
    }
  }
  return layer;
}

/// The panel of the study's figure that shows the series.
const Panel* panel_of(const FigureSource& source, const std::string& series) {
  for (const Panel& panel : source.figure.panels) {
    for (const Layer& layer : panel.layers) {
      if (layer.series == series) return &panel;
    }
  }
  return nullptr;
}

/// The curves of a source that a layer draws.
std::vector<const RecordedCurve*> selected(const LayerRequest& request,
                                           const FigureSource& source) {
  LayerRequest layer = request;
  std::set<std::string> series;
  std::vector<const RecordedCurve*> curves;
  for (const RecordedCurve& curve : source.data.curves) {
    series.insert(curve.mean.name);
    if (curve.mean.name != layer.series || curve.mean.x.empty()) continue;
    if (curve.theory ? layer.theory : layer.simulation) curves.push_back(&curve);
  }
  if (series.count(layer.series) == 0)
    throw invalid_parameter("series", layer.series, "one of " + words(series));
  if (curves.empty()) {
    throw invalid_parameter(
        "show",
        layer.theory ? "theory" : "simulation",
        "what series '" + layer.series + "' has: it is there for the other only");
  }
  layer = as_realised(std::move(layer), source, curves);
  check_only(layer, curves);
  std::erase_if(curves, [&](const RecordedCurve* c) { return !is_selected(c->mean.point, layer); });
  if (curves.empty()) {
    throw invalid_parameter("only",
                            fmt::format("{} conditions", layer.only.size()),
                            "some that a curve meets together");
  }
  // One quantity is recorded over steps and over tokens, say: they are no curves of one axis.
  std::string wanted = source.run ? layer.x : "";
  const Panel* panel = panel_of(source, layer.series);
  if (wanted.empty() && source.run && panel != nullptr) wanted = panel->x_name;
  std::set<std::string> x_names;
  for (const RecordedCurve* curve : curves) x_names.insert(curve->mean.x_name);
  x_names.erase("none");
  if (!wanted.empty()) {
    if (!x_names.empty() && x_names.count(wanted) == 0)
      throw invalid_parameter("x", wanted, "one of " + words(x_names));
    std::erase_if(curves, [&](const RecordedCurve* curve) {
      return curve->mean.x_name != wanted && curve->mean.x_name != "none";
    });
  } else if (x_names.size() > 1) {
    throw invalid_parameter("x", "not given", "one of " + words(x_names));
  }
  return curves;
}

/// Puts the run's parameters into a label's places that no coordinate fills.
std::string with_parameters(std::string label, const FigureSource& source, const Point& point) {
  for (auto at = label.find('{'); at != std::string::npos; at = label.find('{', at + 1)) {
    const auto end = label.find('}', at);
    if (end == std::string::npos) break;
    const std::string name = label.substr(at + 1, end - at - 1);
    const bool is_name = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    });
    const bool escaped =
        at > 0 && (label[at - 1] == '\\' || label[at - 1] == '_' || label[at - 1] == '^');
    if (!is_name || escaped || plots::mentions_coordinate("{" + name + "}", point)) continue;
    std::set<std::string> known;
    for (const auto& [own, value] : point) known.insert(own);
    std::optional<CoordinateValue> found;
    if (source.run) {
      const CheckedConfiguration& c = source.run->configuration;
      for (const Parameter& p : all_parameters(*c.study)) {
        if (p.list || !c.values.has(p.key) || c.is_swept(p.key)) continue;
        known.insert(p.name());
        if (p.name() == name && !found)
          found = swept_coordinates({{p.key, c.values.at(p.key)}}).front().second;
      }
    }
    if (!found) throw invalid_parameter("label", "{" + name + "}", "one of " + words(known));
    const std::string text = plots::fill_label("{" + name + "}", {{name, *found}});
    label.replace(at, end + 1 - at, text);
    at += text.size() - 1;
  }
  return label;
}

/// Sources of a figure by their files, read once each.
class Library {
 public:
  Library(const FigureFile& file, const Registry& registry, bool accept_edits, DrawOptions& drawing)
      : file_(file), registry_(registry), accept_edits_(accept_edits), drawing_(drawing) {}

  const FigureSource& of(const LayerRequest& layer) {
    const bool is_run = !layer.run.empty();
    const fs::path path = fs::weakly_canonical(is_run ? find_run(layer.run, file_.directory)
                                                      : find_table(layer.csv, file_.directory));
    const std::string x = layer.x.empty() ? "x" : layer.x;
    const std::string key = is_run ? path.string()
                                   : fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}",
                                                 path.string(),
                                                 x,
                                                 layer.points,
                                                 fmt::join(layer.columns.values, "\t"),
                                                 layer.columns.replicate,
                                                 layer.columns.sd,
                                                 layer.columns.n);
    if (const auto found = sources_.find(key); found != sources_.end()) return found->second;
    FigureSource source;
    if (is_run) {
      source = read_source(path.string(), registry_, accept_edits_, drawing_);
    } else {
      const std::optional<std::string> text = read_bytes(path);
      if (!text) throw invalid_parameter("csv", layer.csv, "a readable file");
      source.name = path.stem().string();
      source.tag = path.filename().string();
      TableData table = table_data(*text, layer.csv, x, layer.columns, layer.points);
      source.data = std::move(table.data);
      source.x_unit = table.x_unit;
      source.value_unit = table.value_unit;
      warn(false, table.remarks);
      drawing_.metadata.emplace_back("table",
                                     fmt::format("{} sha256 {}", source.tag, sha256(*text)));
    }
    for (std::size_t k = 2; !tags_.insert(source.tag).second; ++k)
      source.tag = fmt::format("{} ({})", source.tag.substr(0, source.tag.find(" (")), k);
    return sources_.emplace(key, std::move(source)).first->second;
  }

 private:
  const FigureFile& file_;
  const Registry& registry_;
  bool accept_edits_;
  DrawOptions& drawing_;
  std::map<std::string, FigureSource> sources_;
  std::set<std::string> tags_;
};

/// A layer whose curves have been found.
struct FoundLayer {
  const LayerRequest* request;
  const FigureSource* source;
  std::vector<const RecordedCurve*> curves;
};

/// Puts a layer's curves, with what they were compared with, into the figure's data under a name of
/// their own, and returns it: two selections of one series must not show each other's curves.
std::string enter(const FoundLayer& found,
                  FigureData& data,
                  std::map<std::string, std::vector<std::vector<const RecordedCurve*>>>& entered) {
  const FigureSource& source = *found.source;
  auto& selections = entered[source.tag + "\n" + found.request->series];
  const auto known = std::find(selections.begin(), selections.end(), found.curves);
  const auto number = static_cast<std::size_t>(known - selections.begin());
  const std::string tag = number == 0 ? source.tag : fmt::format("{} [{}]", source.tag, number + 1);
  if (known != selections.end()) return tag;
  selections.push_back(found.curves);
  const Point front = {{std::string(kSourceCoordinate), tag}};
  for (const RecordedCurve* curve : found.curves) {
    data.curves.push_back(*curve);
    data.curves.back().mean.point = joined(front, curve->mean.point);
    if (curve->theory) continue;
    for (const ResidualPoint& residual : source.data.residuals) {
      if (residual.series != curve->mean.name || residual.point != curve->mean.point ||
          residual.x_name != curve->mean.x_name)
        continue;
      data.residuals.push_back(residual);
      data.residuals.back().point = joined(front, residual.point);
    }
  }
  return tag;
}

/// What a layer is called if its author does not say: by what it differs in from the others.
std::string own_label(const FoundLayer& layer, const std::vector<FoundLayer>& all) {
  bool other_source = false;
  bool other_series = false;
  bool same_name = false;
  for (const FoundLayer& other : all) {
    const bool differs = other.source != layer.source;
    other_source = other_source || differs;
    same_name = same_name || (differs && other.source->name == layer.source->name);
    other_series = other_series || other.request->series != layer.request->series;
  }
  std::string label;
  if (other_source) label = escape(same_name ? layer.source->tag : layer.source->name);
  if (other_series)
    label += (label.empty() ? "" : ", ") + plots::pretty_name(layer.request->series);
  return label;
}

/// Axes as the studies draw them, else after the names of x and of the series.
void default_axes(const std::vector<FoundLayer>& layers, Panel& panel) {
  const FoundLayer& first = layers.front();
  const bool map = !panel.y_coordinate.empty();
  if (map) panel.y.label = plots::pretty_name(panel.y_coordinate);
  for (const FoundLayer& layer : layers) {
    const Panel* drawn = panel_of(*layer.source, layer.request->series);
    if (drawn == nullptr) continue;
    const bool of_map = drawn->kind == PanelKind::heat_map || drawn->kind == PanelKind::contours;
    if (map != of_map) continue;
    panel.x = drawn->x;
    panel.y = drawn->y;
    panel.value = drawn->value;
    break;
  }
  const auto free_ends = [](Axis& axis) {
    axis.low.reset();
    axis.high.reset();
  };
  free_ends(panel.x);
  free_ends(panel.y);
  if (panel.x.label.empty()) {
    for (const RecordedCurve* curve : first.curves) {
      if (curve->mean.x_name != "none") panel.x.label = plots::pretty_name(curve->mean.x_name);
    }
  }
  if (map) return;
  std::vector<std::string> names;
  const bool runs = std::any_of(
      layers.begin(), layers.end(), [](const FoundLayer& l) { return l.source->run != nullptr; });
  for (const FoundLayer& layer : layers) {
    if (runs && layer.source->run == nullptr) continue;
    const std::string name = plots::pretty_name(layer.request->series);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  if (names.size() > 1 || panel.y.label.empty())
    panel.y.label = fmt::format("{}", fmt::join(names, ", "));
}

/// Tables that state units are drawn on one pair of axes only if the units are the same: none is
/// converted.
void require_same_units(const std::vector<FoundLayer>& layers) {
  const auto check = [&](std::string FigureSource::*unit, const char* of) {
    const FoundLayer* stated = nullptr;
    for (const FoundLayer& layer : layers) {
      const std::string& own = layer.source->*unit;
      if (own.empty()) continue;
      if (stated == nullptr) stated = &layer;
      const std::string& first = stated->source->*unit;
      if (own == first) continue;
      throw Error(ErrorKind::input,
                  fmt::format("{}: error: {}: {} in [{}], but in [{}] in '{}' of the same axes",
                              layer.request->where,
                              layer.request->name,
                              of,
                              own,
                              first,
                              stated->source->tag));
    }
  };
  check(&FigureSource::x_unit, "x");
  check(&FigureSource::value_unit, "values");
}

/// The ends that an author fixed must suit the scale, which may be the study's.
void check_ends(const Axis& axis, const std::string& name, const std::string& where) {
  for (const auto& [end, value] : {std::pair{"low", axis.low}, std::pair{"high", axis.high}}) {
    if (axis.scale != AxisScale::log || !value || *value > 0) continue;
    throw Error(ErrorKind::input,
                fmt::format("{}: error: {}",
                            where,
                            invalid_parameter(fmt::format("{}.{}", name, end),
                                              *value,
                                              "a positive end of the logarithmic axis, or scale = "
                                              "\"linear\"")
                                .what()));
  }
}

// ------------------------------------------------------------------------------- of runs

/// Parameters of a run that may tell it from others of its study.
std::vector<std::string> telling_keys(const std::vector<const FigureSource*>& runs) {
  std::vector<std::string> keys;
  const CheckedConfiguration& first = runs.front()->run->configuration;
  for (const Parameter& p : all_parameters(*first.study)) {
    const std::string section = p.section();
    if (p.list || section == "check" || section == "plot" || section == "figure" ||
        p.key == "sim.seed" || p.key == "sim.replicates" || section.empty())
      continue;
    const auto value = [&](const FigureSource* source) -> std::optional<Value> {
      const CheckedConfiguration& c = source->run->configuration;
      if (!c.values.declares(p.key) || !c.values.has(p.key) || c.is_swept(p.key))
        return std::nullopt;
      return c.values.at(p.key);
    };
    const auto text = [&](const FigureSource* source) {
      const auto own = value(source);
      return own ? to_toml(*own) : std::string();
    };
    const std::string expected = text(runs.front());
    if (std::any_of(
            runs.begin(), runs.end(), [&](const FigureSource* s) { return text(s) != expected; }))
      keys.push_back(p.key);
  }
  return keys;
}

/// What each run's curves are told from the others' by.
std::vector<Point> telling_points(const std::vector<const FigureSource*>& runs) {
  std::vector<Point> points(runs.size());
  if (runs.size() < 2) return points;
  const std::vector<std::string> keys = telling_keys(runs);
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const CheckedConfiguration& c = runs[k]->run->configuration;
    for (const std::string& key : keys) {
      if (!c.values.has(key) || c.is_swept(key)) continue;
      points[k] = joined(points[k], swept_coordinates({{key, c.values.at(key)}}));
    }
  }
  std::set<std::string> different;
  for (const Point& point : points) different.insert(describe(point));
  if (different.size() == runs.size()) return points;
  std::set<std::string> names;
  for (const FigureSource* run : runs) names.insert(run->name);
  for (std::size_t k = 0; k < runs.size(); ++k)
    points[k] = {{"run", names.size() == runs.size() ? runs[k]->name : runs[k]->tag}};
  return points;
}

bool same_panel(const Panel& a, const Panel& b) {
  const bool layers =
      std::equal(a.layers.begin(),
                 a.layers.end(),
                 b.layers.begin(),
                 b.layers.end(),
                 [](const Layer& p, const Layer& q) {
                   return p.series == q.series && p.only == q.only && p.label == q.label;
                 });
  return layers && a.kind == b.kind && a.x.label == b.x.label && a.y.label == b.y.label &&
         a.title == b.title && a.x_name == b.x_name;
}

bool is_map(const Panel& panel) {
  return panel.kind == PanelKind::heat_map || panel.kind == PanelKind::contours;
}

/// Whether a layer of the panel has what was compared with a theory.
bool has_residuals(const Panel& panel, const FigureData& data) {
  return std::ranges::any_of(data.residuals, [&](const ResidualPoint& r) {
    return std::ranges::any_of(panel.layers, [&](const Layer& layer) {
      return layer.series == r.series && !r.point.empty() && r.point.front() == layer.only.front();
    });
  });
}

/// Keeps the panel to curves with these coordinates.
void restrict_to(Panel& panel, const Point& coordinates) {
  for (Layer& layer : panel.layers) layer.only = joined(coordinates, layer.only);
}

}  // namespace

Composition compose_file(const FigureFile& file, const Registry& registry, bool accept_edits) {
  Composition made;
  made.figure = {
      .name = file.change.name.value_or("figure"), .panels = {}, .columns = 1, .caption = {}};
  made.drawing.formats = {"svg", "pdf", "png"};
  Library library(file, registry, accept_edits, made.drawing);
  std::map<std::string, std::vector<std::vector<const RecordedCurve*>>> entered;
  const auto enter_layers = [&](const std::vector<LayerRequest>& requests,
                                Panel& panel,
                                std::vector<LayerLook>& looks) {
    std::vector<FoundLayer> layers;
    for (const LayerRequest& wanted : requests) {
      try {
        const FigureSource& source = library.of(wanted);
        layers.push_back({&wanted, &source, {}});
        layers.back().curves = selected(wanted, source);
      } catch (const Error& error) {
        // Mistakes inside a table say where they are themselves.
        const std::string what = error.what();
        throw Error(error.kind(),
                    what.find(": error: ") != std::string::npos || error.kind() != ErrorKind::input
                        ? what
                        : fmt::format("{}: error: {}: {}", wanted.where, wanted.name, what));
      }
    }
    require_same_units(layers);
    default_axes(layers, panel);
    for (const FoundLayer& found : layers) {
      const LayerRequest& wanted = *found.request;
      std::string label = wanted.label.value_or(own_label(found, layers));
      try {
        label = with_parameters(label, *found.source, found.curves.front()->mean.point);
      } catch (const Error& error) {
        throw Error(error.kind(),
                    fmt::format("{}: error: {}: {}", wanted.where, wanted.name, error.what()));
      }
      const std::string tag = enter(found, made.data, entered);
      panel.layers.push_back({.series = found.curves.front()->mean.name,
                              .label = std::move(label),
                              .theory = wanted.theory,
                              .simulation = wanted.simulation,
                              .reference = wanted.reference,
                              .trajectories = wanted.trajectories,
                              .hollow = wanted.hollow,
                              .only = {{std::string(kSourceCoordinate), tag}}});
      looks.push_back(wanted.look);
    }
  };
  for (const PanelRequest& request : file.panels) {
    Panel panel;
    PanelLook look;
    panel.kind = request.kind;
    panel.y_coordinate = request.y_coordinate;
    enter_layers(request.layers, panel, look.layers);
    if (!request.inset_layers.empty()) {
      look.inset.emplace();
      enter_layers(request.inset_layers, look.inset->panel, look.inset->layers);
    }
    apply(file.change.every, panel, look);
    apply(request.change, panel, look);
    const std::string place = fmt::format("panels[{}]", made.figure.panels.size());
    warn(!panel.residuals || has_residuals(panel, made.data),
         {fmt::format(
             "{}: {}: residuals are of a theory and a simulation of one run, which no layer "
             "is: none are drawn",
             request.where,
             place)});
    check_ends(panel.x, place + ".x", request.where);
    check_ends(panel.y, place + ".y", request.where);
    made.figure.panels.push_back(std::move(panel));
    made.drawing.look.panels.push_back(std::move(look));
  }
  FigureChange rest = file.change;
  rest.every = {};
  apply(rest, made.figure, made.drawing);
  return made;
}

Composition compose_runs(const std::vector<std::string>& folders,
                         const Registry& registry,
                         bool accept_edits) {
  Composition made;
  std::vector<FigureSource> sources;
  std::vector<std::string> studies;
  for (const std::string& folder : folders) {
    sources.push_back(read_source(folder, registry, accept_edits, made.drawing));
    const FinishedRun& run = *sources.back().run;
    for (std::size_t k = 0; k + 1 < sources.size(); ++k) {
      if (fs::equivalent(sources[k].run->record.path, run.record.path))
        throw invalid_parameter("RUN", folder, "every run once");
    }
    if (std::find(studies.begin(), studies.end(), run.record.study) == studies.end())
      studies.push_back(run.record.study);
  }
  auto metadata = std::move(made.drawing.metadata);
  made.drawing = sources.front().drawing;
  made.drawing.metadata = std::move(metadata);
  made.drawing.look.panels.clear();
  made.figure.name = sources.front().figure.name;
  for (const std::string& study : studies) {
    std::vector<const FigureSource*> runs;
    for (const FigureSource& source : sources) {
      if (source.run->record.study == study) runs.push_back(&source);
    }
    const Point of_study = studies.size() > 1 ? Point{{"study", study}} : Point{};
    const std::vector<Point> points = telling_points(runs);
    std::vector<Panel> panels;  // as the studies draw them
    for (std::size_t k = 0; k < runs.size(); ++k) {
      const Point front = joined(of_study, points[k]);
      made.figure.columns = std::max(made.figure.columns, runs[k]->figure.columns);
      for (const Panel& panel : runs[k]->figure.panels) {
        const bool drawn = std::any_of(
            panels.begin(), panels.end(), [&](const Panel& p) { return same_panel(p, panel); });
        if (drawn && !is_map(panel)) continue;
        panels.push_back(panel);
        Panel own = panel;
        restrict_to(own, is_map(panel) ? front : of_study);
        if (is_map(panel) && !points[k].empty()) {
          own.title += own.title.empty() ? "" : ", ";
          own.title += plots::point_label(points[k], points);
        }
        made.figure.panels.push_back(std::move(own));
      }
      for (RecordedCurve curve : runs[k]->data.curves) {
        curve.mean.point = joined(front, curve.mean.point);
        made.data.curves.push_back(std::move(curve));
      }
      for (ResidualPoint residual : runs[k]->data.residuals) {
        residual.point = joined(front, residual.point);
        made.data.residuals.push_back(std::move(residual));
      }
    }
  }
  return made;
}

}  // namespace attica::app
