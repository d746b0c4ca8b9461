#include "attica/plots/heat_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "attica/core/error.hpp"
#include "attica/plots/selection.hpp"

namespace attica::plots {
namespace {

using Grid = std::map<double, std::map<double, double>>;  ///< value by y, then x

double coordinate(const RecordedCurve& curve, const std::string& name) {
  for (const auto& [own, value] : curve.mean.point) {
    if (own != name) continue;
    if (const auto* number = std::get_if<double>(&value)) return *number;
  }
  throw Error(ErrorKind::input,
              fmt::format("{}: a heat map needs a number '{}' for its y axis",
                          name_of(curve.mean.name, curve.mean.point),
                          name));
}

std::vector<double> keys(const std::map<double, double>& by_position) {
  std::vector<double> positions;
  for (const auto& [position, ignored] : by_position) positions.push_back(position);
  return positions;
}

/// Edges of cells around the centres: halfway to the neighbours on that axis.
struct Edges {
  std::vector<double> centres;
  std::vector<double> edges;  ///< one more

  Edges(std::vector<double> at, const Axis& axis) : centres(std::move(at)) {
    const bool log = axis.scale == AxisScale::log;
    if (log && centres.front() <= 0) {
      throw invalid_parameter(
          "axis '" + axis.label + "'", centres.front(), "positive values on a logarithmic axis");
    }
    const auto forward = [&](double value) { return log ? std::log(value) : value; };
    const auto back = [&](double value) { return log ? std::exp(value) : value; };
    const std::size_t n = centres.size();
    const double first_step = n > 1 ? forward(centres[1]) - forward(centres[0]) : 1;
    const double last_step = n > 1 ? forward(centres[n - 1]) - forward(centres[n - 2]) : 1;
    edges.push_back(back(forward(centres.front()) - first_step / 2));
    for (std::size_t i = 1; i < n; ++i)
      edges.push_back(back((forward(centres[i - 1]) + forward(centres[i])) / 2));
    edges.push_back(back(forward(centres.back()) + last_step / 2));
  }

  std::size_t index(double centre) const {
    return static_cast<std::size_t>(std::lower_bound(centres.begin(), centres.end(), centre) -
                                    centres.begin());
  }
};

std::vector<Cell> cells_of(const Grid& grid, const Panel& panel) {
  std::map<double, double> all_x;
  std::map<double, double> all_y;
  for (const auto& [y, row] : grid) {
    all_y[y] = 0;
    for (const auto& [x, value] : row) all_x[x] = 0;
  }
  const Edges x_edges(keys(all_x), panel.x);
  const Edges y_edges(keys(all_y), panel.y);
  const auto has = [&](std::size_t i, std::size_t j) {
    return i < x_edges.centres.size() && j < y_edges.centres.size() &&
           grid.at(y_edges.centres[j]).contains(x_edges.centres[i]);
  };
  std::vector<Cell> cells;
  for (const auto& [y, row] : grid) {
    for (const auto& [x, value] : row) {
      const std::size_t i = x_edges.index(x);
      const std::size_t j = y_edges.index(y);
      // Cells reach a little under their right and upper neighbours, which are painted later: no
      // seams.
      constexpr double kOverlap = 0.1;
      const double right = x_edges.edges[i + 1];
      const double top = y_edges.edges[j + 1];
      const double more_x = has(i + 1, j) ? kOverlap * (x_edges.centres[i + 1] - right) : 0;
      const double more_y = has(i, j + 1) ? kOverlap * (y_edges.centres[j + 1] - top) : 0;
      cells.push_back(
          {x, y, value, x_edges.edges[i], right + more_x, y_edges.edges[j], top + more_y});
    }
  }
  return cells;
}

/// Marching squares: in each square of four neighbouring values the level line is joined between
/// the sides that it crosses, at positions interpolated on the axes' own scales. Of the two ways to
/// join four crossings the one that follows the mean of the corners is taken.
class Contours {
 public:
  Contours(const Grid& grid, const Panel& panel, const Range& values)
      : grid_(grid), panel_(panel), values_(values) {}

  std::vector<Segment> at(double level) {
    segments_.clear();
    for (auto lower = grid_.begin(); lower != grid_.end() && std::next(lower) != grid_.end();
         ++lower) {
      const auto upper = std::next(lower);
      for (auto left = lower->second.begin();
           left != lower->second.end() && std::next(left) != lower->second.end();
           ++left) {
        const auto right = std::next(left);
        const auto upper_left = upper->second.find(left->first);
        const auto upper_right = upper->second.find(right->first);
        if (upper_left == upper->second.end() || upper_right == upper->second.end()) continue;
        // Corners in order around the square.
        square({{{left->first, lower->first, left->second},
                 {right->first, lower->first, right->second},
                 {right->first, upper->first, upper_right->second},
                 {left->first, upper->first, upper_left->second}}},
               level);
      }
    }
    return segments_;
  }

 private:
  struct Corner {
    double x;
    double y;
    double value;
  };

