#pragma once
/// @file
/// @brief Power laws in several sizes above one floor: y = floor + A N^p + B D^q, as the loss of a
/// network of N parameters after D samples has them (Hoffmann and others 2022, arXiv:2203.15556,
/// eq. 2).
///
/// Nonlinear least squares (Ceres Solver) on means over replicates, with the weights of floor_fit:
/// standard errors pooled over cells as far as Bartlett's test allows. For given exponents floor
/// and prefactors follow linearly; all exponents on a grid are tried so, and the best few local
/// minima of the grid are the starts. Intervals are of profile likelihood, as in floor_fit.
///
/// With the robust loss every replicate is a residual of its own in units of the cells' pooled
/// relative median absolute deviation, with Huber's loss (1964) from 1.345 of them on, and the
/// intervals come from resampling the replicates of every cell (Efron 1979).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attica/solvers/statistics/interval.hpp"
#include "attica/solvers/statistics/joint_exponents.hpp"

namespace attica {

/// One size's term, prefactor * x^exponent.
struct FloorTerm {
  double exponent = 0;
  Interval interval95 = {};
  Interval interval90 = {};
  double prefactor = 0;
  Interval prefactor95 = {};
  /// The exponent without the cells at this size's smallest value; NaN with four sizes or fewer.
  double without_smallest = 0;
  double without_largest = 0;
  bool window_dependent = false;  ///< the cells that are left reject the exponent of all
};

/// What is fitted at one combination of sizes.
struct FloorCell {
  std::vector<double> x;
  double mean = 0;
  double error = 0;  ///< standard error; 0 where it is not known
  double fitted = 0;
  std::size_t replicates = 0;
  bool used = false;  ///< all replicates are finite
};

struct FloorSurface {
  std::vector<FloorCell> cells;
  bool fitted = false;
  double floor = 0;
  Interval floor95;  ///< of no width if the floor was given; ends may be infinite
  std::vector<FloorTerm> terms;
  /// Of the floor (unless given), then exponent and prefactor of every term, at the minimum.
  std::vector<std::vector<double>> covariance;
  double chi_square = 0;
  std::size_t degrees = 0;
  double p_value = 1;
  bool from_scatter = false;  ///< a cell has one replicate: errors from the scatter about the fit
  bool robust = false;
  /// Exponents of another minimum that the data do not reject.
  std::optional<std::vector<double>> other_optimum;
  std::string weakness;  ///< why the fit cannot carry a verdict; empty if it can
};

struct FloorSurfaceOptions {
  std::optional<double> floor = {};  ///< not fitted
  bool robust = false;               ///< needs 8 replicates in every cell
  std::uint64_t seed = 0;            ///< of the resampling
};

/// @param cells  combinations of sizes, each once; infinite samples leave the cell out
/// @param names  of the sizes, for messages; one to three
/// @throws Error (input) for sizes or samples that are not > 0, or a combination that is there
/// twice
FloorSurface fit_floor_surface(std::vector<ScalingCell> cells,
                               const std::vector<std::string>& names,
                               const FloorSurfaceOptions& options = {});

}  // namespace attica
