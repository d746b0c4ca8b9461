#include "attica/plots/content.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/plots/heat_map.hpp"
#include "attica/plots/label.hpp"
#include "attica/plots/residuals.hpp"
#include "attica/plots/selection.hpp"

namespace attica::plots {
namespace {

void add_entry(std::vector<LegendEntry>& legend, LegendEntry entry) {
  if (entry.text.empty()) return;
  for (LegendEntry& old : legend) {
    if (old.text == entry.text && old.style == entry.style) {
      old.line |= entry.line;
      old.marker |= entry.marker;
      return;
    }
  }
  legend.push_back(std::move(entry));
}

/// Many curves that differ in one number are coloured by that number.
struct PointColours {
  std::string coordinate;
  ColourScale scale;

  const double* value(const Point& point) const {
    for (const auto& [name, value] : point) {
      if (name == coordinate) return std::get_if<double>(&value);
    }
    return nullptr;
  }
};

std::optional<PointColours> colour_by_number(const std::vector<Point>& points) {
  constexpr std::size_t kMostNamed = 8;
  constexpr double kLogRatio = 50;
  if (points.size() <= kMostNamed) return std::nullopt;
  PointColours colours;
  for (const Point& point : points) {
    for (const auto& coordinate : point) {
      if (!differs(coordinate, points) || coordinate.first == colours.coordinate) continue;
      if (!colours.coordinate.empty()) return std::nullopt;
      colours.coordinate = coordinate.first;
    }
  }
  std::vector<double> values;
  for (const Point& point : points) {
    if (point.empty()) continue;
    const double* value = colours.value(point);
    if (value == nullptr) return std::nullopt;
    values.push_back(*value);
  }
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  Axis axis{pretty_name(colours.coordinate)};
  if (*low > 0 && *high > kLogRatio * *low) axis.scale = AxisScale::log;
  colours.scale = {fit_range(axis, values, 0), Palette::lines, axis.label};
  return colours;
}

/// What a label leaves out of the coordinates in which `points` differ: ", width = 16".
std::string unmentioned(const std::string& label,
                        const Point& point,
                        const std::vector<Point>& points) {
  Point left;
  for (const auto& coordinate : point) {
    if (!mentions_coordinate(label, {coordinate})) left.push_back(coordinate);
  }
  const std::string text = point_label(left, points);
  return text.empty() ? "" : ", " + text;
}

/// Whether another layer of the panel says another value of the coordinate.
bool said_otherwise(const std::pair<std::string, CoordinateValue>& coordinate,
                    const std::vector<Selection>& selections) {
  return std::any_of(selections.begin(), selections.end(), [&](const Selection& other) {
    if (!mentions_coordinate(other.layer->label, {coordinate})) return false;
    return std::any_of(other.points.begin(), other.points.end(), [&](const Point& point) {
      return std::any_of(point.begin(), point.end(), [&](const auto& own) {
        return own.first == coordinate.first && own.second != coordinate.second;
      });
    });
  });
}

/// A label without its clauses on coordinates that all `points` share and no layer says otherwise,
/// and those clauses: from "test, λ = {lambda}" "test" and "λ = {lambda}".
std::pair<std::string, std::string> parted(const std::string& label,
                                           const std::vector<Point>& points,
                                           const std::vector<Selection>& selections) {
  Point shared;
  Point varied;
  for (const auto& coordinate : points.front()) {
    const bool own = differs(coordinate, points) || said_otherwise(coordinate, selections);
    (own ? varied : shared).push_back(coordinate);
  }
  std::pair<std::string, std::string> parts;
  std::string clause;
  int depth = 0;  // of braces
  const auto end_clause = [&] {
    const bool common = mentions_coordinate(clause, shared) && !mentions_coordinate(clause, varied);
    std::string& part = common ? parts.second : parts.first;
    if (!part.empty()) part += ", ";
    part += clause;
    clause.clear();
  };
  for (std::size_t k = 0; k < label.size(); ++k) {
    depth += label[k] == '{' ? 1 : label[k] == '}' ? -1 : 0;
    if (depth > 0 || label.compare(k, 2, ", ") != 0) {
      clause += label[k];
      continue;
    }
    end_clause();
    ++k;
  }
  end_clause();
  return parts;
}

/// The point without where the curve comes from, which neither styles nor labels follow.
Point shown_point(Point point) {
  std::erase_if(point, [](const auto& pair) { return pair.first == kSourceCoordinate; });
  return point;
}

/// What the curves of a whole figure have in common.
struct FigureStyles {
  std::set<std::string> varied;  ///< coordinates in which curves of one layer differ
  std::vector<Point> points;     ///< in these coordinates, in order of appearance
  std::optional<PointColours> colours;

