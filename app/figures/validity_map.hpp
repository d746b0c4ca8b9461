#pragma once
/// @file
/// @brief A plane of parameters in which every place has a verdict: a coarse grid, bisected where
/// the verdicts of a square's corners differ.

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attica/plots/look.hpp"
#include "attica/solvers/statistics/verdict.hpp"

namespace attica::app {

/// What is said of a place of the map.
enum class MapMark {
  agree,  ///< AGREE, or CLAIMS HOLD where the study compares nothing with a theory
  disagree,
  inconclusive,
  none,   ///< nothing was compared
  error,  ///< no verdict: the study refuses the parameters, or the run failed numerically
};
inline constexpr std::size_t kMapMarks = 5;

MapMark mark_of(Verdict verdict);

/// @brief Whether a square with both of them is to be bisected. INCONCLUSIVE lies between AGREE and
/// DISAGREE: there replicates are wanted, not places.
bool apart(MapMark a, MapMark b);

/// One of the map's two parameters, as `KEY=LOW..HIGH[:N][:log]` asks for it.
struct MapAxis {
  std::string key;  ///< dotted
  double low = 0;
  double high = 0;
  std::size_t count = 5;  ///< places of the coarse grid, both ends included
  bool log = false;
  bool whole = false;  ///< an integer parameter: places are rounded to whole numbers

  /// @brief The places of the grid that bisecting `depth` times leads to, rising;
  /// (count - 1) 2^depth + 1 of them. Those of an integer parameter may be equal.
  std::vector<double> values(int depth) const;
  /// @brief Half-way between two places, in the axis' own scale.
  double middle(double a, double b) const;
};

/// @brief Reads `KEY=LOW..HIGH[:N][:log]`. @param flag the option, for messages
/// @throws Error of kind input
MapAxis parse_map_axis(const std::string& flag, const std::string& text);

/// A place of the finest grid.
struct MapNode {
  std::size_t row = 0;
  std::size_t column = 0;
  // clang-tidy 14 takes what the compiler compares for a null pointer.
  auto operator<=>(const MapNode&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// A square of the finest grid: `size` a power of two, its lower left corner at the node.
struct MapSquare {
  MapNode corner;
  std::size_t size = 1;
};

/// What is known of the plane.
struct MapMesh {
  std::vector<double> x;  ///< of the finest grid's columns
  std::vector<double> y;  ///< of its rows
  std::map<MapNode, MapMark> marks;
  std::vector<MapSquare> squares;  ///< they cover the plane
  bool complete = true;            ///< false: stopped before all was known

  /// @brief Mark of a node, if it is known.
  std::optional<MapMark> at(const MapNode& node) const;
};

/// @brief Evaluates the coarse grid, then bisects every square in which known places are apart,
/// down to the finest grid. The order of the places depends on the marks alone.
/// @param evaluate  the mark of a place; empty: stop
/// @param told  called before each round with the number of places in it
MapMesh refine(const MapAxis& x,
               const MapAxis& y,
               int depth,
               const std::function<std::optional<MapMark>(double x, double y)>& evaluate,
               const std::function<void(std::size_t places)>& told = {});

using MapLine = std::vector<std::pair<double, double>>;

/// @brief The edge of where the verdict is AGREE: lines that cross the sides of squares half-way
/// between a place that agrees and its neighbour that does not (marching squares). Neighbours are
/// the known places of a side, those of smaller squares beyond it included: lines are closed or end
/// at the border, and pass through no place. Where opposite corners agree each is cut off by
/// itself.
std::vector<MapLine> agreement_edge(const MapMesh& mesh, const MapAxis& x, const MapAxis& y);

/// @brief The plane painted in the colours of the marks, each place up to half-way to its
/// neighbours, AGREE up to its edge; squares with unknown corners stay white. Later ones cover
/// earlier ones.
std::vector<Shade> shades(const MapMesh& mesh,
                          const MapAxis& x,
                          const MapAxis& y,
                          const std::array<std::string, kMapMarks>& colours);

}  // namespace attica::app
