#include "attica/plots/selection.hpp"

#include <fmt/format.h>

#include <cmath>

#include "attica/core/error.hpp"

namespace attica::plots {
namespace {

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

}  // namespace

bool selects(const Panel& panel, const Layer& layer, const RecordedCurve& curve) {
  const Series& mean = curve.mean;
  return mean.name == layer.series && (curve.theory ? layer.theory : layer.simulation) &&
         (panel.x_name.empty() || mean.x_name == panel.x_name || mean.x_name == "none") &&
         has_coordinates(mean.point, layer.only);
}

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

std::vector<Selection> select(const Panel& panel, const FigureData& data, std::size_t first) {
  std::vector<Selection> selections;
  for (std::size_t i = first; i < panel.layers.size(); ++i) {
    const Layer& layer = panel.layers[i];
    Selection selection{&layer, {}, {}};
    for (const RecordedCurve& curve : data.curves) {
      if (curve.mean.x.empty() || !selects(panel, layer, curve)) continue;
      check(curve);
      selection.curves.push_back(&curve);
      index_of(selection.points, curve.mean.point);
    }
    if (!selection.curves.empty()) selections.push_back(std::move(selection));
  }
  return selections;
}

}  // namespace attica::plots