  void add_varied(const std::vector<Selection>& selections) {
    for (const Selection& selection : selections) {
      for (const Point& point : selection.points) {
        for (const auto& coordinate : point) {
          if (differs(coordinate, selection.points)) varied.insert(coordinate.first);
        }
      }
    }
  }
  /// What a curve's colour stands for: what all curves of a layer have in common is the layer's.
  Point of(Point point) const {
    std::erase_if(point, [&](const auto& pair) { return !varied.contains(pair.first); });
    return point;
  }
  void add_points(const std::vector<Selection>& selections) {
    for (const Selection& selection : selections) {
      if (selection.layer->reference || selection.layer->trajectories) continue;
      for (const Point& point : selection.points) index_of(points, of(point));
    }
  }
};

/// What tells a layer from others of the panel that have its name: the coordinates in which they
/// differ, as far as all of its curves share them.
std::string layer_suffix(const Selection& own,
                         const std::vector<Selection>& selections,
                         const std::function<std::string(const Selection&)>& name) {
  std::vector<Point> shared;
  std::size_t index = 0;
  for (const Selection& other : selections) {
    if (name(other) != name(own)) continue;
    if (&other == &own) index = shared.size();
    Point point = other.points.front();
    std::erase_if(point, [&](const auto& coordinate) { return differs(coordinate, other.points); });
    shared.push_back(std::move(point));
  }
  const std::string text = point_label(shared[index], shared);
  return text.empty() ? "" : ", " + text;
}

/// Constants that are horizontal lines of reference: several of them are named where they are.
std::size_t reference_constants(const std::vector<Selection>& selections) {
  std::size_t count = 0;
  for (const Selection& selection : selections) {
    if (!selection.layer->reference) continue;
    count += static_cast<std::size_t>(
        std::count_if(selection.curves.begin(), selection.curves.end(), [](const auto* curve) {
          return curve->mean.x_name == "none";
        }));
  }
  return count;
}

/// Chooses every curve's style and says so in the legend.
/// @param first_layer layers drawn already with which these are not to be confused
void style_curves(PanelContent& content,
                  const std::vector<Selection>& selections,
                  const FigureStyles& figure,
                  std::size_t first_layer = 0) {
  std::size_t layers = 0;
  std::size_t most_points = 1;
  for (const Selection& selection : selections) {
    if (selection.layer->reference || selection.layer->trajectories) continue;
    ++layers;
    most_points = std::max(most_points, selection.points.size());
  }
  const bool coloured = most_points > 1 && figure.colours;
  if (coloured) content.colours = figure.colours->scale;
  const auto index_of_point = [&](const Point& point) {
    return static_cast<std::size_t>(
        std::find(figure.points.begin(), figure.points.end(), figure.of(point)) -
        figure.points.begin());
  };
  const auto name_of_layer = [&](const Selection& selection) {
    const Layer& layer = *selection.layer;
    const bool spelt_out = mentions_coordinate(layer.label, selection.points.front());
    return (layer.label.empty() && selections.size() > 1) || (spelt_out && coloured)
               ? pretty_name(layer.series)
               : layer.label;
  };
  const auto look_of = [&](const Layer* layer) {
    const auto k = static_cast<std::size_t>(layer - content.panel->layers.data());
    return k < content.look.layers.size() ? content.look.layers[k] : LayerLook{};
  };
  // Where the author chose colours, markers or dashes, points and layers cannot be told apart by
  // one of them each: every curve has an entry of its own.
  const bool chosen = std::any_of(content.look.layers.begin(),
                                  content.look.layers.end(),
                                  [](const LayerLook& look) { return look.chosen(); });
  const bool at_lines = !content.map && reference_constants(selections) > 1;
  std::vector<LegendEntry> of_layers;
  std::size_t layer_index = first_layer;
  std::size_t reference_index = first_layer;
  for (const Selection& selection : selections) {
    const auto& [layer, curves, own_points] = selection;
    const bool spelt_out = mentions_coordinate(layer->label, own_points.front());
    std::string layer_name = name_of_layer(selection);
    if (!layer_name.empty() && !(spelt_out && !coloured))
      layer_name += layer_suffix(selection, selections, name_of_layer);
    std::vector<std::string> names;  // of trajectories
    for (const RecordedCurve* curve : curves) {
      const Point point = shown_point(curve->mean.point);
      const double* number = coloured ? figure.colours->value(point) : nullptr;
      CurveStyle style;
      if (layer->reference) {
        style = reference_style(reference_index);
      } else if (layer->trajectories) {
        // Curves whose names differ differ in style; those of one name, such as seeds, have one.
        style = nth_style(layer_index + index_of(names, fill_label(layer->label, point)));
      } else if (number != nullptr) {
        style = product_style(0, layer_index);
        style.colour =
            palette_colour(Palette::lines, figure.colours->scale.range.position(*number));
      } else if (content.map) {
        style = over_map_style(layer_index + index_of_point(point));
      } else if (most_points == 1) {
        style = nth_style(layer_index);
      } else if (layers == 1) {
        style = nth_style(index_of_point(point));
      } else {
        style = product_style(index_of_point(point), layer_index);
      }
      style = chosen_style(style, look_of(layer));
      if (layer->hollow) style = hollow_style(style);
      content.curves.push_back({0, curve, layer->reference, style});
      content.curves.back().trajectory = layer->trajectories && !curve->theory;
      if (at_lines && layer->reference && curve->mean.x_name == "none") {
        std::string text = fill_label(layer_name, point);
        const std::string own = spelt_out ? "" : point_label(point, own_points);
        if (!text.empty() && !own.empty()) text += ", ";
        // Theory and simulation of one constant are one line to the eye.
        const double y = curve->mean.y.front();
        constexpr double kSameLine = 0.01;
        if (std::none_of(
                content.line_labels.begin(), content.line_labels.end(), [&](const auto& l) {
                  return l.text == text + own && std::abs(l.y - y) <= kSameLine * std::abs(y);
                })) {
          content.line_labels.push_back({y, text + own});
        }
        continue;
      }
      const bool line = curve->theory || layer->trajectories;
      const bool one = layer->reference || layer->trajectories || own_points.size() == 1;
      const bool each = chosen && !coloured;
      if (one || each || (spelt_out && !coloured)) {
        std::string label = layer_name;
        if (spelt_out && !one) {
          // What all entries would say again is said once, at their head.
          auto [own, shared] = parted(layer_name, own_points, selections);
          label = std::move(own);
          add_entry(content.legend, {fill_label(std::move(shared), point), {}});
        }
        std::string text = fill_label(std::move(label), point);
        if (spelt_out || (each && !one)) text += unmentioned(layer->label, point, own_points);
        if (text.starts_with(", ")) text.erase(0, 2);
        add_entry(content.legend, {std::move(text), style, line, !line});
        continue;
      }
      // Points and layers are listed apart: a point by its colour and marker (or in the colour
      // bar), a layer by its dash and filling.
      if (!coloured) {
        const CurveStyle of_point = layers == 1 ? style : product_style(index_of_point(point), 0);
        add_entry(content.legend, {point_label(point, own_points), of_point, line, !line});
      }
      if (layers > 1) {
        CurveStyle of_layer = product_style(0, layer_index);
        of_layer.colour = kGrey;
        add_entry(of_layers, {layer_name, of_layer, line, !line});
      }
    }
    if (!names.empty()) layer_index += names.size() - 1;
    ++(layer->reference ? reference_index : layer_index);
  }
  content.legend.insert(content.legend.end(), of_layers.begin(), of_layers.end());
}

/// Whether what the layer would show is a vertical mark, of which it then says the name.
bool names_mark(const Panel& panel, const Layer& layer) {
  const auto& marks = panel.recorded_marks;
  return std::find(marks.begin(), marks.end(), layer.series) != marks.end();
}

/// The panel's own marks, and those at recorded constants, coloured as the curve at their point.
/// Named ones are added to the legend.
std::vector<VerticalMark> vertical_marks(PanelContent& content, const FigureData& data) {
  constexpr std::array<std::string_view, 2> kDashes = {"(2,5)", "(8,4,2,4)"};
  std::vector<VerticalMark> marks;
  for (const double x : content.panel->vertical_marks)
    marks.push_back({x, std::string(kGrey), kDashes[0]});
  std::size_t kind = 0;
  for (const std::string& series : content.panel->recorded_marks) {
    for (const RecordedCurve& constant : data.curves) {
      const Series& mean = constant.mean;
      if (constant.theory || mean.name != series || mean.x_name != "none") continue;
      const auto same =
          std::find_if(content.curves.begin(), content.curves.end(), [&](const DrawnCurve& curve) {
            return !curve.reference && curve.data->mean.point == mean.point;
          });
      if (same == content.curves.end()) continue;
      check_finite(name_of(series, mean.point), "mean", mean.y.front());
      marks.push_back({mean.y.front(), same->style.colour, kDashes[kind % kDashes.size()]});
      for (const Layer& layer : content.panel->layers) {
        if (layer.series != series || layer.label.empty()) continue;
        const CurveStyle style{
            .colour = marks.back().colour, .marker = 0, .dash = std::string(marks.back().dash)};
        add_entry(content.legend,
                  {fill_label(layer.label, shown_point(mean.point)), style, true, false});
      }
    }
    ++kind;
  }
  return marks;
}

/// The x at which curves were compared with their theory, and the curves that have one.
class ComparedPlaces {
 public:
  explicit ComparedPlaces(const FigureData& data) : any_(!data.residuals.empty()) {
    for (const RecordedCurve& curve : data.curves) {
      if (curve.theory)
        predicted_.try_emplace(key(curve.mean.name, curve.mean.point, curve.mean.x_name));
    }
    for (const ResidualPoint& residual : data.residuals) {
      const auto curve = predicted_.find(key(residual.series, residual.point, residual.x_name));
      if (curve != predicted_.end()) curve->second.insert(residual.x);
    }
  }

