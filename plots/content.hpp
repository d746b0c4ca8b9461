#pragma once
/// @file
/// @brief What a figure shows once its layers have met the recorded curves: styles, ranges, legend,
/// residuals.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attica/core/figure.hpp"
#include "attica/plots/axes.hpp"
#include "attica/plots/look.hpp"
#include "attica/plots/theme.hpp"

namespace attica::plots {

/// @brief A recorded curve in a panel.
struct DrawnCurve {
  int id = 0;  ///< column `curve` of the data file
  const RecordedCurve* data = nullptr;
  bool reference = false;
  CurveStyle style;
  std::vector<bool> drawn =
      {};  ///< simulation: false where points were left out to keep them apart
  /// Simulation beside a theory: false where the two were not compared. Empty: all were, or there
  /// was nothing to compare with.
  std::vector<bool> compared = {};
  bool trajectory = false;  ///< simulation drawn as a line

  bool constant() const { return data->mean.x_name == "none"; }
};

/// @brief Compared points of one curve, relative to its theory.
struct ResidualCurve {
  int id = 0;
  CurveStyle style;
  std::vector<ResidualPoint> points = {};
};

/// @brief Margin over theory in percent along x: the widest or the narrowest of the curves'
/// margins.
struct MarginBand {
  int id = 0;
  std::string_view colour;
  std::vector<double> x;
  std::vector<double> percent;
};

/// @brief (simulation - theory) / |theory| in percent, beneath a panel.
struct ResidualContent {
  std::vector<ResidualCurve> curves;
  std::vector<MarginBand> bands;
  Range y;
  bool outliers =
      false;  ///< some points lie beyond the range and are drawn as triangles at its edge
};

/// @brief The meaning of colours, shown in a bar beside the panel.
struct ColourScale {
  Range range;
  Palette palette = Palette::sequential;
  std::string label;  ///< enhanced
};

/// @brief A rectangle of a heat map.
struct Cell {
  double x = 0;
  double y = 0;
  double value = 0;
  double left = 0;
  double right = 0;
  double bottom = 0;
  double top = 0;
};

/// @brief A piece of a level line.
struct Segment {
  double x1 = 0;
  double y1 = 0;
  double x2 = 0;
  double y2 = 0;
};

struct ContourLine {
  int id = 0;
  double level = 0;
  std::string colour;  ///< stands out from the map
  std::vector<Segment> segments = {};
};

/// @brief Values on a grid, in order of y, then x.
struct HeatMap {
  int id = 0;
  std::string series;
  Point point;  ///< without the coordinate on the y axis
  std::string x_name;
  std::vector<Cell> cells;
  std::vector<ContourLine> contours = {};
  ColourScale colours;
};

/// Without line and marker, words on the entries that follow.
struct LegendEntry {
  std::string text;  ///< enhanced
  CurveStyle style;
  bool line = false;
  bool marker = false;

  bool operator==(const LegendEntry&) const = default;
};

/// @brief A thin line from top to bottom.
struct VerticalMark {
  double x = 0;
  std::string colour;
  std::string_view dash;  ///< gnuplot's dash type
};

/// @brief What a horizontal line is, written at the line: a plateau among others.
struct LineLabel {
  double y = 0;
  std::string text;  ///< enhanced
};

struct PanelContent {
  const Panel* panel = nullptr;
  PanelLook look = {};
  std::string letter;  ///< "a", "b", ...
  std::vector<DrawnCurve> curves;
  std::vector<VerticalMark> marks;
  Range x;
  Range y;
  bool joins_next = false;  ///< the panel below has the same x axis, which is written only once
  std::optional<ResidualContent> residual = {};
  std::optional<HeatMap> map = {};
  std::optional<ColourScale> colours = {};  ///< of the map, or of many curves
  std::vector<LegendEntry> legend;
  std::vector<LineLabel> line_labels = {};
  std::string x_label = {};               ///< of the x axis, without the names of categories
  std::vector<Category> categories = {};  ///< on the x axis; nothing is joined between them
  bool matrix = false;                    ///< a map with a cell a whole number both ways: square
  std::vector<PanelContent> inset = {};   ///< one or none
  std::shared_ptr<const Panel> inset_panel = {};  ///< what the inset's content refers to
};

struct Content {
  const Figure* figure = nullptr;
  std::shared_ptr<const FigureData> data = {};  ///< what the curves refer to
  std::vector<PanelContent> panels;
  bool lines = false;   ///< some theory is drawn that is not a reference
  bool points = false;  ///< some simulation is drawn
  bool bars = false;    ///< some simulation has an error bar
  bool thinned = false;
  bool not_compared = false;         ///< some simulation beside a theory was not compared with it
  std::vector<std::string> remarks;  ///< what is not shown, for the reader of the figure
};

/// @throws Error as draw() does
Content arrange(const Figure& figure, const FigureData& data, const Look& look = {});

/// @brief The data file and where its curves are.
struct DataFile {
  struct Rows {
    std::size_t first = 0;  ///< 0 is the row after the header
    std::size_t last = 0;
  };
  std::string text;
  std::vector<Rows> curves;  ///< by id
};

/// @brief One row per number drawn. `kind` is theory, sim, residual (y is the difference), margin
/// (the band, in percent), cell (y is the value) or contour (a piece of the level line y from
/// (left, bottom) to (right, top)); `curve` numbers what belongs together.
DataFile data_file(const Content& content);

}  // namespace attica::plots
