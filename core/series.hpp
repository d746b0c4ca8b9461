#pragma once
/// @file
/// @brief The observation table: the one shape in which theory and simulation speak of the same
/// quantity.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace attica {

/// A coordinate of a point is a number (`lambda`) or a word (`model` = "factored").
using CoordinateValue = std::variant<double, std::string>;

/// Where in parameter space a curve lives, apart from its own x: (name, value) pairs in the order
/// in which they are shown.
using Point = std::vector<std::pair<std::string, CoordinateValue>>;

/// @brief `lambda=0.1, model=factored`; numbers in their shortest round-trip form.
std::string describe(const Point& point);
/// @brief A coordinate as text: shortest round-trip number, or the word itself.
std::string describe(const CoordinateValue& value);

/// @brief Whether they have the same coordinates, in any order: columns of a table have one order
/// for all curves.
bool same_place(const Point& a, const Point& b);

/// @brief All of `outer`, then all of `inner`.
Point joined(const Point& outer, const Point& inner);

/// @brief A curve: named quantity y against x at a point. A constant has x_name "none", one x = 0
/// and one y.
///
/// The same type holds a theory's prediction and one replicate's observations; they are compared
/// where name, point, x_name and x are equal.
struct Series {
  std::string name;    ///< the quantity, e.g. "test_error"
  Point point;         ///< all other coordinates
  std::string x_name;  ///< e.g. "alpha", "step", "time", "none"
  std::vector<double> x;
  std::vector<double> y;  ///< same length as x
};

/// @brief A theory's curve with what it says about its own accuracy. Optional vectors are empty or
/// as long as x.
struct Prediction {
  Series series;
  std::vector<double> finite_size =
      {};  ///< absolute allowance for what the theory neglects (f_p); empty: 0
  std::vector<double> numerical_error =
      {};  ///< absolute error of the numbers themselves (e_p); empty: 0
  std::vector<bool> compared =
      {};  ///< false: drawn, but not compared with simulation; empty: all true
};

}  // namespace attica