  /// Which points of a simulated curve were compared: empty where no theory of it is known, where
  /// nothing at all was compared, or where all were.
  std::vector<bool> of(const Series& curve) const {
    const auto places = predicted_.find(key(curve.name, curve.point, curve.x_name));
    if (!any_ || places == predicted_.end()) return {};
    std::vector<bool> compared;
    for (const double x : curve.x) compared.push_back(places->second.contains(x));
    if (std::find(compared.begin(), compared.end(), false) == compared.end()) return {};
    return compared;
  }

 private:
  static std::string key(const std::string& series, const Point& point, const std::string& x_name) {
    return series + '\x1f' + describe(point) + '\x1f' + x_name;
  }

  std::unordered_map<std::string, std::unordered_set<double>> predicted_;
  bool any_;
};

/// Leaves out simulation points closer than a fortieth of the axis to the last one kept.
bool thin(DrawnCurve& curve, const Range& range) {
  constexpr std::size_t kDense = 40;
  const std::vector<double>& x = curve.data->mean.x;
  if (x.size() <= kDense) return false;
  double last = -1;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool shown = range.scale == AxisScale::linear || x[i] > 0;
    const double position = shown ? range.position(x[i]) : last;
    curve.drawn[i] = shown && std::abs(position - last) >= 1.0 / kDense;
    if (curve.drawn[i]) last = position;
  }
  return std::find(curve.drawn.begin(), curve.drawn.end(), false) != curve.drawn.end();
}

bool same_x(const Panel& a, const Panel& b) {
  return a.kind == b.kind && a.x_name == b.x_name && a.x.label == b.x.label &&
         a.x.scale == b.x.scale && a.x.low == b.x.low && a.x.high == b.x.high;
}

void collect_x(const PanelContent& content, std::vector<double>& values) {
  if (content.map) {
    for (const Cell& cell : content.map->cells)
      values.insert(values.end(), {cell.left, cell.right});
  }
  for (const DrawnCurve& curve : content.curves) {
    if (curve.constant()) continue;
    values.insert(values.end(), curve.data->mean.x.begin(), curve.data->mean.x.end());
  }
  for (const VerticalMark& mark : content.marks) values.push_back(mark.x);
}

/// Texts must stand inside the axes.
void check_annotations(const PanelContent& content) {
  for (const Annotation& note : content.look.annotations) {
    for (const auto& [axis, value, range] :
         {std::tuple{"x", note.x, content.x}, std::tuple{"y", note.y, content.y}}) {
      if (range.contains(value)) continue;
      throw invalid_parameter(
          fmt::format("{} of the text '{}'", axis, note.text),
          value,
          fmt::format("a place on the axis, {:.4g} to {:.4g}", range.low, range.high));
    }
  }
}

/// Shades must lie inside the axes, with a colour that gnuplot knows.
void check_shades(const PanelContent& content) {
  for (const Shade& shade : content.look.shades) {
    static_cast<void>(chosen_style({}, {.colour = shade.colour}));
    const auto check = [](const char* what, double value, const Range& range) {
      if (range.contains(value)) return;
      throw invalid_parameter(
          fmt::format("{} of a shade", what),
          value,
          fmt::format("a place on the axis, {:.4g} to {:.4g}", range.low, range.high));
    };
    for (const auto& [x, y] : shade.corners) {
      check("x", x, content.x);
      check("y", y, content.y);
    }
    if (!shade.corners.empty()) continue;
    check("left", shade.left, content.x);
    check("right", shade.right, content.x);
    check("bottom", shade.bottom, content.y);
    check("top", shade.top, content.y);
  }
}

bool is_whole(double value) { return value == std::round(value); }

/// Whether the map has a cell for each of some consecutive whole numbers both ways, as a matrix
/// has, and not as a plane of parameters with values far apart.
bool is_matrix(const Panel& panel, const HeatMap& map) {
  if (panel.kind != PanelKind::heat_map) return false;
  const auto consecutive = [&](const Axis& axis, double Cell::*coordinate) {
    if (axis.scale == AxisScale::log || axis.low || axis.high) return false;
    std::set<double> at;
    for (const Cell& cell : map.cells) at.insert(cell.*coordinate);
    return at.size() > 1 && is_whole(*at.begin()) &&
           *at.rbegin() - *at.begin() == static_cast<double>(at.size() - 1) &&
           std::all_of(at.begin(), at.end(), is_whole);
  };
  return consecutive(panel.x, &Cell::x) && consecutive(panel.y, &Cell::y);
}

/// Whether all that is drawn stands at whole x: tokens, layers, steps.
bool whole_x(const PanelContent& content) {
  if (content.map) {
    return std::all_of(content.map->cells.begin(), content.map->cells.end(), [](const Cell& cell) {
      return is_whole(cell.x);
    });
  }
  return std::all_of(content.curves.begin(), content.curves.end(), [](const DrawnCurve& curve) {
    const auto& x = curve.data->mean.x;
    return curve.constant() || std::all_of(x.begin(), x.end(), is_whole);
  });
}

/// x ranges; panels above each other with the same x axis share one.
void fit_x(Content& content) {
  const std::size_t columns = content.figure->columns;
  for (std::size_t first = 0; first < content.panels.size(); ++first) {
    if (first >= columns && content.panels[first - columns].joins_next) continue;
    std::vector<double> values;
    std::vector<PanelContent*> group;
    for (std::size_t i = first; i < content.panels.size(); i += columns) {
      PanelContent& panel = content.panels[i];
      // Matrices of one column may have frames of different widths.
      if (!group.empty() && (panel.matrix || !same_x(*group.back()->panel, *panel.panel))) break;
      if (!group.empty()) group.back()->joins_next = true;
      group.push_back(&panel);
      collect_x(panel, values);
    }
    const bool whole = std::all_of(
        group.begin(), group.end(), [](const PanelContent* panel) { return whole_x(*panel); });
    for (PanelContent* panel : group) {
      panel->x = fit_range(panel->panel->x, values, panel->map ? 0 : kRoom);
      panel->x.whole = whole;
      if (panel->categories.empty()) continue;
      constexpr double kHalf = 0.5;
      if (!panel->panel->x.low) panel->x.low = panel->categories.front().value - kHalf;
      if (!panel->panel->x.high) panel->x.high = panel->categories.back().value + kHalf;
    }
  }
}

void fit_y(PanelContent& content) {
  std::vector<double> values;
  if (content.map) {
    for (const Cell& cell : content.map->cells)
      values.insert(values.end(), {cell.bottom, cell.top});
  }
  for (const DrawnCurve& curve : content.curves) {
    const auto& y = curve.data->mean.y;
    for (std::size_t i = 0; i < y.size(); ++i) {
      values.push_back(y[i]);
      if (curve.data->theory || curve.data->sem.empty()) continue;
      values.push_back(y[i] + curve.data->sem[i]);
      // On a logarithmic axis a bar about as long as its value runs out at the bottom; it does not
      // set the range.
      constexpr double kShown = 0.1;
      const double low = y[i] - curve.data->sem[i];
      if (content.panel->y.scale == AxisScale::linear || low > kShown * y[i]) values.push_back(low);
    }
  }
  const auto& marks = content.look.horizontal_marks;
  values.insert(values.end(), marks.begin(), marks.end());
  if (content.panel->diagonal) {  // the same range on both axes
    collect_x(content, values);
    content.x = fit_range(content.panel->x, values);
  }
  content.y = fit_range(content.panel->y, values, content.map ? 0 : kRoom);
  content.y.whole = content.map && std::all_of(content.map->cells.begin(),
                                               content.map->cells.end(),
                                               [](const Cell& cell) { return is_whole(cell.y); });
  content.y.reversed = content.matrix;
}

std::string count_of(std::size_t points) {
  return fmt::format("{} point{}", points, points == 1 ? "" : "s");
}

/// Says what the ranges cannot show. A theory that leaves a fixed range is seen to do so.
void remark_hidden(const PanelContent& content, std::vector<std::string>& remarks, bool lettered) {
  std::size_t beyond = 0;
  std::size_t not_positive = 0;
  bool theory = false;
  for (const DrawnCurve& curve : content.curves) {
    const Series& mean = curve.data->mean;
    const bool constant = curve.constant();
    for (std::size_t i = 0; i < mean.x.size(); ++i) {
      const bool bad_x = !constant && content.x.scale == AxisScale::log && mean.x[i] <= 0;
      const bool bad_y = content.y.scale == AxisScale::log && mean.y[i] <= 0;
      const bool inside =
          (constant || content.x.contains(mean.x[i])) && content.y.contains(mean.y[i]);
      if (curve.data->theory) {
        theory = theory || bad_x || bad_y;
      } else if (bad_x || bad_y) {
        ++not_positive;
      } else if (!inside) {
        ++beyond;
      }
    }
  }
  const std::string where = lettered ? "(" + content.letter + "): " : "";
  if (not_positive > 0 || theory) {
    std::string what = not_positive > 0 ? count_of(not_positive) : "part of the theory";
    if (not_positive > 0 && theory) what += " and part of the theory";
    remarks.push_back(where + what + " ≤ 0, not on the log axis");
  }
  if (beyond > 0) remarks.push_back(where + count_of(beyond) + " beyond the axes");
}

/// Whether a row of a curve can be drawn.
bool is_finite(const RecordedCurve& curve, std::size_t row) {
  return std::isfinite(curve.mean.x[row]) && std::isfinite(curve.mean.y[row]) &&
         (curve.sem.empty() || std::isfinite(curve.sem[row]));
}

/// How many rows cannot; 0 of columns of different lengths, which are refused where they are
/// selected.
std::size_t not_finite(const RecordedCurve& curve) {
  const std::size_t rows = curve.mean.x.size();
  if (curve.mean.y.size() != rows || (!curve.sem.empty() && curve.sem.size() != rows)) return 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < rows; ++i) count += is_finite(curve, i) ? 0 : 1;
  return count;
}

