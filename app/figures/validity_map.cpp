#include "attica/app/figures/validity_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "attica/core/error.hpp"

namespace attica::app {
namespace {

/// A number that is all of the text.
template <class T>
std::optional<T> number_of(std::string_view text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc() || rest != end || text.empty()) return std::nullopt;
  return value;
}

/// Twelve digits: 0.3 rather than 0.30000000000000004 in files and messages.
double tidy(double value) { return *number_of<double>(fmt::format("{:.12g}", value)); }

std::array<MapNode, 4> corners(const MapSquare& square) {
  const auto [row, column] = square.corner;
  return {MapNode{row, column},
          MapNode{row, column + square.size},
          MapNode{row + square.size, column + square.size},
          MapNode{row + square.size, column}};
}

/// Whether bisecting leads to new places: whole numbers come to an end.
bool divisible(const MapSquare& square, const MapMesh& mesh) {
  if (square.size == 1) return false;
  const auto between = [&](const std::vector<double>& values, std::size_t first) {
    const double middle = values[first + square.size / 2];
    return values[first] < middle && middle < values[first + square.size];
  };
  return between(mesh.x, square.corner.column) || between(mesh.y, square.corner.row);
}

/// Whether known places of the square, its sides included, are apart.
bool differs(const MapSquare& square, const MapMesh& mesh) {
  std::set<MapMark> found;
  for (std::size_t row = square.corner.row; row <= square.corner.row + square.size; ++row) {
    auto node = mesh.marks.lower_bound({row, square.corner.column});
    for (; node != mesh.marks.end() && node->first.row == row &&
           node->first.column <= square.corner.column + square.size;
         ++node) {
      found.insert(node->second);
    }
  }
  for (const MapMark a : found) {
    for (const MapMark b : found) {
      if (apart(a, b)) return true;
    }
  }
  return false;
}

std::array<MapSquare, 4> quarters(const MapSquare& square) {
  const std::size_t half = square.size / 2;
  const auto [row, column] = square.corner;
  return {MapSquare{{row, column}, half},
          MapSquare{{row, column + half}, half},
          MapSquare{{row + half, column}, half},
          MapSquare{{row + half, column + half}, half}};
}

/// Lines from pieces that share ends.
std::vector<MapLine> chained(
    const std::vector<std::pair<MapLine::value_type, MapLine::value_type>>& pieces) {
  std::multimap<MapLine::value_type, std::size_t> ends;
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    ends.emplace(pieces[k].first, k);
    ends.emplace(pieces[k].second, k);
  }
  std::vector<bool> used(pieces.size(), false);
  const auto follow = [&](MapLine& line) {
    for (bool found = true; found;) {
      found = false;
      const auto [first, last] = ends.equal_range(line.back());
      for (auto at = first; at != last && !found; ++at) {
        const auto& piece = pieces[at->second];
        if (used[at->second]) continue;
        used[at->second] = true;
        line.push_back(piece.first == line.back() ? piece.second : piece.first);
        found = true;
      }
    }
  };
  std::vector<MapLine> lines;
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    if (used[k]) continue;
    used[k] = true;
    MapLine line{pieces[k].first, pieces[k].second};
    follow(line);
    std::reverse(line.begin(), line.end());
    follow(line);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace

MapMark mark_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::agree:
    case Verdict::claims_hold:
      return MapMark::agree;
    case Verdict::disagree:
      return MapMark::disagree;
    case Verdict::inconclusive:
      return MapMark::inconclusive;
    case Verdict::none:
      break;
  }
  return MapMark::none;
}

bool apart(MapMark a, MapMark b) {
  const auto judged = [](MapMark m) { return m == MapMark::agree || m == MapMark::disagree; };
  if (a == MapMark::inconclusive) return b != a && !judged(b);
  if (b == MapMark::inconclusive) return !judged(a);
  return a != b;
}

