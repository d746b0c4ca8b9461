#include "attica/plots/drawable.hpp"

#include <algorithm>

#include "attica/plots/selection.hpp"

namespace attica {

DrawableFigure drawable(const Figure& figure, const FigureData& data) {
  DrawableFigure result{.figure = figure, .missing = {}};
  result.figure.panels.clear();
  for (std::size_t k = 0; k < figure.panels.size(); ++k) {
    const Panel& panel = figure.panels[k];
    const bool is_map = panel.kind == PanelKind::heat_map || panel.kind == PanelKind::contours;
    const std::vector<plots::Selection> selections = plots::select(panel, data);
    // A map is drawn of its first layer, and the others above it.
    const bool found =
        !selections.empty() && (!is_map || selections.front().layer == &panel.layers.front());
    if (found) {
      result.figure.panels.push_back(panel);
    } else {
      result.missing.emplace_back(1, static_cast<char>('a' + k));
    }
  }
  result.figure.columns =
      std::min(figure.columns, std::max<std::size_t>(1, result.figure.panels.size()));
  return result;
}

}  // namespace attica