/// The data without those rows, of curves that a layer shows: of a theory the pieces between them,
/// so that its line has gaps.
FigureData finite_rows(const Figure& figure, const FigureData& data) {
  const auto is_shown = [&](const RecordedCurve& curve) {
    return std::any_of(figure.panels.begin(), figure.panels.end(), [&](const Panel& panel) {
      return std::any_of(panel.layers.begin(), panel.layers.end(), [&](const Layer& layer) {
        return selects(panel, layer, curve);
      });
    });
  };
  FigureData finite{.curves = {}, .residuals = data.residuals};
  for (const RecordedCurve& curve : data.curves) {
    if (not_finite(curve) == 0 || !is_shown(curve)) {
      finite.curves.push_back(curve);
      continue;
    }
    RecordedCurve empty = curve;
    for (auto* column : {&empty.mean.x, &empty.mean.y, &empty.sem, &empty.sd}) column->clear();
    empty.n.clear();
    RecordedCurve piece = empty;
    const auto end_piece = [&] {
      if (!piece.mean.x.empty()) finite.curves.push_back(std::exchange(piece, empty));
    };
    for (std::size_t i = 0; i < curve.mean.x.size(); ++i) {
      if (!is_finite(curve, i)) {
        if (curve.theory) end_piece();
        continue;
      }
      piece.mean.x.push_back(curve.mean.x[i]);
      piece.mean.y.push_back(curve.mean.y[i]);
      if (!curve.sem.empty()) piece.sem.push_back(curve.sem[i]);
      if (i < curve.sd.size()) piece.sd.push_back(curve.sd[i]);
      if (i < curve.n.size()) piece.n.push_back(curve.n[i]);
    }
    end_piece();
  }
  return finite;
}