std::vector<double> MapAxis::values(int depth) const {
  const std::size_t steps = (count - 1) << depth;
  std::vector<double> all;
  for (std::size_t k = 0; k <= steps; ++k) {
    const auto part = static_cast<double>(k) / static_cast<double>(steps);
    double value = log ? low * std::pow(high / low, part) : low + part * (high - low);
    if (k == 0) value = low;
    if (k == steps) value = high;
    all.push_back(whole ? std::round(value) : tidy(value));
  }
  return all;
}

double MapAxis::middle(double a, double b) const { return log ? std::sqrt(a * b) : (a + b) / 2; }

MapAxis parse_map_axis(const std::string& flag, const std::string& text) {
  const Error refusal =
      invalid_parameter(flag, text, "KEY=LOW..HIGH, KEY=LOW..HIGH:N or KEY=LOW..HIGH:N:log");
  MapAxis axis;
  const auto equals = text.find('=');
  const auto dots = text.find("..");
  if (equals == std::string::npos || equals == 0 || dots == std::string::npos || dots < equals)
    throw refusal;
  axis.key = text.substr(0, equals);
  std::vector<std::string> rest;
  std::string high = text.substr(dots + 2);
  for (auto colon = high.rfind(':'); colon != std::string::npos; colon = high.rfind(':')) {
    rest.insert(rest.begin(), high.substr(colon + 1));
    high.erase(colon);
  }
  if (!rest.empty() && (rest.back() == "log" || rest.back() == "linear")) {
    axis.log = rest.back() == "log";
    rest.pop_back();
  }
  const auto low = number_of<double>(std::string_view(text).substr(equals + 1, dots - equals - 1));
  const auto top = number_of<double>(high);
  if (!low || !top || rest.size() > 1) throw refusal;
  axis.low = *low;
  axis.high = *top;
  constexpr std::size_t kMost = 65;
  if (!rest.empty()) {
    const auto count = number_of<std::size_t>(rest.front());
    if (!count || *count < 2 || *count > kMost)
      throw invalid_parameter(
          flag, text, fmt::format("2 to {} places, not {}", kMost, rest.front()));
    axis.count = *count;
  }
  if (!std::isfinite(axis.low) || !std::isfinite(axis.high) || !(axis.low < axis.high))
    throw invalid_parameter(flag, text, "a range that is not empty: LOW < HIGH, both finite");
  if (axis.log && !(axis.low > 0))
    throw invalid_parameter(flag, text, "LOW > 0 on a logarithmic axis");
  return axis;
}

std::optional<MapMark> MapMesh::at(const MapNode& node) const {
  const auto found = marks.find(node);
  return found == marks.end() ? std::nullopt : std::optional(found->second);
}

MapMesh refine(const MapAxis& x,
               const MapAxis& y,
               int depth,
               const std::function<std::optional<MapMark>(double x, double y)>& evaluate,
               const std::function<void(std::size_t places)>& told) {
  MapMesh mesh{.x = x.values(depth), .y = y.values(depth), .marks = {}, .squares = {}};
  const std::size_t coarse = std::size_t{1} << depth;
  // Nodes of equal values, on an axis of whole numbers, are one place.
  std::map<std::pair<double, double>, MapMark> known;
  const auto evaluate_all = [&](const std::set<MapNode>& nodes) {
    if (told && !nodes.empty()) told(nodes.size());
    for (const MapNode& node : nodes) {
      const std::pair place{mesh.x[node.column], mesh.y[node.row]};
      auto found = known.find(place);
      if (found == known.end()) {
        const std::optional<MapMark> mark = evaluate(place.first, place.second);
        if (!mark) return false;
        found = known.emplace(place, *mark).first;
      }
      mesh.marks.emplace(node, found->second);
    }
    return true;
  };

  std::set<MapNode> nodes;
  for (std::size_t row = 0; row < mesh.y.size(); row += coarse) {
    for (std::size_t column = 0; column < mesh.x.size(); column += coarse) {
      nodes.insert({row, column});
      if (row + coarse < mesh.y.size() && column + coarse < mesh.x.size())
        mesh.squares.push_back({{row, column}, coarse});
    }
  }
  mesh.complete = evaluate_all(nodes);
  while (mesh.complete) {
    std::size_t largest = 0;
    std::vector<bool> split;
    for (const MapSquare& square : mesh.squares) {
      split.push_back(divisible(square, mesh) && differs(square, mesh));
      if (split.back()) largest = std::max(largest, square.size);
    }
    if (largest == 0) break;
    std::vector<MapSquare> squares;
    nodes.clear();
    for (std::size_t k = 0; k < split.size(); ++k) {
      if (!split[k] || mesh.squares[k].size != largest) {
        squares.push_back(mesh.squares[k]);
        continue;
      }
      for (const MapSquare& quarter : quarters(mesh.squares[k])) {
        squares.push_back(quarter);
        for (const MapNode& node : corners(quarter)) {
          if (!mesh.at(node)) nodes.insert(node);
        }
      }
    }
    mesh.squares = std::move(squares);
    mesh.complete = evaluate_all(nodes);
  }
  return mesh;
}

