#include "attica/plots/content.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "attica/core/error.hpp"
#include "attica/plots/label.hpp"

namespace attica::plots {
namespace {

constexpr double kPercent = 100;

/// `series 'test_error' (lambda=0.1)`
std::string name_of(const std::string& series, const Point& point) {
  return "series '" + series + "'" + (point.empty() ? "" : " (" + describe(point) + ")");
}

void check_finite(const std::string& curve, const std::string& quantity, double value) {
  if (!std::isfinite(value)) {
    throw Error(
        ErrorKind::numerical,
        fmt::format(
            "{}: {} = {} cannot be drawn, expected a finite number", curve, quantity, value));
  }
}

void check(const RecordedCurve& curve) {
  const Series& mean = curve.mean;
  const std::string name = name_of(mean.name, mean.point);
  const auto sized = [&](std::size_t size) { return size == 0 || size == mean.x.size(); };
  if (mean.y.size() != mean.x.size() || !sized(curve.sem.size()) || !sized(curve.sd.size()) ||
      !sized(curve.n.size())) {
    throw Error(ErrorKind::input, name + ": columns of different lengths");
  }
  for (std::size_t i = 0; i < mean.x.size(); ++i) {
    check_finite(name, mean.x_name, mean.x[i]);
    check_finite(name, fmt::format("value at {} = {}", mean.x_name, mean.x[i]), mean.y[i]);
    if (!curve.sem.empty()) {
      check_finite(
          name, fmt::format("standard error at {} = {}", mean.x_name, mean.x[i]), curve.sem[i]);
    }
  }
}

bool has_coordinates(const Point& point, const Point& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& pair) {
    return std::find(point.begin(), point.end(), pair) != point.end();
  });
}

bool selects(const Panel& panel, const Layer& layer, const RecordedCurve& curve) {
  const Series& mean = curve.mean;
  return mean.name == layer.series && (curve.theory ? layer.theory : layer.simulation) &&
         (panel.x_name.empty() || mean.x_name == panel.x_name || mean.x_name == "none") &&
         !mean.x.empty() && has_coordinates(mean.point, layer.only);
}

/// Index of `item` in `list`, appended if it is new.
template <typename Item>
std::size_t index_of(std::vector<Item>& list, const Item& item) {
  const auto found = std::find(list.begin(), list.end(), item);
  const auto index = static_cast<std::size_t>(found - list.begin());
  if (found == list.end()) list.push_back(item);
  return index;
}

/// The curves that one layer of a panel selects.
struct Selection {
  const Layer* layer;
  std::vector<const RecordedCurve*> curves;
  std::vector<Point> points;  ///< the different ones
};

std::vector<Selection> select(const Panel& panel, const FigureData& data) {
  std::vector<Selection> selections;
  for (const Layer& layer : panel.layers) {
    Selection selection{&layer, {}, {}};
    for (const RecordedCurve& curve : data.curves) {
      if (!selects(panel, layer, curve)) continue;
      check(curve);
      selection.curves.push_back(&curve);
      index_of(selection.points, curve.mean.point);
    }
    if (!selection.curves.empty()) selections.push_back(std::move(selection));
  }
  return selections;
}

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

/// Chooses every curve's style and says so in the legend. `points` holds the figure's points in
/// order of appearance.
void style_curves(PanelContent& content,
                  const std::vector<Selection>& selections,
                  std::vector<Point>& points) {
  std::size_t layers = 0;
  std::size_t most_points = 1;
  for (const Selection& selection : selections) {
    if (selection.layer->reference) continue;
    ++layers;
    most_points = std::max(most_points, selection.points.size());
  }
  std::vector<LegendEntry> of_layers;
  std::size_t layer_index = 0;
  std::size_t reference_index = 0;
  for (const auto& [layer, curves, own_points] : selections) {
    const bool spelt_out = mentions_coordinate(layer->label, own_points.front());
    for (const RecordedCurve* curve : curves) {
      const Point& point = curve->mean.point;
      CurveStyle style;
      if (layer->reference) {
        style = reference_style(reference_index);
      } else if (most_points == 1) {
        style = nth_style(layer_index);
      } else if (layers == 1) {
        style = nth_style(index_of(points, point));
      } else {
        style = product_style(index_of(points, point), layer_index);
      }
      content.curves.push_back({0, curve, layer->reference, style});
      const bool line = curve->theory;
      if (layer->reference || spelt_out || own_points.size() == 1) {
        add_entry(content.legend, {fill_label(layer->label, point), style, line, !line});
        continue;
      }
      // Points and layers are listed apart: a point by its colour and marker, a layer by its dash
      // and filling.
      CurveStyle of_point = product_style(index_of(points, point), 0);
      if (layers == 1) of_point = style;
      add_entry(content.legend, {point_label(point, own_points), of_point, line, !line});
      if (layers > 1) {
        CurveStyle of_layer = product_style(0, layer_index);
        of_layer.colour = kGrey;
        add_entry(of_layers,
                  {layer->label.empty() ? pretty_name(layer->series) : layer->label,
                   of_layer,
                   line,
                   !line});
      }
    }
    ++(layer->reference ? reference_index : layer_index);
  }
  content.legend.insert(content.legend.end(), of_layers.begin(), of_layers.end());
}