/// Says what a panel cannot show because it is not finite.
void remark_not_finite(const Panel& panel,
                       const std::string& where,
                       const FigureData& data,
                       std::vector<std::string>& remarks) {
  std::size_t points = 0;
  bool theory = false;
  for (const RecordedCurve& curve : data.curves) {
    const bool shown = std::any_of(panel.layers.begin(), panel.layers.end(), [&](const Layer& l) {
      return selects(panel, l, curve);
    });
    const std::size_t count = shown ? not_finite(curve) : 0;
    if (curve.theory) {
      theory = theory || count > 0;
    } else {
      points += count;
    }
  }
  if (points == 0 && !theory) return;
  std::string what = points > 0 ? count_of(points) : "part of the theory";
  if (points > 0 && theory) what += " and part of the theory";
  remarks.push_back(where + what + " not finite, not drawn");
}

void number_curves(Content& content) {
  int next = 0;
  for (PanelContent& panel : content.panels) {
    for (DrawnCurve& curve : panel.curves) curve.id = next++;
    for (PanelContent& inset : panel.inset) {
      for (DrawnCurve& curve : inset.curves) curve.id = next++;
    }
    if (panel.map) {
      panel.map->id = next++;
      for (ContourLine& line : panel.map->contours) line.id = next++;
    }
    if (!panel.residual) continue;
    for (ResidualCurve& curve : panel.residual->curves) curve.id = next++;
    for (MarginBand& band : panel.residual->bands) band.id = next++;
  }
}

