#include "attica/app/validity_map.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <set>
#include <sstream>

#include "app/bowl_study.hpp"
#include "attica/app/exit_codes.hpp"
#include "attica/app/files.hpp"
#include "attica/app/json.hpp"
#include "attica/app/verbs.hpp"

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

TEST_CASE("map: every known place is painted in its colour", "[app][map]") {
  const MapMesh mesh =
      refine(kSquare, kSquare, 3, [](double x, double y) { return in_circle(x, y); });
  const std::array<std::string, kMapMarks> colours{"a", "d", "i", "n", "e"};
  const auto painted = shades(mesh, kSquare, kSquare, colours);
  const double h = mesh.x[1] - mesh.x[0];
  for (const auto& [node, mark] : mesh.marks) {
    for (const double shift : {-h / 4, h / 4}) {
      const double x = mesh.x[node.column] + shift;
      const double y = mesh.y[node.row] + shift;
      if (std::abs(x) > 1 || std::abs(y) > 1) continue;
      std::string colour;
      for (const Shade& s : painted) {  // later ones cover earlier ones
        if (s.left <= x && x <= s.right && s.bottom <= y && y <= s.top) colour = s.colour;
      }
      CHECK(colour == colours[static_cast<std::size_t>(mark)]);
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
