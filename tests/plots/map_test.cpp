#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/plots/heat_map.hpp"
#include "plots/samples.hpp"

using namespace attica;
using namespace attica::plots;
using attica::testing::grid;

namespace map_test {

FigureData surface(const std::vector<double>& x,
                   const std::vector<double>& y,
                   double (*value)(double, double)) {
  FigureData data;
  for (const double row : y) {
    RecordedCurve curve;
    curve.theory = true;
    curve.mean = {"loss", {{"tau", row}}, "T", x, {}};
    for (const double column : x) curve.mean.y.push_back(value(column, row));
    data.curves.push_back(curve);
  }
  return data;
}

Panel map_panel(PanelKind kind) {
  Panel panel;
  panel.kind = kind;
  panel.x = {"T"};
  panel.y = {"tau"};
  panel.layers = {{"loss", ""}};
  panel.y_coordinate = "tau";
  panel.value = {"loss"};
  return panel;
}

TEST_CASE("heat map: cells meet halfway between their centres", "[plots]") {
  std::vector<std::string> remarks;
  const auto data = surface({1, 2, 4}, {10, 20}, [](double x, double y) { return x + y; });
  const HeatMap map = make_heat_map(map_panel(PanelKind::heat_map), data, remarks);
  REQUIRE(map.cells.size() == 6);
  CHECK(map.cells[1].x == 2);
  CHECK(map.cells[1].y == 10);
  CHECK(map.cells[1].value == 12);
  CHECK(map.cells[1].left == 1.5);
  CHECK(map.cells[2].left == 3);
  CHECK(map.cells[2].right == 5);
  CHECK(map.cells[2].bottom == 5);
  CHECK(map.cells[5].top == 25);
  CHECK(map.contours.empty());
  CHECK(remarks.empty());
}

TEST_CASE("heat map: level lines of a plane are straight and complete", "[plots]") {
  std::vector<std::string> remarks;
  const auto data = surface(
      grid(0, 1, 11, false), grid(0, 1, 13, false), [](double x, double y) { return x + y; });
  const HeatMap map = make_heat_map(map_panel(PanelKind::contours), data, remarks);
  REQUIRE(map.contours.size() >= 3);
  for (const ContourLine& line : map.contours) {
    double length = 0;
    for (const Segment& s : line.segments) {
      CHECK(s.x1 + s.y1 == Approx(line.level).margin(1e-12));
      CHECK(s.x2 + s.y2 == Approx(line.level).margin(1e-12));
      length += std::hypot(s.x2 - s.x1, s.y2 - s.y1);
    }
    // x + y = c crosses the unit square along sqrt(2) min(c, 2 - c).
    CHECK(length == Approx(std::sqrt(2.0) * std::min(line.level, 2 - line.level)).margin(1e-9));
  }
}

TEST_CASE("heat map: logarithmic axes and values are interpolated as such", "[plots]") {
  std::vector<std::string> remarks;
  Panel panel = map_panel(PanelKind::contours);
  panel.x.scale = panel.y.scale = panel.value.scale = AxisScale::log;
  const auto data = surface(
      grid(1, 100, 7, true), grid(1, 1000, 8, true), [](double x, double y) { return x * y; });
  const HeatMap map = make_heat_map(panel, data, remarks);
  std::size_t segments = 0;
  for (const ContourLine& line : map.contours) {
    segments += line.segments.size();
    for (const Segment& s : line.segments) CHECK(s.x1 * s.y1 == Approx(line.level).epsilon(1e-9));
  }
  CHECK(segments > 10);
}

TEST_CASE("heat map: colours of both signs are symmetric about zero", "[plots]") {
  std::vector<std::string> remarks;
  const auto data = surface({0, 1}, {0, 1}, [](double x, double y) { return x - 3 * y; });
  const HeatMap map = make_heat_map(map_panel(PanelKind::heat_map), data, remarks);
  CHECK(map.colours.palette == Palette::diverging);
  CHECK(map.colours.range.low == -map.colours.range.high);
}

TEST_CASE("heat map: maps of one series share their colours, others have their own", "[plots]") {
  FigureData data;
  const auto add = [&](const char* series, const char* model, std::vector<double> y) {
    RecordedCurve curve;
    curve.theory = true;
    curve.mean = {series, {{"tau", 1.0}, {"model", model}}, "T", {0, 1}, std::move(y)};
    data.curves.push_back(curve);
  };
  add("loss", "a", {1, 2});
  add("loss", "b", {-3, 1});
  add("error", "a", {5, 6});
  Figure figure{.name = "maps", .panels = {}, .columns = 1, .caption = ""};
  for (const auto& [series, model] :
       {std::pair{"loss", "a"}, std::pair{"loss", "b"}, std::pair{"error", "a"}}) {
    Panel panel = map_panel(PanelKind::heat_map);
    panel.layers = {{.series = series, .only = {{"model", model}}}};
    figure.panels.push_back(panel);
  }
  const Content content = arrange(figure, data);
  for (const std::size_t k : {0, 1}) {
    CHECK(content.panels[k].colours->range.low == -3);
    CHECK(content.panels[k].colours->range.high == 3);
    CHECK(content.panels[k].colours->palette == Palette::diverging);
  }
  CHECK(content.panels[2].colours->range.low == 5);
  CHECK(content.panels[2].colours->palette == Palette::sequential);
}

TEST_CASE("heat map: refuses grids that are not grids", "[plots]") {
  std::vector<std::string> remarks;
  auto data = surface({1, 2}, {1, 2}, [](double x, double y) { return x + y; });
  data.curves.push_back(data.curves.front());
  CHECK_THROWS_AS(make_heat_map(map_panel(PanelKind::heat_map), data, remarks), Error);
  data.curves.pop_back();
  Panel panel = map_panel(PanelKind::heat_map);
  panel.y_coordinate = "missing";
  CHECK_THROWS_AS(make_heat_map(panel, data, remarks), Error);
  panel = map_panel(PanelKind::heat_map);
  panel.layers[0].series = "missing";
  CHECK_THROWS_AS(make_heat_map(panel, data, remarks), Error);
  panel = map_panel(PanelKind::heat_map);
  panel.x.scale = AxisScale::log;
  data.curves[0].mean.x[0] = 0;
  CHECK_THROWS_AS(make_heat_map(panel, data, remarks), Error);
}

}  // namespace map_test