namespace {

/// A known place on the sides of a square.
struct Known {
  double x = 0;
  double y = 0;
  MapMark mark = MapMark::none;

  bool agrees() const { return mark == MapMark::agree; }
};

/// A part of a square that agrees: `inside` from the side on which it begins to that on which it
/// ends, the places and corners between them included; `edge` back from there through the square.
struct AgreeingPart {
  MapLine inside;
  MapLine edge;
};

/// Squares with their known places. Nodes of equal values, on axes of whole numbers, are one place,
/// and squares without an extent are left out.
class Plane {
 public:
  Plane(const MapMesh& mesh, const MapAxis& x, const MapAxis& y)
      : mesh_(mesh), x_(x), y_(y), columns_(firsts(mesh.x)), rows_(firsts(mesh.y)) {
    for (const auto& [node, mark] : mesh.marks) {
      by_row_[rows_[node.row]][columns_[node.column]] = mark;
      by_column_[columns_[node.column]][rows_[node.row]] = mark;
    }
  }

  /// @brief The places on the sides, counter-clockwise from the lower left corner; none if a corner
  /// is not known or the square has no extent.
  std::vector<Known> sides(const MapSquare& square) const {
    const Ends c = ends(columns_, square.corner.column, square.size);
    const Ends r = ends(rows_, square.corner.row, square.size);
    for (const MapNode& corner : corners(square)) {
      if (!mesh_.at(corner)) return {};
    }
    if (c.first == c.last || r.first == r.last) return {};
    std::vector<Known> all;
    const auto add = [&](const std::map<std::size_t, MapMark>& line, Ends range, auto&& place) {
      // The last one belongs to the next side.
      for (auto at = line.lower_bound(range.first); at->first < range.last; ++at)
        all.push_back(place(at->first, at->second));
    };
    const auto back = [&](const std::map<std::size_t, MapMark>& line, Ends range, auto&& place) {
      for (auto at = line.lower_bound(range.last); at->first > range.first; --at)
        all.push_back(place(at->first, at->second));
    };
    const auto in_row = [&](std::size_t row) {
      return [this, row](std::size_t column, MapMark mark) {
        return Known{mesh_.x[column], mesh_.y[row], mark};
      };
    };
    const auto in_column = [&](std::size_t column) {
      return [this, column](std::size_t row, MapMark mark) {
        return Known{mesh_.x[column], mesh_.y[row], mark};
      };
    };
    add(by_row_.at(r.first), c, in_row(r.first));
    add(by_column_.at(c.last), r, in_column(c.last));
    back(by_row_.at(r.last), c, in_row(r.last));
    back(by_column_.at(c.first), r, in_column(c.first));
    return all;
  }

