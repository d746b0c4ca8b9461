#include "attica/app/figures/validity_map.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <functional>
#include <numbers>
#include <random>
#include <set>
#include <sstream>

#include "app/bowl_study.hpp"
#include "attica/app/command/exit_codes.hpp"
#include "attica/app/run/files.hpp"
#include "attica/app/run/json.hpp"
#include "attica/app/verbs/verbs.hpp"

using namespace attica;
using namespace attica::app;
using toy::bowl;
using toy::map_options;
using toy::message_of;
using toy::only_folder;

namespace validity_map_test {

constexpr double kRadius = 0.6;

MapMark in_circle(double x, double y) {
  return std::hypot(x, y) < kRadius ? MapMark::agree : MapMark::disagree;
}

const MapAxis kSquare{.key = "model.a", .low = -1, .high = 1, .count = 5};

TEST_CASE("map: a circle is found along its edge, once a place", "[app][map]") {
  constexpr int kDepth = 4;
  std::set<std::pair<double, double>> asked;
  std::vector<std::size_t> rounds;
  const MapMesh mesh = refine(
      kSquare,
      kSquare,
      kDepth,
      [&](double x, double y) {
        CHECK(asked.insert({x, y}).second);
        return std::optional(in_circle(x, y));
      },
      [&](std::size_t places) { rounds.push_back(places); });
  REQUIRE(mesh.complete);
  CHECK(rounds.front() == 25);
  CHECK(asked.size() == mesh.marks.size());
  // The finest grid has 65 x 65 places; its squares along the circle number about 8 r / h = 154,
  // and the larger ones around them no more than a few each.
  const double h = mesh.x[1] - mesh.x[0];
  CHECK(h == Approx(1.0 / 32));
  CHECK(asked.size() < 900);
  CHECK(asked.size() > 154);

  // Against the finest grid by brute force: no place within a larger square is another than it
  // says.
  for (const MapSquare& square : mesh.squares) {
    if (square.size == 1) continue;
    const MapMark mark = *mesh.at(square.corner);
    for (std::size_t row = square.corner.row; row <= square.corner.row + square.size; ++row) {
      for (std::size_t k = square.corner.column; k <= square.corner.column + square.size; ++k)
        CHECK(in_circle(mesh.x[k], mesh.y[row]) == mark);
    }
  }
  // The edge is one closed line. Its vertices are middles of sides of length h that the circle
  // crosses, so no further from it than h / 2; hence the area within, by the shoelace formula.
  const auto lines = agreement_edge(mesh, kSquare, kSquare);
  REQUIRE(lines.size() == 1);
  const MapLine& line = lines.front();
  CHECK(line.front() == line.back());
  double area = 0;
  for (std::size_t k = 0; k + 1 < line.size(); ++k) {
    CHECK(std::abs(std::hypot(line[k].first, line[k].second) - kRadius) <= h / 2);
    area += (line[k].first * line[k + 1].second - line[k + 1].first * line[k].second) / 2;
  }
  const double pi = std::numbers::pi;
  CHECK(std::abs(area) == Approx(pi * kRadius * kRadius).margin(pi * kRadius * h));
}

constexpr std::array<const char*, kMapMarks> kColours{"a", "d", "i", "n", "e"};

/// What is painted at a place; later shades cover earlier ones.
std::string painted_at(const std::vector<Shade>& painted, double x, double y) {
  std::string colour;
  for (const Shade& s : painted) {
    bool inside = s.left <= x && x <= s.right && s.bottom <= y && y <= s.top;
    if (!s.corners.empty()) {  // an odd number of sides lies to the right of the place
      inside = false;
      for (std::size_t k = 0; k < s.corners.size(); ++k) {
        const auto [ax, ay] = s.corners[k];
        const auto [bx, by] = s.corners[(k + 1) % s.corners.size()];
        if ((ay <= y) != (by <= y) && x < ax + (y - ay) / (by - ay) * (bx - ax)) inside = !inside;
      }
    }
    if (inside) colour = s.colour;
  }
  return colour;
}

/// The distance of a place from a piece of a line.
double distance(const MapLine::value_type& p,
                const MapLine::value_type& a,
                const MapLine::value_type& b) {
  const double dx = b.first - a.first;
  const double dy = b.second - a.second;
  const double along =
      ((p.first - a.first) * dx + (p.second - a.second) * dy) / (dx * dx + dy * dy);
  const double t = std::clamp(along, 0.0, 1.0);
  return std::hypot(p.first - a.first - t * dx, p.second - a.second - t * dy);
}

/// What holds of the edge and the paint of every complete map on [0, 1] x [0, 1].
void check_edge(const MapMesh& mesh, const MapAxis& x, const MapAxis& y) {
  std::array<std::string, kMapMarks> colours;
  std::copy(kColours.begin(), kColours.end(), colours.begin());
  const std::vector<MapLine> lines = agreement_edge(mesh, x, y);
  const std::vector<Shade> painted = shades(mesh, x, y, colours);
  const double h = 1 / static_cast<double>(mesh.x.size() - 1);
  std::vector<std::pair<MapLine::value_type, MapLine::value_type>> pieces;
  std::size_t broken = 0;
  for (const MapLine& line : lines) {
    for (std::size_t k = 1; k < line.size(); ++k) pieces.emplace_back(line[k - 1], line[k]);
    // Closed, or from border to border.
    const auto on_border = [](const MapLine::value_type& p) {
      return std::min({p.first, 1 - p.first, p.second, 1 - p.second}) == 0;
    };
    if (line.front() != line.back() && !(on_border(line.front()) && on_border(line.back())))
      ++broken;
  }
  CHECK(broken == 0);
  // Through no place, and every place lies in paint of its kind.
  std::size_t crossed = 0;
  std::size_t wrong = 0;
  constexpr double kNear = 1e-3;
  for (const auto& [node, mark] : mesh.marks) {
    const MapLine::value_type place{mesh.x[node.column], mesh.y[node.row]};
    for (const auto& [a, b] : pieces) crossed += distance(place, a, b) < 0.01 * h ? 1 : 0;
    for (const auto& [dx, dy] : {std::pair{1.0, 0.7}, {-0.7, 1.0}, {-1.0, -0.7}, {0.7, -1.0}}) {
      const double px = place.first + kNear * h * dx;
      const double py = place.second + kNear * h * dy;
      if (std::min(px, py) < 0 || std::max(px, py) > 1) continue;
      const std::string colour = painted_at(painted, px, py);
      wrong += (colour == "a") != (mark == MapMark::agree) ? 1 : 0;
    }
  }
  CHECK(crossed == 0);
  CHECK(wrong == 0);
  // Between the paint of AGREE and the rest: one on each side of every piece ...
  std::size_t amiss = 0;
  for (const auto& [a, b] : pieces) {
    const double dx = b.first - a.first;
    const double dy = b.second - a.second;
    const double length = std::hypot(dx, dy);
    REQUIRE(length > 0);
    std::set<bool> sides;
    for (const double side : {-1e-4, 1e-4})
      sides.insert(painted_at(painted,
                              (a.first + b.first) / 2 - side * h * dy / length,
                              (a.second + b.second) / 2 + side * h * dx / length) == "a");
    amiss += sides.size() == 2 ? 0 : 1;
  }
  CHECK(amiss == 0);
  // ... and a piece wherever the paint changes between AGREE and the rest.
  std::size_t open = 0;
  constexpr int kSteps = 160;
  for (const double row : {0.137, 0.493, 0.811}) {
    for (int k = 0; k + 1 < kSteps; ++k) {
      const double from = (k + 0.31) / kSteps;
      const double to = (k + 1.31) / kSteps;
      if ((painted_at(painted, from, row) == "a") == (painted_at(painted, to, row) == "a"))
        continue;
      const MapLine::value_type centre{(from + to) / 2, row};
      open += std::any_of(pieces.begin(),
                          pieces.end(),
                          [&](const auto& p) {
                            return distance(centre, p.first, p.second) <= 0.51 / kSteps;
                          })
                  ? 0
                  : 1;
    }
  }
  CHECK(open == 0);
}

const MapAxis kUnit{.key = "model.a", .low = 0, .high = 1, .count = 3};

TEST_CASE("map: the edge is continuous over squares of any size, and runs between places",
          "[app][map]") {
  // Verdicts without any order: squares of all sizes are neighbours, and between AGREE and
  // INCONCLUSIVE, which are not bisected, places hang on the sides of larger squares.
  constexpr unsigned kMaps = 40;
  std::size_t hanging = 0;
  for (unsigned seed = 0; seed < kMaps; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto draw = [&](std::uint32_t most) {
      return static_cast<std::uint32_t>(random() % most);
    };
    const std::uint32_t rare = 2 + draw(12);
    const MapMesh mesh = refine(kUnit, kUnit, 3, [&](double, double) {
      const std::uint32_t k = draw(rare);
      return std::optional(k == 0   ? MapMark::disagree
                           : k == 1 ? MapMark::error
                           : k % 2  ? MapMark::agree
                                    : MapMark::inconclusive);
    });
    for (const MapSquare& square : mesh.squares) {
      if (square.size == 1) continue;
      for (std::size_t k = 1; k < square.size; ++k)
        hanging += mesh.at({square.corner.row, square.corner.column + k}) ? 1 : 0;
    }
    check_edge(mesh, kUnit, kUnit);
  }
  CHECK(hanging > 100);
}

TEST_CASE("map: the edge over any quadtree, whatever its places say", "[app][map]") {
  constexpr unsigned kMaps = 40;
  for (unsigned seed = 0; seed < kMaps; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    MapMesh mesh{.x = kUnit.values(3), .y = kUnit.values(3), .marks = {}, .squares = {}};
    const std::function<void(MapSquare)> divide = [&](MapSquare square) {
      const auto [row, column] = square.corner;
      const std::size_t half = square.size / 2;
      if (half > 0 && random() % 3 != 0) {
        for (const MapNode corner : {MapNode{row, column},
                                     {row, column + half},
                                     {row + half, column},
                                     {row + half, column + half}})
          divide({corner, half});
        return;
      }
      mesh.squares.push_back(square);
      for (const std::size_t i : {row, row + square.size}) {
        for (const std::size_t j : {column, column + square.size})
          mesh.marks.emplace(MapNode{i, j}, random() % 2 == 0 ? MapMark::agree : MapMark::error);
      }
    };
    for (const std::size_t row : {0U, 8U}) {
      for (const std::size_t column : {0U, 8U}) divide({{row, column}, 8});
    }
    check_edge(mesh, kUnit, kUnit);
  }
}

TEST_CASE("map: the edge where a larger square meets bisected ones", "[app][map]") {
  // Left a square that agrees but for its upper left corner, right two small ones whose common
  // corner, half-way up the side, is undecided.
  const MapAxis x{.key = "model.a", .low = 0, .high = 2, .count = 3};
  const MapAxis y{.key = "model.b", .low = 0, .high = 1, .count = 2};
  MapMesh mesh{.x = x.values(1), .y = y.values(1), .marks = {}, .squares = {}};
  mesh.squares = {{{0, 0}, 2}, {{0, 2}, 1}, {{1, 2}, 1}, {{0, 3}, 1}, {{1, 3}, 1}};
  for (const std::size_t row : {0U, 1U, 2U}) {
    for (const std::size_t column : {2U, 3U, 4U}) mesh.marks[{row, column}] = MapMark::agree;
  }
  mesh.marks[{0, 0}] = MapMark::agree;
  mesh.marks[{2, 0}] = MapMark::inconclusive;
  mesh.marks[{1, 2}] = mesh.marks[{2, 2}] = MapMark::inconclusive;
  const auto lines = agreement_edge(mesh, x, y);
  REQUIRE(lines.size() == 1);
  MapLine line = lines.front();
  if (line.front().first > line.back().first) std::reverse(line.begin(), line.end());
  CHECK(line == MapLine{{0, 0.5}, {1, 0.25}, {1.25, 0.5}, {1.25, 1}});
}

TEST_CASE("map: every known place is painted in its colour", "[app][map]") {
  const MapMesh mesh =
      refine(kSquare, kSquare, 3, [](double x, double y) { return in_circle(x, y); });
  const std::array<std::string, kMapMarks> colours{"a", "d", "i", "n", "e"};
  const auto painted = shades(mesh, kSquare, kSquare, colours);
  const double h = mesh.x[1] - mesh.x[0];
  for (const auto& [node, mark] : mesh.marks) {
    for (const double shift : {-h / 5, h / 5}) {
      const double x = mesh.x[node.column] + shift;
      const double y = mesh.y[node.row] + shift;
      if (std::abs(x) > 1 || std::abs(y) > 1) continue;
      CHECK(painted_at(painted, x, y) == colours[static_cast<std::size_t>(mark)]);
    }
  }
}

TEST_CASE("map: logarithmic axes are bisected in the logarithm", "[app][map]") {
  const MapAxis x{.key = "sweep.eta", .low = 0.01, .high = 1, .count = 3, .log = true};
  constexpr double kEdge = 0.037;
  const MapMesh mesh = refine(x, kSquare, 5, [](double a, double) {
    return std::optional(a < kEdge ? MapMark::agree : MapMark::error);
  });
  CHECK(x.values(0) == std::vector{0.01, 0.1, 1.0});
  const double ratio = std::pow(100.0, 1.0 / 64);  // of neighbours on the finest grid
  for (const MapLine& line : agreement_edge(mesh, x, kSquare)) {
    for (const auto& [a, b] : line)
      CHECK(std::abs(std::log(a / kEdge)) <= 0.5 * std::log(ratio) * (1 + 1e-9));
  }
}

TEST_CASE("map: on whole numbers the edge lies between two of them", "[app][map]") {
  const MapAxis batch{.key = "sweep.batch", .low = 1, .high = 4, .count = 2, .whole = true};
  const MapMesh mesh = refine(batch, kUnit, 4, [](double x, double) {
    return std::optional(x < 2.5 ? MapMark::agree : MapMark::disagree);
  });
  const auto lines = agreement_edge(mesh, batch, kUnit);
  REQUIRE(lines.size() == 1);
  for (const auto& [x, y] : lines.front()) CHECK(x == 2.5);
  CHECK(std::abs(lines.front().front().second - lines.front().back().second) == 1);
}

TEST_CASE("map: whole numbers are asked for once and end the bisection", "[app][map]") {
  const MapAxis batch{.key = "sweep.batch", .low = 1, .high = 4, .count = 2, .whole = true};
  std::set<std::pair<double, double>> asked;
  const MapMesh mesh = refine(batch, kSquare, 3, [&](double x, double y) {
    CHECK(asked.insert({x, y}).second);
    CHECK(x == std::round(x));
    return std::optional(x + y < 2.5 ? MapMark::agree : MapMark::disagree);
  });
  CHECK(mesh.complete);
  std::set<double> columns;
  for (const auto& [x, y] : asked) columns.insert(x);
  CHECK(columns == std::set<double>{1, 2, 3, 4});
}

TEST_CASE("map: between AGREE and DISAGREE an undecided place wants replicates, not places",
          "[app][map]") {
  using enum MapMark;
  CHECK(apart(agree, disagree));
  CHECK(apart(agree, error));
  CHECK(apart(none, error));
  CHECK(apart(inconclusive, error));
  CHECK(apart(error, inconclusive));
  CHECK(apart(inconclusive, none));
  CHECK_FALSE(apart(agree, inconclusive));
  CHECK_FALSE(apart(inconclusive, disagree));
  for (const MapMark mark : {agree, disagree, inconclusive, none, error})
    CHECK_FALSE(apart(mark, mark));
  CHECK(mark_of(Verdict::claims_hold) == agree);
  CHECK(mark_of(Verdict::none) == none);
}

TEST_CASE("map: stopped between two places it keeps what it knows", "[app][map]") {
  std::size_t count = 0;
  const MapMesh mesh = refine(kSquare, kSquare, 2, [&](double x, double y) {
    return ++count > 30 ? std::nullopt : std::optional(in_circle(x, y));
  });
  CHECK_FALSE(mesh.complete);
  CHECK(mesh.marks.size() == 30);
  CHECK_NOTHROW(agreement_edge(mesh, kSquare, kSquare));
}

TEST_CASE("map: axes as they are written, and mistakes in them", "[app][map]") {
  const MapAxis a = parse_map_axis("--x", "model.rho=-0.5..0.5");
  CHECK(a.key == "model.rho");
  CHECK(a.low == -0.5);
  CHECK(a.high == 0.5);
  CHECK(a.count == 5);
  CHECK_FALSE(a.log);
  const MapAxis b = parse_map_axis("--y", "sweep.eta=1e-3..1.:9:log");
  CHECK(b.low == 1e-3);
  CHECK(b.high == 1);
  CHECK(b.count == 9);
  CHECK(b.log);
  const auto refused = [](const std::string& text) {
    return message_of([&] { parse_map_axis("--x", text); });
  };
  for (const char* text : {"",
                           "model.rho",
                           "=1..2",
                           "a=1",
                           "a=1..",
                           "a=..2",
                           "a=1..2:3:4:log",
                           "a=1..2:",
                           "a=one..two",
                           "a=1..2x"}) {
    CAPTURE(text);
    CHECK_THAT(refused(text), Catch::Contains("--x"));
  }
  CHECK_THAT(refused("a=2..1"), Catch::Contains("LOW < HIGH"));
  CHECK_THAT(refused("a=1..1"), Catch::Contains("LOW < HIGH"));
  CHECK_THAT(refused("a=1..inf"), Catch::Contains("LOW < HIGH"));
  CHECK_THAT(refused("a=0..1:5:log"), Catch::Contains("LOW > 0"));
  CHECK_THAT(refused("a=1..2:1"), Catch::Contains("2 to 65 places"));
  CHECK_THAT(refused("a=1..2:66"), Catch::Contains("2 to 65 places"));
}

TEST_CASE("map: out of time it stops with what it knows, and goes on", "[app][map]") {
  const toy::Folder folder;
  const std::vector<Study> registry = bowl();
  Options options = map_options(folder);
  options.max_seconds = 0;
  CHECK(map_verb(options, registry) == kExitStopped);
  const auto made = only_folder(folder / "maps");
  CHECK(Json::parse(read_whole(made / "map.json"))["complete"] == false);
  options.max_seconds.reset();
  options.resume = true;
  CHECK(map_verb(options, registry) == kExitDone);
  CHECK(Json::parse(read_whole(made / "map.json"))["complete"] == true);
}

TEST_CASE("map: what cannot be an axis is refused before any work", "[app][map]") {
  const toy::Folder folder;
  const std::vector<Study> registry = bowl();
  const auto refused = [&](const std::string& x, const std::string& y) {
    Options options = map_options(folder);
    options.x = x;
    options.y = y;
    return message_of([&] { map_verb(options, registry); });
  };
  const std::string good = "model.b=0..1";
  CHECK_THAT(refused("model.a=0..1", "model.a=0..1"), Catch::Contains("another parameter"));
  CHECK_THAT(refused("model.word=0..1", good), Catch::Contains("a text or a switch"));
  CHECK_THAT(refused("model.aa=0..1", good), Catch::Contains("did you mean 'model.a'?"));
  CHECK_THAT(refused("sim.seed=0..1", good), Catch::Contains("not of its judging"));
  CHECK_THAT(refused("check.margin=0..1", good), Catch::Contains("not of its judging"));
  CHECK_THAT(refused("model.a=0..3", good), Catch::Contains("expected -2 <= a <= 2"));
  CHECK_THAT(refused("x", good), Catch::Contains("--x is missing"));
  CHECK_THAT(refused("model.a=0..1", ""), Catch::Contains("--y is missing"));
  // Beyond 1.5 there is no problem: the whole map is refused with its reason.
  CHECK_THAT(refused("model.a=1.6..2", good), Catch::Contains("a <= 1.5"));
  CHECK(std::filesystem::is_empty(folder / "maps"));
  Options options = map_options(folder);
  options.overrides.push_back({"--set model.a=1", "model.a=1"});
  CHECK_THAT(message_of([&] { map_verb(options, registry); }), Catch::Contains("axis of the map"));
}

}  // namespace validity_map_test