void check(const Figure& figure) {
  constexpr std::string_view kNameCharacters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  if (figure.name.empty() || figure.name.find_first_not_of(kNameCharacters) != std::string::npos) {
    throw invalid_parameter("figure name", figure.name, "letters, digits, '_', '-' and '.'");
  }
  if (figure.panels.empty())
    throw invalid_parameter("panels of figure '" + figure.name + "'", 0, "at least one");
  if (figure.columns == 0)
    throw invalid_parameter("columns of figure '" + figure.name + "'", 0, "at least one");
}

/// Leaves out categories of which a panel shows nothing.
void keep_recorded(std::vector<Category>& categories, const Panel& panel, const FigureData& data) {
  std::erase_if(categories, [&](const Category& category) {
    return std::none_of(data.curves.begin(), data.curves.end(), [&](const RecordedCurve& curve) {
      const std::vector<double>& x = curve.mean.x;
      return std::find(x.begin(), x.end(), category.value) != x.end() &&
             std::any_of(panel.layers.begin(), panel.layers.end(), [&](const Layer& layer) {
               return selects(panel, layer, curve);
             });
    });
  });
}

/// Points as they are told apart by styles and labels.
void hide_sources(std::vector<Selection>& selections) {
  for (Selection& selection : selections) {
    std::vector<Point> shown;
    for (const Point& point : selection.points) index_of(shown, shown_point(point));
    selection.points = std::move(shown);
  }
}

