#pragma once
/// @file
/// @brief What a figure shows, as plain data: a study describes it, plots/ draws it, results fill
/// it.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "attica/core/series.hpp"

namespace attica {

enum class AxisScale { linear, log };

/// An axis. Labels are gnuplot enhanced text in UTF-8, e.g. "{/:Italic α} = {/:Italic M}/{/:Italic
/// N}".
struct Axis {
  std::string label;
  AxisScale scale = AxisScale::linear;
  std::optional<double> low = {};  ///< fixed end of the range; empty: from the data
  std::optional<double> high = {};
};

enum class PanelKind {
  curves,    ///< theory as lines, simulation as points with error bars, against x
  scatter,   ///< simulated y against x as points without joining line; with `diagonal`, y = x is
             ///< drawn
  heat_map,  ///< first layer: values on the grid (x, coordinate `y_coordinate`); further layers as
             ///< curves above it
  contours,  ///< the same with level lines over it
};

/// One of a panel's quantities and how it is drawn.
struct Layer {
  std::string series;      ///< name of the series
  std::string label = "";  ///< legend text; "{lambda}" is replaced by that coordinate of the point
  bool theory = true;      ///< draw the theory's curve
  bool simulation = true;  ///< draw the simulation's points
  bool reference = false;  ///< draw the theory dashed and grey: a limit, a plateau, a bound
  /// Draw each simulated curve as a line, all of the layer alike: runs that are told apart by their
  /// paths rather than by a legend.
  bool trajectories = false;
  bool hollow = false;  ///< open markers: points that lie on those of another layer
  Point only = {};      ///< keep only curves whose point has all these coordinates; empty: all
};

/// @brief A set of axes. Curves of equal point share colour, marker and dash across layers and
/// panels.
struct Panel {
  PanelKind kind = PanelKind::curves;
  Axis x;
  Axis y;
  std::vector<Layer> layers;
  std::string x_name;  ///< only series with this x_name; empty: any. Constants are horizontal lines
  std::string y_coordinate = {};  ///< heat_map, contours: the point coordinate on the y axis
  std::string title =
      {};  ///< short text inside or above the panel; panel letters are added by the drawing
  bool diagonal = false;  ///< scatter: draw y = x
  /// Draw beneath: (simulation - theory) / theory with the declared margin as a band, sharing the x
  /// axis.
  bool residuals = false;
  std::vector<double> vertical_marks =
      {};  ///< x positions of thin dotted lines (thresholds, optima)
  /// Series of constants that are x: the simulation's mean is a thin vertical line in the colour of
  /// the panel's curve at the same point, the first series dotted, the second dash-dotted.
  std::vector<std::string> recorded_marks = {};
  Axis value = {};  ///< heat_map, contours: label and scale of the colours
};

/// @brief A whole figure: panels in reading order.
struct Figure {
  std::string name;  ///< file name without extension
  std::vector<Panel> panels;
  std::size_t columns = 1;
  std::string caption;  ///< one or two sentences: what, parameters, what the error bars are
};

/// A recorded curve: theory (mean only) or simulation over replicates.
struct RecordedCurve {
  bool theory = false;
  Series mean;                 ///< y is the mean over replicates, or the theory's value
  std::vector<double> sem;     ///< standard error of the mean; simulation only
  std::vector<double> sd;      ///< standard deviation over replicates; simulation only
  std::vector<std::size_t> n;  ///< number of replicates; simulation only
};

/// A compared point, for residual panels.
struct ResidualPoint {
  std::string series;
  Point point;
  std::string x_name;
  double x = 0;
  double theory = 0;
  double difference = 0;  ///< simulation - theory
  double sem = 0;
  double margin = 0;  ///< absolute margin; 0 if none was declared
};

/// @brief All that a figure can draw.
struct FigureData {
  std::vector<RecordedCurve> curves;
  std::vector<ResidualPoint> residuals;
};

}  // namespace attica
