#pragma once
/// @file
/// @brief The minimum of a function of one variable that may have several, and of a function of a
/// few variables without derivatives.

#include <functional>
#include <span>
#include <vector>

namespace attica {

struct Minimum {
  double x = 0;
  double value = 0;
  bool at_edge =
      false;  ///< the smallest value lies at an end of the grid: x is that end, not a minimum
};

/// @brief The lowest point of the grid, refined between its neighbours by Brent's method (GSL).
///
/// Finds the global minimum if every competing basin holds a grid point below the others' values.
/// @param f        finite at the minimum and its neighbours; +inf elsewhere is allowed
/// @param grid     strictly increasing, at least 3 points
/// @param accuracy of x, absolute plus relative; near 1e-8 rounding in f sets the limit
/// @throws Error of kind numerical if f is NaN on the grid or Brent's method does not converge;
/// whatever f throws
Minimum minimise_on_grid(const std::function<double(double)>& f,
                         std::span<const double> grid,
                         double accuracy);

/// @brief The lowest point that the simplex method of Nelder and Mead comes to from `start` (GSL).
///
/// Takes no derivatives, so that f may have jumps; where it has, the end depends on the start.
/// @param f         finite at `start`; +infinity elsewhere is allowed
/// @param step      the first simplex reaches this far along every axis
/// @param accuracy  the mean distance of the corners from their centre at the end. After 2000 steps
///                  without it the lowest corner so far is returned
/// @throws Error of kind numerical if f is NaN or -infinity somewhere; whatever f throws
std::vector<double> minimise_simplex(const std::function<double(const std::vector<double>&)>& f,
                                     const std::vector<double>& start,
                                     double step,
                                     double accuracy);

}  // namespace attica