/// Leaves out simulation points closer than a fortieth of the axis to the last one kept.
bool thin(DrawnCurve& curve, const Range& range) {
  constexpr std::size_t kDense = 40;
  const std::vector<double>& x = curve.data->mean.x;
  curve.drawn.assign(x.size(), true);
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
  for (const DrawnCurve& curve : content.curves) {
    if (curve.constant()) continue;
    values.insert(values.end(), curve.data->mean.x.begin(), curve.data->mean.x.end());
  }
  const auto& marks = content.panel->vertical_marks;
  values.insert(values.end(), marks.begin(), marks.end());
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
      if (!group.empty() && !same_x(*group.back()->panel, *panel.panel)) break;
      if (!group.empty()) group.back()->joins_next = true;
      group.push_back(&panel);
      collect_x(panel, values);
    }
    for (PanelContent* panel : group) panel->x = fit_range(panel->panel->x, values);
  }
}

void fit_y(PanelContent& content) {
  std::vector<double> values;
  for (const DrawnCurve& curve : content.curves) {
    const auto& y = curve.data->mean.y;
    for (std::size_t i = 0; i < y.size(); ++i) {
      values.push_back(y[i]);
      if (curve.data->theory || curve.data->sem.empty()) continue;
      values.push_back(y[i] + curve.data->sem[i]);
      // On a logarithmic axis a bar longer than its value runs out at the bottom; it does not set
      // the range.
      if (content.panel->y.scale == AxisScale::linear) values.push_back(y[i] - curve.data->sem[i]);
    }
  }
  content.y = fit_range(content.panel->y, values);
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
  const auto count = [](std::size_t n) { return fmt::format("{} point{}", n, n == 1 ? "" : "s"); };
  if (not_positive > 0 || theory) {
    std::string what = not_positive > 0 ? count(not_positive) : "part of the theory";
    if (not_positive > 0 && theory) what += " and part of the theory";
    remarks.push_back(where + what + " ≤ 0, not on the log axis");
  }
  if (beyond > 0) remarks.push_back(where + count(beyond) + " beyond the axes");
}

double percent(const ResidualPoint& point) {
  return kPercent * point.difference / std::abs(point.theory);
}
double percent_sem(const ResidualPoint& point) {
  return kPercent * point.sem / std::abs(point.theory);
}
double percent_margin(const ResidualPoint& point) {
  return kPercent * point.margin / std::abs(point.theory);
}

/// A curve's margin at x, linear between its points; none outside them.
std::optional<double> margin_at(const ResidualCurve& curve, double x) {
  const auto& points = curve.points;
  const auto right =
      std::lower_bound(points.begin(), points.end(), x, [](const ResidualPoint& p, double value) {
        return p.x < value;
      });
  if (right == points.end()) return std::nullopt;
  if (right->x == x) return percent_margin(*right);
  if (right == points.begin()) return std::nullopt;
  const auto left = std::prev(right);
  const double part = (x - left->x) / (right->x - left->x);
  return (1 - part) * percent_margin(*left) + part * percent_margin(*right);
}

