#pragma once
/// @file
/// @brief What an author wants otherwise than the drawing would choose. All of it may be left out.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attica/core/figure.hpp"

namespace attica {

/// Coordinate of a curve's point that names the run or table it comes from. Curves that differ in
/// nothing else look alike across layers, and labels leave it out.
inline constexpr std::string_view kSourceCoordinate = "source";

/// How the curves of a layer look.
struct LayerLook {
  std::optional<std::string> colour = {};  ///< "#rrggbb"
  std::optional<std::string> marker = {};  ///< one of marker_names()
  std::optional<std::string> line = {};    ///< one of line_names()

  bool chosen() const { return colour || marker || line; }
};

enum class TextAnchor { left, centre, right };

/// A text at a place of the axes.
struct Annotation {
  std::string text;  ///< enhanced
  double x = 0;
  double y = 0;
  TextAnchor anchor = TextAnchor::left;  ///< which end of the text stands at x
};

/// A painted part of the axes' area, beneath all that is drawn; in units of the axes.
struct Shade {
  std::string colour;  ///< "#rrggbb"
  double left = 0;
  double right = 0;
  double bottom = 0;
  double top = 0;
  std::vector<std::pair<double, double>> corners = {};  ///< of a polygon in place of a rectangle
};

enum class Corner { top_left, top_right, bottom_left, bottom_right };

/// A small set of axes inside a panel's, such as an enlarged part of it.
struct Inset {
  Panel panel = {};  ///< curves or scatter; without layers: those of the panel around it
  std::vector<LayerLook> layers = {};  ///< of its own layers
  /// Corner of the panel's axes; empty: the first of top right, top left, bottom right, bottom left
  /// that is free of data.
  std::optional<Corner> corner = {};
  /// Where its axes stand: left, bottom, width, height as fractions of the panel's, from the lower
  /// left; instead of a corner. What an author has placed may cover data.
  std::optional<std::array<double, 4>> place = {};
  double width = 0.4;  ///< of the axes, as a fraction of the panel's
  double height = 0.4;
};

struct PanelLook {
  std::vector<LayerLook> layers = {};  ///< in the order of the panel's layers; fewer: as chosen
  std::vector<Shade> shades = {};      ///< later ones cover earlier ones; legends keep clear
  std::vector<Annotation> annotations = {};
  std::vector<double> horizontal_marks = {};  ///< y positions of thin dotted lines
  std::optional<Inset> inset = {};
};

/// Where the legend stands. It never covers data: inside means a corner that is free of them.
enum class LegendPlace {
  above,
  below,
  right,  ///< a column beside the panels, which are as much narrower
  inside,
  none
};

/// How a whole figure looks.
struct Look {
  std::vector<PanelLook> panels = {};  ///< in the order of the figure's panels; fewer: as chosen
  LegendPlace legend = LegendPlace::above;
  bool key = true;      ///< say what lines, points, error bars and bands are
  bool letters = true;  ///< (a), (b), ... where there are several panels
  std::string font = "DejaVu Sans";
  std::optional<double> size = {};    ///< of axis labels, points; all else follows
  std::optional<double> width = {};   ///< of the page, inches
  std::optional<double> aspect = {};  ///< height of a panel over the width of its column
};

/// @brief The names that LayerLook::marker and LayerLook::line accept.
std::vector<std::string> marker_names();
std::vector<std::string> line_names();

}  // namespace attica