/// What of the inset's curves lies within its x range, for its y range.
std::vector<double> visible_y(const PanelContent& inset) {
  std::vector<double> values;
  for (const DrawnCurve& curve : inset.curves) {
    const Series& mean = curve.data->mean;
    const bool line = (curve.data->theory || curve.trajectory) && !curve.constant();
    for (std::size_t i = 1; line && i < mean.x.size(); ++i) {
      // Where it enters and leaves.
      for (const double end : {inset.x.low, inset.x.high}) {
        const auto [low, high] = std::minmax(mean.x[i - 1], mean.x[i]);
        if (!(low < end && end < high) || (inset.x.scale == AxisScale::log && low <= 0)) continue;
        const double from = inset.x.position(mean.x[i - 1]);
        const double part = (inset.x.position(end) - from) / (inset.x.position(mean.x[i]) - from);
        values.push_back(mean.y[i - 1] + part * (mean.y[i] - mean.y[i - 1]));
      }
    }
    for (std::size_t i = 0; i < mean.x.size(); ++i) {
      if (!curve.constant() && !inset.x.contains(mean.x[i])) continue;
      values.push_back(mean.y[i]);
      if (curve.data->theory || curve.data->sem.empty()) continue;
      values.push_back(mean.y[i] + curve.data->sem[i]);
      if (inset.panel->y.scale == AxisScale::linear)
        values.push_back(mean.y[i] - curve.data->sem[i]);
    }
  }
  return values;
}

/// The content of a panel's inset: its own layers, or the panel's within other limits.
void add_inset(PanelContent& content, const FigureData& data, FigureStyles styles) {
  const Inset& wanted = *content.look.inset;
  const std::string name = "inset of panel (" + content.letter + ")";
  if (content.map)
    throw invalid_parameter(name, "in a map", "a panel of kind curves or scatter around it");
  auto panel = std::make_shared<Panel>(wanted.panel);
  const bool own = !panel->layers.empty();
  panel->kind = content.panel->kind;
  panel->residuals = false;
  if (!own) {
    if (!panel->x.low && !panel->x.high && !panel->y.low && !panel->y.high) {
      throw invalid_parameter(
          name, "the panel once more", "low or high of its x or y axis, or layers of its own");
    }
    panel->layers = content.panel->layers;
    panel->x_name = content.panel->x_name;
  }
  PanelContent inset;
  inset.panel = panel.get();
  inset.x_label = panel->x.label;
  inset.look.layers = own ? wanted.layers : content.look.layers;
  inset.letter = content.letter + " inset";
  std::vector<Selection> selections = select(*panel, data);
  hide_sources(selections);
  if (selections.empty())
    throw invalid_parameter(name, "layers", "a series of which something was recorded");
  styles.add_varied(selections);
  styles.add_points(selections);
  style_curves(inset, selections, styles, own ? content.legend.size() : 0);
  std::vector<double> x;
  collect_x(inset, x);
  inset.x = fit_range(panel->x, x, own ? kRoom : 0);
  inset.x.whole = whole_x(inset);
  const std::vector<double> y = visible_y(inset);
  if (y.empty() && !(panel->y.low && panel->y.high))
    throw invalid_parameter(name,
                            fmt::format("x from {:.4g} to {:.4g}", inset.x.low, inset.x.high),
                            "limits between which something was recorded");
  inset.y = fit_range(panel->y, y);
  for (DrawnCurve& curve : inset.curves) {
    if (curve.data->theory) continue;
    curve.drawn.assign(curve.data->mean.x.size(), true);
    if (!curve.trajectory && panel->kind == PanelKind::curves) thin(curve, inset.x);
  }
  if (own) {
    for (LegendEntry& entry : inset.legend) add_entry(content.legend, std::move(entry));
  }
  content.inset.push_back(std::move(inset));
  content.inset_panel = std::move(panel);
}

