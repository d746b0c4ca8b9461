#pragma once
/// @file
/// @brief What an author wants otherwise than the drawing would choose. All of it may be left out.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

struct PanelLook {
  std::vector<LayerLook> layers = {};  ///< in the order of the panel's layers; fewer: as chosen
  std::vector<Annotation> annotations = {};
  std::vector<double> horizontal_marks = {};  ///< y positions of thin dotted lines
};

/// Where the legend stands. It never covers data: inside means a corner that is free of them.
enum class LegendPlace { above, below, inside, none };

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
