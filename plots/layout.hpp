#pragma once
/// @file
/// @brief Where everything goes on the page. Lengths in points from the top left corner of the
/// figure.

#include <optional>
#include <string>
#include <vector>

#include "attica/plots/content.hpp"

namespace attica::plots {

struct Box {
  double left = 0;
  double right = 0;
  double top = 0;
  double bottom = 0;

  double width() const { return right - left; }
  double height() const { return bottom - top; }
};

/// @brief A line of text centred vertically on y.
struct TextLine {
  std::string text;  ///< enhanced
  double x = 0;
  double y = 0;
  double size = 0;
  enum class Anchor {
    left,
    centre,
    right,
    rotated
  } anchor = Anchor::left;  ///< rotated: centred, reading upwards
  bool grey = false;
};

/// @brief A legend entry's sample: any of a short line, a marker, an error bar around it, a patch.
struct Sample {
  double left = 0;
  double right = 0;
  double y = 0;
  CurveStyle style;
  bool line = false;
  bool marker = false;
  bool bar = false;
  bool patch = false;
};

/// @brief A set of axes with its ticks.
struct Axes {
  Box box;
  Range x;
  Range y;
  std::vector<Tick> x_ticks;
  std::vector<Tick> y_ticks;
  bool x_labels = true;  ///< false: the axes below carry them
};

/// @brief The bar that explains colours.
struct ColourBar {
  Box box;
  std::vector<Tick> ticks;
};

struct PanelLayout {
  Axes axes;
  std::optional<ColourBar> bar = {};
  std::optional<Axes> residual = {};
  std::optional<Axes> inset = {};
  Box inset_box = {};  ///< the inset with its labels: white, over the panel
  std::vector<TextLine> inset_texts = {};
};

struct Layout {
  double width = 0;
  double height = 0;
  std::vector<PanelLayout> panels;
  std::vector<TextLine> texts;
  std::vector<Sample> samples;
};

/// @brief Places the content on a page of `width` points. `note` is plain text for the foot of the
/// figure.
/// @throws Error of kind input if the legend cannot stand where it should
Layout lay_out(const Content& content,
               const Theme& theme,
               double width,
               const std::string& note,
               const Look& look = {});

}  // namespace attica::plots