/// Maps of one series are there to be compared: equal colours are equal values.
void share_colours(std::vector<PanelContent>& panels) {
  std::map<std::string, std::vector<double>> values;
  const auto is_map = [](const PanelContent& p) { return p.panel->kind == PanelKind::heat_map; };
  for (const PanelContent& panel : panels) {
    if (!is_map(panel)) continue;
    for (const Cell& cell : panel.map->cells) values[panel.map->series].push_back(cell.value);
  }
  for (PanelContent& panel : panels) {
    if (is_map(panel))
      panel.map->colours = colour_scale(panel.panel->value, values[panel.map->series]);
  }
}

}  // namespace

Content arrange(const Figure& figure, const FigureData& all, const Look& look) {
  check(figure);
  Content content{.figure = &figure,
                  .data = std::make_shared<const FigureData>(finite_rows(figure, all)),
                  .panels = {},
                  .remarks = {}};
  const FigureData& data = *content.data;
  std::vector<std::vector<Selection>> selections;
  FigureStyles styles;
  for (const Panel& panel : figure.panels) {
    PanelContent drawn;
    drawn.panel = &panel;
    if (content.panels.size() < look.panels.size()) drawn.look = look.panels[content.panels.size()];
    drawn.letter = std::string(1, static_cast<char>('a' + content.panels.size()));
    const bool is_map = panel.kind == PanelKind::heat_map || panel.kind == PanelKind::contours;
    if (is_map) drawn.map = make_heat_map(panel, data, content.remarks);
    drawn.matrix = is_map && is_matrix(panel, *drawn.map);
    NamedAxis x = is_map ? NamedAxis{panel.x.label, {}} : named_axis(panel.x.label);
    drawn.x_label = std::move(x.label);
    drawn.categories = std::move(x.categories);
    if (!drawn.categories.empty()) keep_recorded(drawn.categories, panel, data);
    selections.push_back(select(panel, data, is_map ? 1 : 0));
    hide_sources(selections.back());
    std::erase_if(selections.back(),
                  [&](const Selection& shown) { return names_mark(panel, *shown.layer); });
    if (!drawn.map && selections.back().empty()) {
      std::string names;
      for (const Layer& layer : panel.layers) names += (names.empty() ? "" : ", ") + layer.series;
      const bool lost = std::any_of(all.curves.begin(), all.curves.end(), [&](const auto& curve) {
        return not_finite(curve) > 0 &&
               std::any_of(panel.layers.begin(), panel.layers.end(), [&](const Layer& layer) {
                 return selects(panel, layer, curve);
               });
      });
      throw Error(ErrorKind::input,
                  fmt::format("figure '{}', panel ({}): {} of its series ({})",
                              figure.name,
                              drawn.letter,
                              lost ? "no finite number" : "nothing was recorded",
                              names));
    }
    styles.add_varied(selections.back());
    content.panels.push_back(std::move(drawn));
  }
  for (const auto& of_panel : selections) styles.add_points(of_panel);
  styles.colours = colour_by_number(styles.points);
  share_colours(content.panels);
  for (std::size_t i = 0; i < content.panels.size(); ++i) {
    style_curves(content.panels[i], selections[i], styles);
    if (content.panels[i].map) content.panels[i].colours = content.panels[i].map->colours;
  }
  for (PanelContent& panel : content.panels) panel.marks = vertical_marks(panel, data);
  fit_x(content);
  const bool lettered = figure.panels.size() > 1;
  const ComparedPlaces places(data);
  for (PanelContent& panel : content.panels) {
    fit_y(panel);
    check_annotations(panel);
    check_shades(panel);
    for (DrawnCurve& curve : panel.curves) {
      if (curve.data->theory) {
        content.lines = content.lines || !curve.reference;
        continue;
      }
      curve.drawn.assign(curve.data->mean.x.size(), true);
      if (curve.trajectory) continue;
      content.points = true;
      curve.compared = places.of(curve.data->mean);
      content.not_compared = content.not_compared || !curve.compared.empty();
      const auto& sem = curve.data->sem;
      content.bars |= std::any_of(sem.begin(), sem.end(), [](double value) { return value > 0; });
      if (panel.panel->kind == PanelKind::curves) content.thinned |= thin(curve, panel.x);
    }
    remark_hidden(panel, content.remarks, lettered);
    remark_not_finite(
        *panel.panel, lettered ? "(" + panel.letter + "): " : "", all, content.remarks);
    if (panel.panel->residuals) add_residuals(panel, data, content.remarks);
    if (panel.look.inset) add_inset(panel, data, styles);
  }
  number_curves(content);
  return content;
}

}  // namespace attica::plots
