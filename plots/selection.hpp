#pragma once
/// @file
/// @brief Which recorded curves a layer shows.

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "attica/core/figure.hpp"

namespace attica::plots {

/// @brief `series 'test_error' (lambda=0.1)`
std::string name_of(const std::string& series, const Point& point);

/// @throws Error of kind numerical: `CURVE: QUANTITY = nan cannot be drawn, expected a finite
/// number`
void check_finite(const std::string& curve, const std::string& quantity, double value);

/// @brief Index of `item` in `list`, appended if it is new.
template <typename Item>
std::size_t index_of(std::vector<Item>& list, const Item& item) {
  const auto found = std::find(list.begin(), list.end(), item);
  const auto index = static_cast<std::size_t>(found - list.begin());
  if (found == list.end()) list.push_back(item);
  return index;
}

/// @brief The curves that one layer of a panel selects.
struct Selection {
  const Layer* layer;
  std::vector<const RecordedCurve*> curves;
  std::vector<Point> points;  ///< the different ones
};

/// @brief Whether a layer of the panel shows the curve, if it has any points.
bool selects(const Panel& panel, const Layer& layer, const RecordedCurve& curve);

/// @brief The curves of each of the panel's layers from `first` on; layers without any are left
/// out.
/// @throws Error if a selected curve is damaged or holds a number that is not finite
std::vector<Selection> select(const Panel& panel, const FigureData& data, std::size_t first = 0);

}  // namespace attica::plots