  void square(const std::array<Corner, 4>& corners, double level) {
    std::vector<std::pair<double, double>> crossings;
    for (std::size_t k = 0; k < corners.size(); ++k) {
      const Corner& a = corners[k];
      const Corner& b = corners[(k + 1) % corners.size()];
      if ((a.value < level) == (b.value < level)) continue;
      const double part = (values_.position(level) - values_.position(a.value)) /
                          (values_.position(b.value) - values_.position(a.value));
      crossings.emplace_back(between(panel_.x, a.x, b.x, part), between(panel_.y, a.y, b.y, part));
    }
    const auto join = [&](std::size_t i, std::size_t j) {
      segments_.push_back(
          {crossings[i].first, crossings[i].second, crossings[j].first, crossings[j].second});
    };
    if (crossings.size() == 2) join(0, 1);
    if (crossings.size() == corners.size()) {
      double mean = 0;
      for (const Corner& corner : corners)
        mean += corner.value / static_cast<double>(corners.size());
      // The sides 0..3 are crossed in turn; corner 1 lies between sides 0 and 1. It is cut off if
      // the centre is on the other side of the level.
      const bool cut_corner_1 = (mean < level) != (corners[1].value < level);
      join(0, cut_corner_1 ? 1 : 3);
      join(2, cut_corner_1 ? 3 : 1);
    }
  }

  static double between(const Axis& axis, double a, double b, double part) {
    if (axis.scale == AxisScale::log)
      return std::exp((1 - part) * std::log(a) + part * std::log(b));
    return (1 - part) * a + part * b;
  }

  const Grid& grid_;
  const Panel& panel_;
  const Range& values_;
  std::vector<Segment> segments_;
};

std::vector<ContourLine> contour_lines(const Grid& grid,
                                       const Panel& panel,
                                       const ColourScale& colours) {
  constexpr int kLevels = 12;
  constexpr double kDarkHalf = 0.55;
  std::vector<ContourLine> lines;
  Contours contours(grid, panel, colours.range);
  for (const Tick& tick : choose_ticks(colours.range, kLevels)) {
    if (!tick.major) continue;
    const bool dark =
        colours.palette == Palette::sequential && colours.range.position(tick.position) < kDarkHalf;
    lines.push_back({0, tick.position, dark ? "#ffffff" : "#000000", contours.at(tick.position)});
  }
  return lines;
}

}  // namespace

ColourScale colour_scale(const Axis& axis, const std::vector<double>& values) {
  ColourScale scale{fit_range(axis, values, 0), Palette::sequential, axis.label};
  if (axis.scale == AxisScale::linear && scale.range.low < 0 && scale.range.high > 0) {
    const double reach = std::max(-scale.range.low, scale.range.high);
    scale.range.low = axis.low.value_or(-reach);
    scale.range.high = axis.high.value_or(reach);
    scale.palette = Palette::diverging;
  }
  return scale;
}

HeatMap make_heat_map(const Panel& panel,
                      const FigureData& data,
                      std::vector<std::string>& remarks) {
  const auto selections = select(panel, data);
  if (panel.layers.empty() || selections.empty() ||
      selections.front().layer != &panel.layers.front()) {
    throw Error(ErrorKind::input,
                "heat map: nothing was recorded of its series '" +
                    (panel.layers.empty() ? "" : panel.layers.front().series) + "'");
  }
  const auto& curves = selections.front().curves;
  const bool simulated =
      std::any_of(curves.begin(), curves.end(), [](const auto* c) { return !c->theory; });
  HeatMap map;
  Grid grid;
  std::vector<double> values;
  std::size_t hidden = 0;
  for (const RecordedCurve* curve : curves) {
    if (curve->theory == simulated) continue;
    const Series& mean = curve->mean;
    const double y = coordinate(*curve, panel.y_coordinate);
    map.series = mean.name;
    map.x_name = mean.x_name;
    for (std::size_t i = 0; i < mean.x.size(); ++i) {
      if (panel.value.scale == AxisScale::log && mean.y[i] <= 0) {
        ++hidden;
        continue;
      }
      values.push_back(mean.y[i]);
      if (!grid[y].emplace(mean.x[i], mean.y[i]).second) {
        throw Error(ErrorKind::input,
                    fmt::format("{}: the heat map has several values at {} = {}, {} = {}; choose "
                                "one curve for each row",
                                name_of(mean.name, mean.point),
                                mean.x_name,
                                mean.x[i],
                                panel.y_coordinate,
                                y));
      }
    }
    map.point = mean.point;
  }
  if (values.empty())
    throw Error(ErrorKind::input,
                "heat map of '" + map.series + "': no value > 0 for its logarithmic scale");
  if (hidden > 0) remarks.push_back(fmt::format("{} values ≤ 0, left white", hidden));
  std::erase_if(map.point, [&](const auto& pair) { return pair.first == panel.y_coordinate; });
  map.cells = cells_of(grid, panel);
  map.colours = colour_scale(panel.value, values);
  if (panel.kind == PanelKind::contours) map.contours = contour_lines(grid, panel, map.colours);
  return map;
}

}  // namespace attica::plots
