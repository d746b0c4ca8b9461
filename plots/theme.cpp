#include "attica/plots/theme.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "attica/core/error.hpp"

namespace attica::plots {
namespace {

/// Okabe and Ito (2008), "Color Universal Design": without the yellow, too pale for lines on white.
constexpr std::array kColours = {
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"};

/// Those that stand out from both palettes and from white.
constexpr std::array kOverMap = {"#D55E00", "#000000", "#CC79A7"};

struct Marker {
  int filled;
  int open;
};
/// circle, square, triangle, diamond, inverted triangle, pentagon
constexpr std::array<Marker, 6> kMarkers = {{{7, 6}, {5, 4}, {9, 8}, {13, 12}, {11, 10}, {15, 14}}};

constexpr std::array kDashes = {"solid", "(6,4)", "(2,3)", "(6,3,1,3)", "(11,4)", "(6,3,1,3,1,3)"};
/// By the names in marker_names() and line_names().
constexpr std::array kMarkerNames = {
    "circle", "square", "triangle", "diamond", "inverted-triangle", "pentagon"};
constexpr std::array kLineNames = {"solid", "dashed", "dotted", "dash-dotted", "long-dashed"};
constexpr std::array kReferenceDashes = {"(6,5)", "(2,4)", "(12,5)"};
constexpr std::array kReferenceColours = {"#777777", "#777777", "#999999"};

template <typename Items>
const auto& cycle(const Items& items, std::size_t k) {
  return items[k % items.size()];
}

struct Rgb {
  int red;
  int green;
  int blue;
};

/// Nine points of viridis (van der Walt and Smith 2015), equally spaced.
constexpr std::array<Rgb, 9> kViridis = {{{68, 1, 84},
                                          {71, 44, 122},
                                          {59, 81, 139},
                                          {44, 113, 142},
                                          {33, 144, 141},
                                          {39, 173, 129},
                                          {92, 200, 99},
                                          {170, 220, 50},
                                          {253, 231, 37}}};
/// RdBu of ColorBrewer (Harrower and Brewer 2003), blue first.
constexpr std::array<Rgb, 7> kBlueRed = {{{33, 102, 172},
                                          {103, 169, 207},
                                          {209, 229, 240},
                                          {247, 247, 247},
                                          {253, 219, 199},
                                          {239, 138, 98},
                                          {178, 24, 43}}};

std::span<const Rgb> anchors(Palette palette) {
  if (palette == Palette::diverging) return kBlueRed;
  const std::span<const Rgb> all = kViridis;
  return palette == Palette::lines ? all.first(all.size() - 1) : all;
}

std::string hexadecimal(const Rgb& colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

int marker(std::size_t shape, bool filled) {
  const Marker& pair = cycle(kMarkers, shape);
  return filled ? pair.filled : pair.open;
}

}  // namespace

const std::vector<Theme>& themes() {
  static const std::vector<Theme> all = {
      // Physical Review: column 3 3/8 in, page 7 in.
      {"aps", 3.375, 7.0, 8, 7, 0.9, 3.2},
      // NeurIPS: text 5.5 in wide; two figures side by side.
      {"neurips", 2.65, 5.5, 8, 7, 0.9, 3.2},
      // ICML: column 3.25 in, page 6.75 in.
      {"icml", 3.25, 6.75, 8, 7, 0.9, 3.2},
      // JMLR: text 6 in wide, 11 pt; two figures side by side.
      {"jmlr", 2.9, 6.0, 9, 8, 1.0, 3.6},
      // Slides 10 in wide, to be read from the last row.
      {"slides", 6.5, 10.0, 18, 16, 2.0, 7.5},
  };
  return all;
}

const Theme& find_theme(std::string_view name) {
  std::string names;
  for (const Theme& theme : themes()) {
    if (theme.name == name) return theme;
    names += (names.empty() ? "" : ", ") + theme.name;
  }
  throw invalid_parameter("style", name, "one of " + names);
}

CurveStyle nth_style(std::size_t k) {
  return {cycle(kColours, k), marker(k, k / kMarkers.size() % 2 == 0), cycle(kDashes, k)};
}

CurveStyle hollow_style(CurveStyle style) {
  for (const Marker& pair : kMarkers) {
    if (pair.filled == style.marker) style.marker = pair.open;
  }
  return style;
}

CurveStyle pale_style(CurveStyle style) {
  constexpr double kWhite = 0.45;
  const auto channel = [&](std::size_t at) {
    const int value = std::stoi(style.colour.substr(at, 2), nullptr, 16);
    return static_cast<int>(std::lround(value + kWhite * (255 - value)));
  };
  style = hollow_style(style);
  style.colour = hexadecimal({channel(1), channel(3), channel(5)});
  return style;
}

CurveStyle chosen_style(CurveStyle style, const LayerLook& look) {
  const auto place = [](const auto& names, const char* what, const std::string& name) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      throw invalid_parameter(what, name, fmt::format("one of {}", fmt::join(names, ", ")));
    return static_cast<std::size_t>(found - names.begin());
  };
  if (look.colour) {
    const std::string& colour = *look.colour;
    constexpr std::size_t kLength = 7;
    if (colour.size() != kLength || colour.front() != '#' ||
        colour.find_first_not_of("0123456789abcdefABCDEF", 1) != std::string::npos)
      throw invalid_parameter("colour", colour, "#rrggbb, hexadecimal");
    style.colour = colour;
  }
  if (look.marker) style.marker = kMarkers[place(kMarkerNames, "marker", *look.marker)].filled;
  if (look.line) style.dash = kDashes[place(kLineNames, "line", *look.line)];
  return style;
}

CurveStyle product_style(std::size_t point, std::size_t layer) {
  return {cycle(kColours, point), marker(point + layer / 2, layer % 2 == 0), cycle(kDashes, layer)};
}

std::string palette_colour(Palette palette, double fraction) {
  const auto points = anchors(palette);
  const double at = std::clamp(fraction, 0.0, 1.0) * static_cast<double>(points.size() - 1);
  const auto left = std::min(static_cast<std::size_t>(at), points.size() - 2);
  const double part = at - static_cast<double>(left);
  const auto mix = [&](int Rgb::*channel) {
    return static_cast<int>(
        std::lround((1 - part) * points[left].*channel + part * points[left + 1].*channel));
  };
  return hexadecimal({mix(&Rgb::red), mix(&Rgb::green), mix(&Rgb::blue)});
}

std::string palette_definition(Palette palette) {
  std::string list;
  int k = 0;
  for (const Rgb& colour : anchors(palette)) {
    list += fmt::format("{}{} '{}'", list.empty() ? "" : ", ", k++, hexadecimal(colour));
  }
  return list;
}

CurveStyle over_map_style(std::size_t k) {
  CurveStyle style = nth_style(k);
  style.colour = cycle(kOverMap, k);
  return style;
}

CurveStyle reference_style(std::size_t k) {
  return {cycle(kReferenceColours, k), marker(k, false), cycle(kReferenceDashes, k)};
}

}  // namespace attica::plots

namespace attica {

std::vector<std::string> marker_names() {
  return {plots::kMarkerNames.begin(), plots::kMarkerNames.end()};
}
std::vector<std::string> line_names() {
  return {plots::kLineNames.begin(), plots::kLineNames.end()};
}

}  // namespace attica
