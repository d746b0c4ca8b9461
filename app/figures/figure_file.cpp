#include "attica/app/figures/figure_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "attica/app/command/text.hpp"
#include "attica/app/configuration/assignment.hpp"
#include "attica/core/error.hpp"
#include "attica/core/label.hpp"
#include "attica/core/read_bytes.hpp"
#include "attica/studies/toml_reader.hpp"

namespace attica::app {

using namespace toml_io;

namespace {

constexpr std::size_t kMostPanels = 20;  ///< (a) to (t): x and y are axes

// ---------------------------------------------------------------------------------- tables

std::vector<TomlKey> axis_keys(AxisChange& axis, TomlReader& reader) {
  return {label_key("label", axis.label, reader),
          word_key<AxisScale>("scale",
                              {{"linear", AxisScale::linear}, {"log", AxisScale::log}},
                              [&axis](AxisScale scale) { axis.scale = scale; }),
          number_key("low", axis.low),
          number_key("high", axis.high)};
}

TomlKey axis_key(const std::string& name, AxisChange& axis, TomlReader& reader) {
  return {name,
          "a table such as {label = \"time\", scale = \"log\", low = 1, high = 100}",
          [&axis, &reader](const toml::node& node) {
            if (!node.is_table()) return false;
            const std::string place = reader.place();
            reader.read(*node.as_table(), place, axis_keys(axis, reader));
            const bool log = axis.scale == AxisScale::log;
            if (axis.low && axis.high && !(*axis.low < *axis.high))
              throw invalid_parameter(
                  place, fmt::format("{} to {}", *axis.low, *axis.high), "low < high");
            for (const auto& end : {axis.low, axis.high}) {
              if (log && end && *end <= 0)
                throw invalid_parameter(place, *end, "positive ends of a logarithmic axis");
            }
            return true;
          }};
}

std::vector<TomlKey> annotation_keys(std::optional<std::string>& text,
                                     std::optional<double>& x,
                                     std::optional<double>& y,
                                     TextAnchor& anchor,
                                     TomlReader& reader) {
  return {label_key("text", text, reader),
          number_key("x", x),
          number_key("y", y),
          word_key<TextAnchor>("anchor",
                               {{"left", TextAnchor::left},
                                {"centre", TextAnchor::centre},
                                {"right", TextAnchor::right}},
                               [&anchor](TextAnchor a) { anchor = a; })};
}

TomlKey annotations_key(std::optional<std::vector<Annotation>>& target, TomlReader& reader) {
  const std::string expected =
      "a list of tables such as {text = \"peak\", x = 1.0, y = 0.5, anchor = \"left\"}";
  return {"texts", expected, [&target, &reader, expected](const toml::node& node) {
            const auto* array = node.as_array();
            if (array == nullptr) return false;
            const std::string place = reader.place();
            std::vector<Annotation> notes;
            for (const toml::node& element : *array) {
              if (!element.is_table()) return false;
              std::optional<std::string> text;
              std::optional<double> x;
              std::optional<double> y;
              TextAnchor anchor = TextAnchor::left;
              const std::string name = fmt::format("{}[{}]", place, notes.size());
              reader.read(*element.as_table(), name, annotation_keys(text, x, y, anchor, reader));
              if (!text || text->empty() || !x || !y)
                throw invalid_parameter(name, shown(element), "text, x and y");
              notes.push_back({*text, *x, *y, anchor});
            }
            target = notes;
            return true;
          }};
}

std::vector<TomlKey> inset_keys(InsetChange& inset, TomlReader& reader) {
  constexpr double kLeastPart = 0.1;
  const std::string expected = "left, bottom, width, height as fractions of the panel's axes";
  return {axis_key("x", inset.x, reader),
          axis_key("y", inset.y, reader),
          word_key<Corner>("corner",
                           {{"top-left", Corner::top_left},
                            {"top-right", Corner::top_right},
                            {"bottom-left", Corner::bottom_left},
                            {"bottom-right", Corner::bottom_right}},
                           [&inset](Corner corner) { inset.corner = corner; }),
          TomlKey{"place",
                  expected,
                  [&inset](const toml::node& node) {
                    constexpr double kRounding = 1e-9;
                    std::optional<std::vector<double>> given;
                    std::array<double, 4> place{};
                    if (!numbers_key("place", given).set(node) || given->size() != place.size())
                      return false;
                    std::copy(given->begin(), given->end(), place.begin());
                    const auto [left, bottom, width, height] = place;
                    inset.place = place;
                    return left >= 0 && bottom >= 0 && width >= kLeastPart &&
                           height >= kLeastPart && left + width <= 1 + kRounding &&
                           bottom + height <= 1 + kRounding;
                  }},
          number_key("width", inset.width, "0.1 to 0.9 of the panel's axes", kLeastPart, 0.9),
          number_key("height", inset.height, "0.1 to 0.9 of the panel's axes", kLeastPart, 0.9)};
}

std::vector<TomlKey> layer_keys(LayerRequest& layer, TomlReader& reader);
TomlKey layers_key(std::vector<LayerRequest>& layers, TomlReader& reader);

/// @param layers receives those of the inset; null: it has the panel's
TomlKey inset_key(std::optional<InsetChange>& target,
                  std::vector<LayerRequest>* layers,
                  TomlReader& reader) {
  const std::string expected =
      "a table such as {x = {low = 0.9, high = 1.1}, corner = \"top-left\"}";
  return {"inset", expected, [&target, layers, &reader](const toml::node& node) {
            if (!node.is_table()) return false;
            const std::string place = reader.place();
            if (!target) target.emplace();
            std::vector<TomlKey> keys = inset_keys(*target, reader);
            if (layers != nullptr) keys.push_back(layers_key(*layers, reader));
            reader.read(*node.as_table(), place, keys);
            const bool sized = target->corner || target->width || target->height;
            if (target->place && sized)
              throw invalid_parameter(place,
                                      "place and one of corner, width, height",
                                      "one way to say where it stands");
            return true;
          }};
}

/// What can be said of a panel, or of all of them.
std::vector<TomlKey> panel_change_keys(PanelChange& panel,
                                       TomlReader& reader,
                                       std::vector<LayerRequest>* inset_layers = nullptr) {
  return {inset_key(panel.inset, inset_layers, reader),
          label_key("title", panel.title, reader),
          axis_key("x", panel.x, reader),
          axis_key("y", panel.y, reader),
          axis_key("value", panel.value, reader),
          flag_key("residuals", [&panel](bool on) { panel.residuals = on; }),
          flag_key("diagonal", [&panel](bool on) { panel.diagonal = on; }),
          numbers_key("vertical", panel.vertical),
          numbers_key("horizontal", panel.horizontal),
          annotations_key(panel.texts, reader)};
}

std::optional<CoordinateValue> coordinate_of(const toml::node& node) {
  if (const auto text = text_of(node)) return CoordinateValue(*text);
  if (const auto number = number_of(node)) return CoordinateValue(*number);
  return std::nullopt;
}

TomlKey only_key(LayerRequest& layer, TomlReader& reader) {
  const std::string expected = "a table such as {lambda = [0.1, 1.0], model = \"factored\"}";
  return {"only", expected, [&layer, &reader](const toml::node& node) {
            if (!node.is_table()) return false;
            // A copy: what is read within moves on.
            const std::string place = std::string(reader.place());
            for (auto&& [key, inner] : *node.as_table()) {
              const std::string name(key.str());
              std::vector<CoordinateValue> values;
              if (const auto value = coordinate_of(inner)) {
                values.push_back(*value);
              } else if (const auto* array = inner.as_array()) {
                for (const toml::node& element : *array) {
                  if (const auto one = coordinate_of(element)) values.push_back(*one);
                }
                if (values.size() != array->size()) values.clear();
              }
              if (values.empty()) {
                throw invalid_parameter(
                    place + "." + name, shown(inner), "a number, a word, or a list of some");
              }
              layer.only.emplace_back(name, values);
            }
            return true;
          }};
}

std::vector<TomlKey> layer_keys(LayerRequest& layer, TomlReader& reader) {
  using Show = std::pair<bool, bool>;
  static const std::vector<std::pair<std::string, std::string>> kColours = {
      {"blue", "#0072B2"},
      {"vermillion", "#D55E00"},
      {"green", "#009E73"},
      {"purple", "#CC79A7"},
      {"orange", "#E69F00"},
      {"sky", "#56B4E9"},
      {"black", "#000000"},
      {"grey", "#777777"}};
  std::vector<std::string> names;
  for (const auto& [name, colour] : kColours) names.push_back(name);
  return {text_key("run", layer.run, "a run folder, or its name without the hash"),
          text_key("csv", layer.csv, "a table"),
          text_key("series", layer.series),
          text_key("x", layer.x),
          TomlKey{"value",
                  "the name of a column, or a list of names",
                  [&layer](const toml::node& node) {
                    const auto* array = node.as_array();
                    if (array == nullptr) {
                      const auto text = text_of(node);
                      if (text) layer.columns.values = {*text};
                      return text && !text->empty();
                    }
                    for (const toml::node& element : *array) {
                      const auto text = text_of(element);
                      if (!text || text->empty()) return false;
                      layer.columns.values.push_back(*text);
                    }
                    return !array->empty();
                  }},
          text_key("replicate", layer.columns.replicate, "the name of a column"),
          text_key("sd", layer.columns.sd, "the name of a column"),
          TomlKey{"n",
                  "a number of replicates, the name of a column, or \"unknown\"",
                  [&layer](const toml::node& node) {
                    const auto* number = node.as_integer();
                    const auto text = text_of(node);
                    layer.columns.n =
                        number != nullptr ? fmt::format("{}", number->get()) : text.value_or("");
                    return !layer.columns.n.empty();
                  }},
          label_key("label", layer.label, reader),
          only_key(layer, reader),
          word_key<Show>(
              "show",
              {{"both", {true, true}}, {"theory", {true, false}}, {"simulation", {false, true}}},
              [&layer](Show show) {
                layer.theory = show.first;
                layer.simulation = show.second;
              }),
          word_key<bool>("draw",
                         {{"line", false}, {"points", true}},
                         [&layer](bool points) { layer.points = points; }),
          flag_key("reference", [&layer](bool on) { layer.reference = on; }),
          flag_key("trajectories", [&layer](bool on) { layer.trajectories = on; }),
          flag_key("hollow", [&layer](bool on) { layer.hollow = on; }),
          TomlKey{"colour",
                  fmt::format("#rrggbb, hexadecimal, or one of {}", fmt::join(names, ", ")),
                  [&layer](const toml::node& node) {
                    const auto text = text_of(node);
                    if (!text) return false;
                    for (const auto& [name, colour] : kColours) {
                      if (*text == name) layer.look.colour = colour;
                    }
                    constexpr std::size_t kLength = 7;
                    const bool number =
                        text->size() == kLength && text->front() == '#' &&
                        text->find_first_not_of("0123456789abcdefABCDEF", 1) == std::string::npos;
                    if (number) layer.look.colour = *text;
                    return layer.look.colour.has_value();
                  }},
          name_key("marker", marker_names(), layer.look.marker),
          name_key("line", line_names(), layer.look.line)};
}

/// What a layer asks for must make sense as a whole.
void check(const LayerRequest& layer, const toml::node& node, TomlReader& reader) {
  const auto refuse = [&](const std::string& what) {
    reader.report(node.source().begin, fmt::format("{}: {}", layer.name, what));
  };
  if (layer.run.empty() == layer.csv.empty()) refuse("expected one of run and csv");
  if (!layer.run.empty() && layer.series.empty()) refuse("missing key 'series'");
  if (layer.columns != sources::TableColumns{} && layer.csv.empty())
    refuse("value, replicate, sd and n are columns of a table");
  if (layer.points && layer.csv.empty())
    refuse("draw is for tables; what of a run is drawn, show says");
  if (layer.reference && !layer.theory) refuse("a reference is a theory: show = \"simulation\"");
}

TomlKey layers_key(std::vector<LayerRequest>& layers, TomlReader& reader) {
  return {"layers", "a list of tables", [&layers, &reader](const toml::node& node) {
            const auto* array = node.as_array();
            if (array == nullptr || array->empty()) return false;
            const std::string place = reader.place();
            for (const toml::node& element : *array) {
              if (!element.is_table()) return false;
              LayerRequest layer;
              layer.where = reader.where(element.source().begin);
              layer.name = fmt::format("{}[{}]", place, layers.size());
              reader.read(*element.as_table(), layer.name, layer_keys(layer, reader));
              check(layer, element, reader);
              if (layer.series.empty()) layer.series = "y";  // as tables without that column
              layers.push_back(std::move(layer));
            }
            return true;
          }};
}

std::vector<TomlKey> panel_keys(PanelRequest& panel, TomlReader& reader) {
  std::vector<TomlKey> keys = panel_change_keys(panel.change, reader, &panel.inset_layers);
  keys.push_back(word_key<PanelKind>("kind",
                                     {{"curves", PanelKind::curves},
                                      {"scatter", PanelKind::scatter},
                                      {"heat-map", PanelKind::heat_map},
                                      {"contours", PanelKind::contours}},
                                     [&panel](PanelKind kind) { panel.kind = kind; }));
  keys.push_back(text_key("y_coordinate", panel.y_coordinate));
  keys.push_back(layers_key(panel.layers, reader));
  return keys;
}

bool is_figure_name(const std::string& name) {
  constexpr std::string_view kCharacters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  return !name.empty() && name.front() != '.' &&
         name.find_first_not_of(kCharacters) == std::string::npos;
}

std::vector<TomlKey> figure_change_keys(FigureChange& figure, TomlReader& reader) {
  constexpr double kLeastSize = 4;
  constexpr double kMostSize = 40;
  constexpr double kMostInches = 40;
  constexpr double kLeastAspect = 0.1;
  constexpr double kMostAspect = 5;
  constexpr std::int64_t kMostColumns = 6;
  std::vector<TomlKey> keys = panel_change_keys(figure.every, reader);
  const auto add = [&](TomlKey key) { keys.push_back(std::move(key)); };
  add({"name", "letters, digits, '_', '-' and '.'", [&figure](const toml::node& node) {
         figure.name = text_of(node);
         return figure.name && is_figure_name(*figure.name);
       }});
  add(name_key("style", style_names(), figure.style));
  add({"width", "half, full, or 1 to 40 inches", [&figure](const toml::node& node) {
         const auto text = text_of(node);
         const auto inches = number_of(node);
         if (text == "half" || text == "full") {
           figure.width = figure_width(*text);
           figure.inches.reset();
           return true;
         }
         figure.inches = inches;
         return inches && *inches >= 1 && *inches <= kMostInches;
       }});
  add({"formats", "a list of svg, pdf, png, tex", [&figure](const toml::node& node) {
         const auto* array = node.as_array();
         if (array == nullptr || array->empty()) return false;
         static const std::set<std::string> kFormats = {"svg", "pdf", "png", "tex"};
         std::vector<std::string> formats;
         for (const toml::node& element : *array) {
           const auto text = text_of(element);
           if (!text || kFormats.count(*text) == 0) return false;
           if (std::find(formats.begin(), formats.end(), *text) != formats.end()) return false;
           formats.push_back(*text);
         }
         figure.formats = formats;
         return true;
       }});
  add({"columns", "1 to 6", [&figure](const toml::node& node) {
         const auto* columns = node.as_integer();
         if (columns == nullptr || columns->get() < 1 || columns->get() > kMostColumns)
           return false;
         figure.columns = static_cast<std::size_t>(columns->get());
         return true;
       }});
  add(word_key<LegendPlace>("legend",
                            {{"above", LegendPlace::above},
                             {"below", LegendPlace::below},
                             {"right", LegendPlace::right},
                             {"inside", LegendPlace::inside},
                             {"none", LegendPlace::none}},
                            [&figure](LegendPlace place) { figure.legend = place; }));
  add(flag_key("key", [&figure](bool on) { figure.key = on; }));
  add(flag_key("letters", [&figure](bool on) { figure.letters = on; }));
  add({"font", "the name of a font", [&figure](const toml::node& node) {
         figure.font = text_of(node);
         return figure.font && !figure.font->empty() &&
                figure.font->find_first_of("',\"\\{}") == std::string::npos;
       }});
  add(number_key("size", figure.size, "4 to 40 points", kLeastSize, kMostSize));
  add(number_key(
      "aspect", figure.aspect, "0.1 to 5, height over width", kLeastAspect, kMostAspect));
  return keys;
}

/// Enters one `figure.KEY=VALUE`.
void read_change(const Override& given, FigureChange& change) {
  TomlReader reader(given.shown, false);
  if (given.assignment.find('=') == std::string::npos)
    throw Error(ErrorKind::input, fmt::format("{}: error: expected key=value", given.shown));
  require_one_value(given.assignment, given.shown);
  const toml::table document = [&] {
    try {
      return parsed(given.assignment, given.shown, false);
    } catch (const Error& error) {
      throw Error(error.kind(), error.what() + assignment_hint(given.assignment));
    }
  }();
  const toml::table* table = document["figure"].as_table();
  if (table == nullptr || document.size() != 1) {
    throw Error(ErrorKind::input,
                fmt::format("{}: error: expected a key of the figure, such as figure.x.label",
                            given.shown));
  }
  std::vector<TomlKey> keys = figure_change_keys(change, reader);
  for (std::size_t i = 0; i < kMostPanels; ++i) {
    const std::string letter(1, static_cast<char>('a' + i));
    if (!table->contains(letter)) continue;
    PanelChange& panel = change.one[i];
    keys.push_back({letter, "a table", [&panel, &reader](const toml::node& node) {
                      if (!node.is_table()) return false;
                      const std::string place = reader.place();
                      reader.read(*node.as_table(), place, panel_change_keys(panel, reader));
                      return true;
                    }});
  }
  reader.read(*table, "figure", keys);
  reader.finish();
}

void apply(const AxisChange& change, Axis& axis) {
  if (change.label) axis.label = *change.label;
  if (change.scale) axis.scale = *change.scale;
  if (change.low) axis.low = change.low;
  if (change.high) axis.high = change.high;
}

void apply(const InsetChange& change, Inset& inset) {
  apply(change.x, inset.panel.x);
  apply(change.y, inset.panel.y);
  if (change.corner) inset.corner = change.corner;
  if (change.place) inset.place = change.place;
  if (change.corner || change.width || change.height) inset.place.reset();
  if (change.width) inset.width = *change.width;
  if (change.height) inset.height = *change.height;
}

}  // namespace

FigureFile read_figure_file(const std::string& path) {
  const std::optional<std::string> text = read_bytes(path);
  if (!text) {
    throw Error(ErrorKind::input,
                fmt::format("cannot read '{}': expected a figure's TOML file", path));
  }
  FigureFile file = read_figure_text(*text, path);
  file.directory = std::filesystem::absolute(path).parent_path();
  return file;
}

FigureFile read_figure_text(const std::string& text,
                            const std::string& path,
                            const std::vector<std::string>& others) {
  toml::table document = parsed(text, path, true);
  for (const std::string& key : others) document.erase(key);
  FigureFile file;
  TomlReader reader(path, true);
  std::vector<TomlKey> keys = figure_change_keys(file.change, reader);
  keys.push_back(
      {"panels", "a list of 1 to 20 tables", [&](const toml::node& node) {
         const auto* array = node.as_array();
         if (array == nullptr || array->empty() || array->size() > kMostPanels) return false;
         for (const toml::node& element : *array) {
           if (!element.is_table()) return false;
           PanelRequest panel;
           panel.where = reader.where(element.source().begin);
           const std::string place = fmt::format("panels[{}]", file.panels.size());
           reader.read(*element.as_table(), place, panel_keys(panel, reader));
           if (!element.as_table()->contains("layers"))
             reader.report(element.source().begin, fmt::format("{}: missing key 'layers'", place));
           const bool map = panel.kind == PanelKind::heat_map || panel.kind == PanelKind::contours;
           if (map == panel.y_coordinate.empty()) {
             reader.report(element.source().begin,
                           fmt::format("{}: y_coordinate and the kinds heat-map and contours "
                                       "belong together",
                                       place));
           }
           file.panels.push_back(std::move(panel));
         }
         return true;
       }});
  reader.read(document, "", keys);
  if (!document.contains("panels")) {
    reader.report({1, 1}, "missing key 'panels'; a figure's file has at least one [[panels]]");
  }
  reader.finish();
  if (!file.change.name) {
    std::string stem = std::filesystem::path(path).stem().string();
    if (!is_figure_name(stem)) stem = "figure";
    file.change.name = stem;
  }
  return file;
}

FigureChange read_figure_changes(const std::vector<Override>& overrides) {
  FigureChange change;
  std::vector<std::string> mistakes;
  for (const auto& [shown_as, assignment] : overrides) {
    try {
      read_change({shown_as, assignment}, change);
    } catch (const Error& error) {
      mistakes.emplace_back(error.what());
    }
  }
  if (!mistakes.empty())
    throw Error(ErrorKind::input, fmt::format("{}", fmt::join(mistakes, "\n")));
  return change;
}

void apply(const PanelChange& change, Panel& panel, PanelLook& look) {
  if (change.title) panel.title = *change.title;
  apply(change.x, panel.x);
  apply(change.y, panel.y);
  apply(change.value, panel.value);
  if (change.residuals) panel.residuals = *change.residuals;
  if (change.diagonal) panel.diagonal = *change.diagonal;
  if (change.vertical) panel.vertical_marks = *change.vertical;
  if (change.horizontal) look.horizontal_marks = *change.horizontal;
  if (change.texts) look.annotations = *change.texts;
  if (change.inset) {
    if (!look.inset) {  // what enlarges a part of the panel has its scales
      look.inset.emplace();
      look.inset->panel.x.scale = panel.x.scale;
      look.inset->panel.y.scale = panel.y.scale;
    }
    apply(*change.inset, *look.inset);
  }
}

void apply(const FigureChange& change, Figure& figure, DrawOptions& options) {
  if (change.name) figure.name = *change.name;
  if (change.style) options.style = *change.style;
  if (change.width) options.width = *change.width;
  if (change.formats) options.formats = *change.formats;
  if (change.columns) figure.columns = *change.columns;
  Look& look = options.look;
  if (change.width || change.inches) look.width = change.inches;
  if (change.legend) look.legend = *change.legend;
  if (change.key) look.key = *change.key;
  if (change.letters) look.letters = *change.letters;
  if (change.font) look.font = *change.font;
  if (change.size) look.size = change.size;
  if (change.aspect) look.aspect = change.aspect;
  look.panels.resize(figure.panels.size());
  for (std::size_t i = 0; i < figure.panels.size(); ++i)
    apply(change.every, figure.panels[i], look.panels[i]);
  for (const auto& [i, panel] : change.one) {
    if (i >= figure.panels.size()) {
      throw invalid_parameter(
          "figure panel",
          std::string(1, static_cast<char>('a' + i)),
          fmt::format("a to {}", static_cast<char>('a' + figure.panels.size() - 1)));
    }
    apply(panel, figure.panels[i], look.panels[i]);
  }
}

std::vector<std::string> figure_keys() {
  TomlReader reader("", false);
  FigureChange figure;
  PanelRequest panel;
  LayerRequest layer;
  AxisChange axis;
  InsetChange inset;
  std::optional<std::string> text;
  std::optional<double> number;
  TextAnchor anchor{};
  std::vector<std::string> all;
  const auto add = [&](const std::string& prefix, const std::vector<TomlKey>& keys) {
    for (const TomlKey& key : keys) {
      const std::string name = prefix + key.name;
      if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
    }
  };
  add("", figure_change_keys(figure, reader));
  add("panels.", panel_keys(panel, reader));
  add("x.", axis_keys(axis, reader));
  add("inset.", inset_keys(inset, reader));
  add("texts.", annotation_keys(text, number, number, anchor, reader));
  add("layers.", layer_keys(layer, reader));
  return all;
}

}  // namespace attica::app
