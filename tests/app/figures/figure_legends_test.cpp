#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "attica/app/configuration/configuration_file.hpp"
#include "attica/core/error.hpp"
#include "attica/plots/content.hpp"
#include "attica/studies/study.hpp"

using namespace attica;
using namespace attica::app;

namespace figure_legends_test {

/// Names in braces: "λ = {lambda}".
std::set<std::string> coordinates_in(const std::string& label) {
  std::set<std::string> names;
  for (auto at = label.find('{'); at != std::string::npos; at = label.find('{', at + 1)) {
    const auto end = label.find_first_not_of(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789", at + 1);
    if (end != std::string::npos && label[end] == '}' && end > at + 1)
      names.insert(label.substr(at + 1, end - at - 1));
  }
  return names;
}

/// What a run of the study might have recorded for a figure, with two parameters swept: the curves
/// of every layer at every point.
FigureData recorded_for(const Figure& figure) {
  FigureData data;
  std::set<std::string> known;
  for (const Panel& panel : figure.panels) {
    for (const Layer& layer : panel.layers) {
      std::vector<Point> points{layer.only};
      std::set<std::string> varied = coordinates_in(layer.label);
      varied.insert({"first", "second"});
      for (const auto& [name, value] : layer.only) varied.erase(name);
      for (const std::string& name : varied) {
        std::vector<Point> finer;
        for (const Point& point : points) {
          for (const double value : {1.0, 2.0}) {
            finer.push_back(point);
            finer.back().emplace_back(name, value);
          }
        }
        points = std::move(finer);
      }
      for (const Point& point : points) {
        for (const bool theory : {true, false}) {
          if (theory ? !layer.theory : !layer.simulation) continue;
          RecordedCurve curve;
          curve.theory = theory;
          curve.mean = {layer.series, point, panel.x_name.empty() ? "x" : panel.x_name, {1, 2}, {}};
          curve.mean.y = {1, 2};
          if (!theory) {
            curve.sem = curve.sd = {0.1, 0.1};
            curve.n = {10, 10};
          }
          const std::string key = layer.series + "|" + describe(point) + "|" + curve.mean.x_name +
                                  (theory ? "|theory" : "|simulation");
          if (known.insert(key).second) data.curves.push_back(std::move(curve));
        }
      }
    }
  }
  return data;
}

TEST_CASE("figures: no legend of any study says the same twice when two parameters are swept",
          "[app][plots]") {
  std::size_t figures = 0;
  for (const Study& study : studies()) {
    CAPTURE(study.name);
    Figure figure;
    try {
      const CheckedConfiguration c =
          read_configuration({.target = study.name, .preset = {}, .overrides = {}}, studies());
      figure = study.figure(c.values);
    } catch (const Error&) {
      continue;  // it needs a file
    }
    std::erase_if(figure.panels, [](const Panel& panel) {
      return panel.kind == PanelKind::heat_map || panel.kind == PanelKind::contours;
    });
    if (figure.panels.empty()) continue;
    ++figures;
    const FigureData data = recorded_for(figure);
    const plots::Content content = plots::arrange(figure, data);
    for (const plots::PanelContent& panel : content.panels) {
      std::map<std::string, int> times;
      for (const plots::LegendEntry& entry : panel.legend) {
        if (entry.line || entry.marker) ++times[entry.text];
      }
      for (const auto& [text, count] : times) {
        CAPTURE(panel.letter, text);
        CHECK(count == 1);
      }
    }
  }
  CHECK(figures > 40);
}

}  // namespace figure_legends_test
