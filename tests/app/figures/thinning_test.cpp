#include "attica/app/figures/thinning.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

using attica::app::kMostDrawn;
using attica::app::thin;
using namespace attica;

namespace {

/// y = sin(x / 1000) of both sides at x = 1, 2, ..., n; the simulation is 5 too high at x = 777 and
/// 1e-3 too low at x = 888.
FigureData sides(std::size_t n) {
  RecordedCurve theory{
      .theory = true, .mean = {"y", {}, "x", {}, {}}, .sem = {}, .sd = {}, .n = {}};
  RecordedCurve simulation = theory;
  simulation.theory = false;
  FigureData data;
  for (std::size_t k = 1; k <= n; ++k) {
    const auto x = static_cast<double>(k);
    const double y = 2 + std::sin(x / 1000);
    const double off = k == 777 ? 5 : k == 888 ? -1e-3 : 0;
    theory.mean.x.push_back(x);
    theory.mean.y.push_back(y);
    simulation.mean.x.push_back(x);
    simulation.mean.y.push_back(y + off);
    simulation.sem.push_back(x);
    simulation.sd.push_back(2 * x);
    simulation.n.push_back(k);
    data.residuals.push_back({.series = "y",
                              .point = {},
                              .x_name = "x",
                              .x = x,
                              .theory = y,
                              .difference = off,
                              .sem = 1,
                              .margin = 1});
  }
  data.curves = {theory, simulation};
  return data;
}

Figure figure_of(PanelKind kind, AxisScale scale) {
  return {.name = "own",
          .panels = {{.kind = kind,
                      .x = {.label = "x", .scale = scale},
                      .y = {},
                      .layers = {{.series = "y"}},
                      .x_name = ""}},
          .columns = 1,
          .caption = "Lines: theory."};
}

bool has(const std::vector<double>& all, double x) {
  return std::ranges::find(all, x) != all.end();
}

}  // namespace

TEST_CASE("thin: what shows of many points stays, and the caption says so", "[app]") {
  for (const AxisScale scale : {AxisScale::linear, AxisScale::log}) {
    Figure figure = figure_of(PanelKind::curves, scale);
    FigureData data = sides(50'000);
    thin(figure, data);
    const RecordedCurve& simulation = data.curves[1];
    const std::vector<double>& x = simulation.mean.x;
    CHECK(x.size() < kMostDrawn);
    CHECK(data.curves[0].mean.x.size() < kMostDrawn);
    CHECK(data.residuals.size() == x.size());
    CHECK(std::ranges::is_sorted(x));
    for (const double kept : {1.0, 50'000.0, 777.0, 888.0}) CHECK(has(x, kept));
    if (scale == AxisScale::log) CHECK((has(x, 2) && has(x, 3)));  // each in an interval of its own
    for (std::size_t k = 0; k < x.size(); ++k) {
      REQUIRE(simulation.sem[k] == x[k]);
      REQUIRE(simulation.sd[k] == 2 * x[k]);
      REQUIRE(static_cast<double>(simulation.n[k]) == x[k]);
    }
    REQUIRE(simulation.sem.size() == x.size());
    REQUIRE(simulation.n.size() == x.size());
    CHECK_THAT(
        figure.caption,
        Catch::Contains("theory. Drawn of y: ") && Catch::Contains(" of 50000 points of a curve"));
  }
}

TEST_CASE("thin: few points, and maps of many, stay as they are", "[app]") {
  Figure few = figure_of(PanelKind::curves, AxisScale::linear);
  FigureData data = sides(kMostDrawn);
  thin(few, data);
  CHECK(data.curves[0].mean.x.size() == kMostDrawn);
  CHECK(data.residuals.size() == kMostDrawn);
  CHECK(few.caption == "Lines: theory.");
  for (const PanelKind kind : {PanelKind::scatter, PanelKind::heat_map}) {
    Figure map = figure_of(kind, AxisScale::linear);
    FigureData many = sides(kMostDrawn + 1);
    thin(map, many);
    CHECK(many.curves[1].mean.x.size() == kMostDrawn + 1);
    CHECK(map.caption == "Lines: theory.");
  }
}
