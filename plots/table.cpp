#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "attica/core/numeric_csv.hpp"
#include "attica/plots/content.hpp"
#include "attica/plots/selection.hpp"

namespace attica::plots {
namespace {

constexpr std::array kColumns = {"panel",
                                 "curve",
                                 "kind",
                                 "series",
                                 "x_name",
                                 "x",
                                 "y",
                                 "sem",
                                 "sd",
                                 "n",
                                 "theory",
                                 "margin",
                                 "drawn",
                                 "left",
                                 "right",
                                 "bottom",
                                 "top"};

/// Writes rows, those of a curve together and curves in order of their ids; the coordinates of the
/// points follow the fixed columns.
class Table {
 public:
  explicit Table(const Content& content) {
    for (const PanelContent& panel : content.panels) {
      for (const DrawnCurve& curve : panel.curves) {
        for (const auto& [name, value] : curve.data->mean.point) index_of(names_, name);
      }
      for (const PanelContent& inset : panel.inset) {
        for (const DrawnCurve& curve : inset.curves) {
          for (const auto& [name, value] : curve.data->mean.point) index_of(names_, name);
        }
      }
      if (!panel.map) continue;
      for (const auto& [name, value] : panel.map->point) index_of(names_, name);
      index_of(names_, panel.panel->y_coordinate);
    }
    text_ = fmt::format("{}", fmt::join(kColumns, ","));
    for (const std::string& name : names_) {
      const bool taken = std::find(kColumns.begin(), kColumns.end(), name) != kColumns.end();
      text_ += fmt::format(",{}", csv_field(taken ? fmt::format("point_{}", name) : name));
    }
    text_ += '\n';
  }

  struct Row {
    std::string_view letter;
    int curve;
    std::string_view kind;
    std::string_view series;
    std::string_view x_name;
    double x;
    double y;
    std::string sem = {};
    std::string sd = {};
    std::string n = {};
    std::string theory = {};
    std::string margin = {};
    int drawn =
        1;  ///< 0: left out to keep points apart; 2: drawn, and not compared with the theory
    std::string edges = ",,,";  ///< left, right, bottom, top
  };

  void add(const Row& row, const Point& point) {
    const auto id = static_cast<std::size_t>(row.curve);
    if (id >= curves_.size()) curves_.resize(id + 1, {rows_, rows_});
    curves_[id].last = rows_++;
    text_ += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
                         row.letter,
                         row.curve,
                         row.kind,
                         csv_field(row.series),
                         csv_field(row.x_name),
                         row.x,
                         row.y,
                         row.sem,
                         row.sd,
                         row.n,
                         row.theory,
                         row.margin,
                         row.drawn,
                         row.edges);
    for (const std::string& name : names_) {
      const auto found = std::find_if(
          point.begin(), point.end(), [&](const auto& pair) { return pair.first == name; });
      text_ += fmt::format(",{}", found == point.end() ? "" : csv_field(describe(found->second)));
    }
    text_ += '\n';
  }

  DataFile take() { return {std::move(text_), std::move(curves_)}; }

 private:
  std::vector<std::string> names_;
  std::string text_;
  std::vector<DataFile::Rows> curves_;
  std::size_t rows_ = 0;
};

template <typename Number>
std::string number_or_empty(const std::vector<Number>& values, std::size_t i) {
  return values.empty() ? "" : fmt::format("{}", values[i]);
}

void add_curve(Table& table, const std::string& letter, const DrawnCurve& curve) {
  const Series& mean = curve.data->mean;
  for (std::size_t i = 0; i < mean.x.size(); ++i) {
    Table::Row row{letter,
                   curve.id,
                   curve.data->theory ? "theory" : "sim",
                   mean.name,
                   mean.x_name,
                   mean.x[i],
                   mean.y[i]};
    if (!curve.data->theory) {
      row.sem = number_or_empty(curve.data->sem, i);
      row.sd = number_or_empty(curve.data->sd, i);
      row.n = number_or_empty(curve.data->n, i);
      row.drawn = !curve.drawn[i] ? 0 : curve.compared.empty() || curve.compared[i] ? 1 : 2;
    }
    table.add(row, mean.point);
  }
}

void add_map(Table& table, const std::string& letter, const Panel& panel, const HeatMap& map) {
  for (const Cell& cell : map.cells) {
    Table::Row row{letter, map.id, "cell", map.series, map.x_name, cell.x, cell.value};
    row.edges = fmt::format("{},{},{},{}", cell.left, cell.right, cell.bottom, cell.top);
    Point point = map.point;
    point.emplace_back(panel.y_coordinate, cell.y);
    table.add(row, point);
  }
  for (const ContourLine& line : map.contours) {
    for (const Segment& segment : line.segments) {
      Table::Row row{letter, line.id, "contour", map.series, map.x_name, segment.x1, line.level};
      row.edges = fmt::format("{},{},{},{}", segment.x1, segment.x2, segment.y1, segment.y2);
      table.add(row, map.point);
    }
  }
}

void add_residual(Table& table, const std::string& letter, const ResidualContent& residual) {
  for (const ResidualCurve& curve : residual.curves) {
    for (const ResidualPoint& point : curve.points) {
      Table::Row row{
          letter, curve.id, "residual", point.series, point.x_name, point.x, point.difference};
      row.sem = fmt::format("{}", point.sem);
      row.theory = fmt::format("{}", point.theory);
      row.margin = fmt::format("{}", point.margin);
      table.add(row, point.point);
    }
  }
  for (const MarginBand& band : residual.bands) {
    for (std::size_t i = 0; i < band.x.size(); ++i) {
      table.add({letter, band.id, "margin", "", "", band.x[i], band.percent[i]}, {});
    }
  }
}

}  // namespace

DataFile data_file(const Content& content) {
  Table table(content);
  for (const PanelContent& panel : content.panels) {
    for (const DrawnCurve& curve : panel.curves) add_curve(table, panel.letter, curve);
    for (const PanelContent& inset : panel.inset) {
      for (const DrawnCurve& curve : inset.curves) add_curve(table, inset.letter, curve);
    }
    if (panel.map) add_map(table, panel.letter, *panel.panel, *panel.map);
    if (panel.residual) add_residual(table, panel.letter, *panel.residual);
  }
  return table.take();
}

}  // namespace attica::plots
