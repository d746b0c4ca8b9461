#include "attica/plots/theme.hpp"

#include <algorithm>
#include <array>

#include "attica/core/error.hpp"

namespace attica::plots {
namespace {

/// Okabe and Ito (2008), "Color Universal Design": without the yellow, too pale for lines on white.
constexpr std::array kColours = {
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"};

struct Marker {
  int filled;
  int open;
};
/// circle, square, triangle, diamond, inverted triangle, pentagon
constexpr std::array<Marker, 6> kMarkers = {{{7, 6}, {5, 4}, {9, 8}, {13, 12}, {11, 10}, {15, 14}}};

constexpr std::array kDashes = {
    "solid", "(10,4)", "(3,2)", "(10,3,3,3)", "(18,4)", "(10,3,3,3,3,3)"};
constexpr std::array kReferenceDashes = {"(7,4)", "(2,3)", "(14,4)"};
constexpr std::array kReferenceColours = {"#777777", "#777777", "#999999"};

template <typename Items>
const auto& cycle(const Items& items, std::size_t k) {
  return items[k % items.size()];
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

CurveStyle product_style(std::size_t point, std::size_t layer) {
  return {cycle(kColours, point), marker(point + layer / 2, layer % 2 == 0), cycle(kDashes, layer)};
}

CurveStyle reference_style(std::size_t k) {
  return {cycle(kReferenceColours, k), marker(k, false), cycle(kReferenceDashes, k)};
}

}  // namespace attica::plots