  /// @brief The parts of the square that agree, none if all of it does or nothing. Lines begin and
  /// end half-way between neighbouring places of its sides, so that they meet those of the squares
  /// beyond; no two of them cross.
  std::vector<AgreeingPart> parts(const std::vector<Known>& places) const {
    const std::size_t count = places.size();
    const auto next = [&](std::size_t k) { return (k + 1) % count; };
    std::vector<AgreeingPart> all;
    for (std::size_t start = 0; start < count; ++start) {
      if (places[start].agrees() || !places[next(start)].agrees()) continue;
      AgreeingPart part;
      part.inside.push_back(middle(places[start], places[next(start)]));
      std::size_t end = next(start);
      for (; places[end].agrees() && places[next(end)].agrees(); end = next(end))
        part.inside.emplace_back(places[end].x, places[end].y);
      part.inside.emplace_back(places[end].x, places[end].y);
      part.inside.push_back(middle(places[end], places[next(end)]));
      part.edge = edge(places, part.inside.back(), part.inside.front());
      all.push_back(std::move(part));
    }
    return all;
  }

 private:
  struct Ends {
    std::size_t first = 0;
    std::size_t last = 0;
  };

  /// Of each index the first with the same value.
  static std::vector<std::size_t> firsts(const std::vector<double>& values) {
    std::vector<std::size_t> first(values.size());
    for (std::size_t k = 1; k < values.size(); ++k)
      first[k] = values[k] == values[k - 1] ? first[k - 1] : k;
    return first;
  }
  static Ends ends(const std::vector<std::size_t>& first, std::size_t start, std::size_t size) {
    return {first[start], first[start + size]};
  }

  MapLine::value_type middle(const Known& a, const Known& b) const {
    const auto between = [](const MapAxis& axis, double u, double v) {
      return u == v ? u : axis.middle(std::min(u, v), std::max(u, v));
    };
    return {between(x_, a.x, b.x), between(y_, a.y, b.y)};
  }

  /// From one crossing to the other: straight, or, where both lie on one side, around the places
  /// between them. The depth grows with the distance, so that lines in each other do not touch, and
  /// is less than the half distance of neighbours, so that others pass.
  MapLine edge(const std::vector<Known>& places,
               const MapLine::value_type& from,
               const MapLine::value_type& to) const {
    const Known& low = places.front();
    const auto opposite =
        std::max_element(places.begin(), places.end(), [](const Known& a, const Known& b) {
          return std::pair(a.x, a.y) < std::pair(b.x, b.y);
        });
    const auto fraction = [](const MapAxis& axis, double u, double first, double last) {
      return axis.log ? std::log(u / first) / std::log(last / first) : (u - first) / (last - first);
    };
    const auto value = [](const MapAxis& axis, double part, double first, double last) {
      return axis.log ? first * std::pow(last / first, part) : first + part * (last - first);
    };
    const auto across = [&](double u) { return fraction(x_, u, low.x, opposite->x); };
    const auto up = [&](double v) { return fraction(y_, v, low.y, opposite->y); };
    const bool in_row = from.second == to.second;
    const bool in_column = from.first == to.first;
    const bool lower = from.second == low.y;
    const bool left = from.first == low.x;
    const bool one_side = (in_row && (lower || from.second == opposite->y)) ||
                          (in_column && (left || from.first == opposite->x));
    if (!one_side) return {from, to};
    double nearest = 1;
    for (std::size_t k = 0; k < places.size(); ++k) {
      const Known& a = places[k];
      const Known& b = places[(k + 1) % places.size()];
      nearest =
          std::min(nearest, std::abs(across(b.x) - across(a.x)) + std::abs(up(b.y) - up(a.y)));
    }
    const double span = in_row ? std::abs(across(from.first) - across(to.first))
                               : std::abs(up(from.second) - up(to.second));
    const double depth = nearest * span / 2;
    MapLine line{from, from, to, to};
    for (const std::size_t k : {1U, 2U}) {
      if (in_row) {
        line[k].second = value(y_, lower ? depth : 1 - depth, low.y, opposite->y);
      } else {
        line[k].first = value(x_, left ? depth : 1 - depth, low.x, opposite->x);
      }
    }
    return line;
  }

