#include "attica/app/figures/figure_file.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "app/toy_study.hpp"

using namespace attica;
using namespace attica::app;
using toy::message_of;

namespace figure_file_test {

FigureFile file_of(const toy::Folder& folder, const std::string& text) {
  const auto path = folder / "figure.toml";
  std::ofstream(path) << text;
  return read_figure_file(path.string());
}

FigureChange change_of(const std::string& assignment) {
  return read_figure_changes({{"--set " + assignment, assignment}});
}

TEST_CASE("figure file: every key arrives where it belongs", "[app][figure]") {
  const toy::Folder folder;
  const FigureFile file = file_of(folder, R"(
style = "icml"
width = 4.5
formats = ["tex"]
columns = 3
legend = "below"
key = false
letters = false
font = "Serif"
size = 11
aspect = 0.5
vertical = [2]
[[panels]]
title = "$\\alpha$"
x = {label = "x_1", scale = "log", low = 1, high = 10}
residuals = true
horizontal = [0.5, 1]
texts = [{text = "here", x = 2, y = 3, anchor = "centre"}]
layers = [{run = "runs/a", series = "s", only = {n = [1, 2], kind = "b"}, show = "theory", colour = "sky", marker = "pentagon", line = "dashed", hollow = true, reference = true, label = ""},
          {csv = "t.csv", draw = "points"}]
)");
  const FigureChange& f = file.change;
  CHECK(f.name == "figure");
  CHECK(f.style == "icml");
  CHECK(f.inches == 4.5);
  CHECK_FALSE(f.width.has_value());
  CHECK(f.formats == std::vector<std::string>{"tex"});
  CHECK(f.columns == 3U);
  CHECK(f.legend == LegendPlace::below);
  CHECK(f.key == false);
  CHECK(f.letters == false);
  CHECK(f.font == "Serif");
  CHECK(f.size == 11.0);
  CHECK(f.aspect == 0.5);
  CHECK(f.every.vertical == std::vector<double>{2});
  REQUIRE(file.panels.size() == 1);
  const PanelChange& panel = file.panels[0].change;
  CHECK(panel.title == "{/:Italic α}");
  CHECK(panel.x.label == "x\\_1");
  CHECK(panel.x.scale == AxisScale::log);
  CHECK(panel.x.low == 1.0);
  CHECK(panel.x.high == 10.0);
  CHECK(panel.residuals == true);
  CHECK(panel.horizontal == std::vector<double>{0.5, 1});
  REQUIRE(panel.texts.has_value());
  CHECK(panel.texts->at(0).anchor == TextAnchor::centre);
  REQUIRE(file.panels[0].layers.size() == 2);
  const LayerRequest& layer = file.panels[0].layers[0];
  CHECK(layer.only[1].second == std::vector<CoordinateValue>{1.0, 2.0});
  CHECK(layer.only[0].second == std::vector<CoordinateValue>{std::string("b")});
  CHECK((layer.theory && !layer.simulation && layer.reference && layer.hollow));
  CHECK(layer.look.colour == "#56B4E9");
  CHECK(layer.look.marker == "pentagon");
  CHECK(layer.look.line == "dashed");
  CHECK(layer.label == "");
  CHECK(file.panels[0].layers[1].series == "y");
  CHECK(file.panels[0].layers[1].points);
}

TEST_CASE("figure file: all mistakes at once, in the order of the file", "[app][figure]") {
  const toy::Folder folder;
  const std::string message = message_of([&] {
    file_of(folder,
            "size = 1\nstyle = \"nature\"\n[[panels]]\nlayers = [{series = \"s\"}]\nx = {low = 3, "
            "high = 2}\n");
  });
  std::istringstream lines(message);
  std::vector<std::string> all;
  for (std::string line; std::getline(lines, line);)
    all.push_back(line.substr(line.rfind("figure.toml") + 11));
  REQUIRE(all.size() == 4);
  CHECK_THAT(all[0], Catch::StartsWith(":1:8: error: parameter 'size' = 1: expected 4 to 40"));
  CHECK_THAT(all[1], Catch::StartsWith(":2:9: error: parameter 'style'"));
  CHECK_THAT(all[2],
             Catch::StartsWith(":4:11: error: panels[0].layers[0]: expected one of run and csv"));
  CHECK_THAT(all[3],
             Catch::StartsWith(":5:5: error: parameter 'panels[0].x' = 3 to 2: expected low"));
  CHECK_THAT(message_of([&] { file_of(folder, "panels = [{}]\n"); }),
             Catch::Contains("missing key 'layers'"));
  CHECK_THAT(message_of([&] { file_of(folder, "panels = []\n"); }), Catch::Contains("1 to 20"));
  CHECK_THAT(message_of([&] { file_of(folder, "size = [\n"); }), Catch::Contains("figure.toml:"));
  const std::string deep = "a" + std::string(2000, '.') + "b = 1\n";
  CHECK_THAT(message_of([&] { file_of(folder, deep); }), Catch::Contains("more than 256 parts"));
}

TEST_CASE("figure changes: later ones win, a letter names a panel", "[app][figure]") {
  const FigureChange change = read_figure_changes({{"", "figure.x.label=\"one\""},
                                                   {"", "figure.x.label=\"two\""},
                                                   {"", "figure.b.y.high=3"},
                                                   {"", "figure.width=\"full\""},
                                                   {"", "figure.legend=\"none\""}});
  Figure figure{"f", {Panel{}, Panel{}}, 1, ""};
  DrawOptions drawing;
  apply(change, figure, drawing);
  CHECK(figure.panels[0].x.label == "two");
  CHECK(figure.panels[1].x.label == "two");
  CHECK_FALSE(figure.panels[0].y.high.has_value());
  CHECK(figure.panels[1].y.high == 3.0);
  CHECK(drawing.width == FigureWidth::full);
  CHECK(drawing.look.legend == LegendPlace::none);
  figure.panels.resize(1);
  CHECK_THAT(message_of([&] { apply(change, figure, drawing); }),
             Catch::Contains("expected a to a"));
}

TEST_CASE("figure changes: mistakes name the option", "[app][figure]") {
  CHECK_THAT(message_of([] { change_of("figure.size=\"big\""); }),
             Catch::StartsWith("--set figure.size=\"big\": error: parameter 'figure.size' = "));
  CHECK_THAT(message_of([] { change_of("figure.sice=3"); }),
             Catch::Contains("did you mean 'size'?"));
  CHECK_THAT(message_of([] { change_of("figure.size"); }), Catch::Contains("expected key=value"));
  CHECK_THAT(message_of([] { change_of("model.rho=1"); }), Catch::Contains("a key of the figure"));
  CHECK_THAT(message_of([] { change_of("figure.x.label=\"a\\nb\""); }),
             Catch::Contains("expected a text"));
  CHECK_THAT(message_of([] { change_of("figure.panels=[]"); }),
             Catch::Contains("unknown key 'panels'"));
  CHECK_THAT(message_of([] { change_of("figure.x.low=nan"); }), Catch::Contains("a finite number"));
}

TEST_CASE("figure file: every key is in the documentation", "[app][figure]") {
  std::ifstream stream(ATTICA_SOURCE_DIR "/docs/figures.md");
  std::stringstream page;
  page << stream.rdbuf();
  for (const std::string& key : figure_keys()) {
    const std::string name = key.substr(key.rfind('.') + 1);
    CAPTURE(key);
    CHECK((page.str().find("`" + name + "`") != std::string::npos ||
           page.str().find(name + ",") != std::string::npos));
  }
}

}  // namespace figure_file_test
