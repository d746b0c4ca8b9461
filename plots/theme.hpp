#pragma once
/// @file
/// @brief Sizes, colours, markers and dashes.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "attica/plots/look.hpp"

namespace attica::plots {

/// @brief What a journal or occasion asks for. Lengths in points (1/72 inch) unless said otherwise.
struct Theme {
  std::string name;
  double half_width;   ///< inches
  double full_width;   ///< inches
  double label_size;   ///< axis labels, panel letters
  double small_size;   ///< tick labels, legends, notes
  double line_width;   ///< theory curves; frames, ticks and error bars are about half of it
  double marker_size;  ///< diameter of a circle
};

/// @brief All themes; the first is the default.
const std::vector<Theme>& themes();
/// @throws Error of kind input listing the names if there is none called `name`
const Theme& find_theme(std::string_view name);

/// @brief How one curve looks. Each of the three parts alone tells up to six curves apart, so that
/// figures survive printing in grey and colour-blind readers.
struct CurveStyle {
  std::string colour = "#000000";
  int marker = 0;  ///< gnuplot point type
  std::string dash = "solid";

  bool operator==(const CurveStyle&) const = default;
};

/// @brief The k-th of a set of curves: colour, marker and dash all differ.
CurveStyle nth_style(std::size_t k);
/// @brief Curves that differ in two ways: colour and marker shape by `point`, marker filling and
/// dash by `layer`.
CurveStyle product_style(std::size_t point, std::size_t layer);
/// @brief The same with an open marker.
CurveStyle hollow_style(CurveStyle style);
/// @brief The same, open and pale: a point that was not compared with its theory.
CurveStyle pale_style(CurveStyle style);
/// @brief The same with what the author chose. @throws Error of kind input for names that are none
CurveStyle chosen_style(CurveStyle style, const LayerLook& look);
/// @brief The k-th of a set of curves over a heat map.
CurveStyle over_map_style(std::size_t k);
/// @brief Grey dashes for limits and bounds.
CurveStyle reference_style(std::size_t k);

enum class Palette {
  sequential,  ///< viridis: perceptually uniform, darkest for the lowest value
  lines,       ///< its darker part, for curves on white
  diverging,   ///< blue to red through white, for values of both signs
};

/// @brief Colour at a fraction 0..1 of the palette, as "#rrggbb".
std::string palette_colour(Palette palette, double fraction);
/// @brief The palette for gnuplot's `set palette defined`.
std::string palette_definition(Palette palette);

inline constexpr std::string_view kGrey = "#777777";        ///< notes, keys, marks
inline constexpr std::string_view kWideBand = "#E8E8E8";    ///< the widest margin
inline constexpr std::string_view kNarrowBand = "#D2D2D2";  ///< the narrowest margin

}  // namespace attica::plots