/// The widest and the narrowest margin along x, carried on to the edges of the panel.
std::vector<MarginBand> margin_bands(const std::vector<ResidualCurve>& curves, const Range& range) {
  std::set<double> positions;
  for (const ResidualCurve& curve : curves) {
    for (const ResidualPoint& point : curve.points) {
      if (point.margin > 0 && range.contains(point.x)) positions.insert(point.x);
    }
  }
  if (positions.empty()) return {};
  MarginBand wide{0, kWideBand, {}, {}};
  MarginBand narrow{0, kNarrowBand, {}, {}};
  for (const double x : positions) {
    double most = 0;
    double least = std::numeric_limits<double>::infinity();
    for (const ResidualCurve& curve : curves) {
      const auto margin = margin_at(curve, x);
      if (!margin) continue;
      most = std::max(most, *margin);
      least = std::min(least, *margin);
    }
    for (auto [band, value] : {std::pair{&wide, most}, std::pair{&narrow, least}}) {
      if (band->x.empty()) {
        band->x.push_back(range.low);
        band->percent.push_back(value);
      }
      band->x.push_back(x);
      band->percent.push_back(value);
    }
  }
  for (MarginBand* band : {&wide, &narrow}) {
    band->x.push_back(range.high);
    band->percent.push_back(band->percent.back());
  }
  if (wide.percent == narrow.percent) return {narrow};
  return {wide, narrow};
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// A symmetric range for the residuals. Points many times farther out than the typical one would
/// flatten all others: they are shown as triangles at the edge instead.
void fit_residuals(ResidualContent& residual) {
  constexpr double kOutlier = 8;
  constexpr double kHeadroom = 1.25;
  std::vector<double> reaches;
  std::vector<double> margins = {0};
  for (const ResidualCurve& curve : residual.curves) {
    for (const ResidualPoint& point : curve.points) {
      reaches.push_back(std::abs(percent(point)) + percent_sem(point));
      margins.push_back(percent_margin(point));
    }
  }
  const double typical = std::max(median(reaches), median(margins));
  double reach = 0;
  for (const double value : reaches) {
    if (value <= kOutlier * typical) reach = std::max(reach, value);
  }
  for (const double value : margins) {
    if (value <= kOutlier * typical) reach = std::max(reach, value);
  }
  const double limit = reach > 0 ? kHeadroom * reach : 1;
  residual.y = {-limit, limit, AxisScale::linear};
  for (const ResidualCurve& curve : residual.curves) {
    for (const ResidualPoint& point : curve.points)
      residual.outliers |= std::abs(percent(point)) > limit;
  }
}

void add_residuals(PanelContent& content,
                   const FigureData& data,
                   std::vector<std::string>& remarks) {
  ResidualContent residual;
  std::size_t without_theory = 0;
  for (const DrawnCurve& curve : content.curves) {
    if (curve.data->theory || curve.reference || curve.constant()) continue;
    const Series& mean = curve.data->mean;
    ResidualCurve drawn{0, curve.style};
    for (const ResidualPoint& point : data.residuals) {
      if (point.series != mean.name || point.point != mean.point || point.x_name != mean.x_name)
        continue;
      const std::string name = name_of(point.series, point.point);
      for (const auto& [quantity, value] : {std::pair{"x", point.x},
                                            std::pair{"theory", point.theory},
                                            std::pair{"difference", point.difference},
                                            std::pair{"standard error", point.sem},
                                            std::pair{"margin", point.margin}}) {
        check_finite(name, quantity, value);
      }
      // A theory of zero, or too near it for a finite quotient, has no relative residual.
      if (!std::isfinite(percent(point)) || !std::isfinite(percent_margin(point))) {
        ++without_theory;
      } else {
        drawn.points.push_back(point);
      }
    }
    std::sort(drawn.points.begin(), drawn.points.end(), [](const auto& a, const auto& b) {
      return a.x < b.x;
    });
    if (!drawn.points.empty()) residual.curves.push_back(std::move(drawn));
  }
  if (without_theory > 0)
    remarks.push_back(fmt::format("{} residuals with theory = 0 not drawn", without_theory));
  if (residual.curves.empty()) return;
  residual.bands = margin_bands(residual.curves, content.x);
  fit_residuals(residual);
  content.residual = std::move(residual);
}

void number_curves(Content& content) {
  int next = 0;
  for (PanelContent& panel : content.panels) {
    for (DrawnCurve& curve : panel.curves) curve.id = next++;
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

}  // namespace

Content arrange(const Figure& figure, const FigureData& data) {
  check(figure);
  Content content{&figure, {}, false, false, false, false, {}};
  std::vector<Point> points;
  const bool lettered = figure.panels.size() > 1;
  for (const Panel& panel : figure.panels) {
    PanelContent drawn;
    drawn.panel = &panel;
    drawn.letter = std::string(1, static_cast<char>('a' + content.panels.size()));
    const auto selections = select(panel, data);
    if (selections.empty()) {
      std::string names;
      for (const Layer& layer : panel.layers) names += (names.empty() ? "" : ", ") + layer.series;
      throw Error(ErrorKind::input,
                  fmt::format("figure '{}', panel ({}): nothing was recorded of its series ({})",
                              figure.name,
                              drawn.letter,
                              names));
    }
    style_curves(drawn, selections, points);
    content.panels.push_back(std::move(drawn));
  }
  fit_x(content);
  for (PanelContent& panel : content.panels) {
    fit_y(panel);
    for (DrawnCurve& curve : panel.curves) {
      if (curve.data->theory) {
        content.lines = true;
        continue;
      }
      content.points = true;
      const auto& sem = curve.data->sem;
      content.bars |= std::any_of(sem.begin(), sem.end(), [](double value) { return value > 0; });
      content.thinned |= thin(curve, panel.x);
    }
    remark_hidden(panel, content.remarks, lettered);
    if (panel.panel->residuals) add_residuals(panel, data, content.remarks);
  }
  number_curves(content);
  return content;
}

}  // namespace attica::plots