  const MapMesh& mesh_;
  const MapAxis& x_;
  const MapAxis& y_;
  std::vector<std::size_t> columns_;
  std::vector<std::size_t> rows_;
  std::map<std::size_t, std::map<std::size_t, MapMark>> by_row_;
  std::map<std::size_t, std::map<std::size_t, MapMark>> by_column_;
};

}  // namespace

std::vector<MapLine> agreement_edge(const MapMesh& mesh, const MapAxis& x, const MapAxis& y) {
  const Plane plane(mesh, x, y);
  std::vector<std::pair<MapLine::value_type, MapLine::value_type>> pieces;
  for (const MapSquare& square : mesh.squares) {
    for (const AgreeingPart& part : plane.parts(plane.sides(square))) {
      for (std::size_t k = 1; k < part.edge.size(); ++k)
        pieces.emplace_back(part.edge[k - 1], part.edge[k]);
    }
  }
  return chained(pieces);
}

std::vector<Shade> shades(const MapMesh& mesh,
                          const MapAxis& x,
                          const MapAxis& y,
                          const std::array<std::string, kMapMarks>& colours) {
  const Plane plane(mesh, x, y);
  // The marks of the half-squares of the finest grid: row and column count halves.
  const std::size_t columns = 2 * (mesh.x.size() - 1);
  const std::size_t rows = 2 * (mesh.y.size() - 1);
  std::vector<std::vector<std::optional<MapMark>>> fine(
      rows, std::vector<std::optional<MapMark>>(columns));
  const std::string& blue = colours[static_cast<std::size_t>(MapMark::agree)];
  std::vector<Shade> agreeing;
  for (const MapSquare& square : mesh.squares) {
    const std::vector<Known> places = plane.sides(square);
    if (places.empty()) continue;
    for (const AgreeingPart& part : plane.parts(places)) {
      Shade shade{.colour = blue, .corners = part.inside};
      // Its edge leads back to where it begins.
      if (part.edge.size() > 2)
        shade.corners.insert(shade.corners.end(), part.edge.begin() + 1, part.edge.end() - 1);
      agreeing.push_back(std::move(shade));
    }
    // Beneath what agrees of a square lies what does not.
    const auto other = std::find_if(
        places.begin(), places.end(), [](const Known& place) { return !place.agrees(); });
    for (std::size_t i = 0; i < 2 * square.size; ++i) {
      for (std::size_t j = 0; j < 2 * square.size; ++j) {
        const MapNode nearest{square.corner.row + (i < square.size ? 0 : square.size),
                              square.corner.column + (j < square.size ? 0 : square.size)};
        std::optional<MapMark> mark = mesh.at(nearest);
        if (mark == MapMark::agree && other != places.end()) mark = other->mark;
        fine[2 * square.corner.row + i][2 * square.corner.column + j] = mark;
      }
    }
  }
  const auto edge = [](const std::vector<double>& values, const MapAxis& axis, std::size_t half) {
    const double left = values[half / 2];
    return half % 2 == 0 ? left : axis.middle(left, values[half / 2 + 1]);
  };
  // Every run of a row reaches to the right and upper ends and is covered by the next: no seams.
  std::vector<Shade> painted;
  const std::string white = "#ffffff";
  for (std::size_t row = 0; row < rows; ++row) {
    if (row > 0 && fine[row] == fine[row - 1]) continue;
    for (std::size_t column = 0; column < columns; ++column) {
      if (column > 0 && fine[row][column] == fine[row][column - 1]) continue;
      const auto& mark = fine[row][column];
      painted.push_back({mark ? colours[static_cast<std::size_t>(*mark)] : white,
                         edge(mesh.x, x, column),
                         mesh.x.back(),
                         edge(mesh.y, y, row),
                         mesh.y.back()});
    }
  }
  painted.insert(painted.end(), agreeing.begin(), agreeing.end());
  return painted;
}

}  // namespace attica::app
