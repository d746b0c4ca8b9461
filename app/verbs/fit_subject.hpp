#pragma once
/// @file
/// @brief What `attica fit` and `attica bound` look at: one series of a run or a table, fitted in
/// several sizes at once (fit_sizes.cpp), above a floor (fit_floor_sizes.cpp), or by collapse of
/// its curves (fit_collapse.cpp).

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "attica/app/run/json.hpp"
#include "attica/app/verbs/verbs.hpp"
#include "attica/app/verdict/exponents.hpp"
#include "attica/solvers/statistics/interval.hpp"
#include "attica/solvers/statistics/joint_exponents.hpp"
#include "attica/sources/table.hpp"

namespace attica::app {

struct FitSubject {
  std::vector<ObservedCurve> curves;  ///< of all series
  std::string series;
  std::string cap_series;  ///< where replicates gave up; empty: none do
  std::uint64_t seed = 1;  ///< of the resampling
  Json about;              ///< what JSON output says of the run or table
};

/// @brief Reads a table of replicates into a subject; infinite values are kept.
/// @param x  column of x, of which rows may have none
/// @throws Error of kind input naming the place in the table
sources::OutsideTable read_subject_table(const Options& options,
                                         const std::string& x,
                                         FitSubject& subject);

/// @brief The subject of a run. @throws Error of kind input for a table without replicates
void read_subject_run(const Options& options, const FinishedRun& run, FitSubject& subject);

/// @brief `--reach`: replaces the series, learning curves, by the x at which each replicate falls
/// to each target, against "eps", with the end of each curve as cap; the series is then named like
/// their x. Places where more than a quarter of the replicates are below the target at the first x
/// are left out.
/// @throws Error of kind input without such curves, or with nothing left
void reach_targets(const Options& options, FitSubject& subject);

/// @brief Reads what a fit is of, a table or a run: replicates > 0, or infinite where a target was
/// never reached, after --reach if asked for. Those without a value are left out, and counted.
/// Values of a collapse may be any.
/// @throws Error of kind input, by the place in a table
void read_fit_subject(const Options& options, const Registry& registry, FitSubject& subject);

/// @brief The combinations of sizes on each curve, with the cap of the replicates that never
/// reached their target, and those in the options' windows alone.
struct SizedCells {
  Point rest;  ///< the coordinates that are no sizes
  std::vector<ScalingCell> cells;
};
std::vector<SizedCells> sized_cells(const Options& options, const FitSubject& subject);

/// @brief `fit --x A --x B ...`: y = A x_1^a x_2^b ..., with the options' windows, expectations and
/// corrections; alternatives are printed next to the power law and decide nothing. Returns the exit
/// code.
int fit_sizes_of(const Options& options, const FitSubject& subject);

/// @brief `fit --floor` in several sizes, or robust: y = floor + A x_1^p + B x_2^q. Returns the
/// exit code.
int fit_floor_sizes_of(const Options& options, const FitSubject& subject);

/// @brief `fit --collapse L`: prints the exponents and the quality, draws the collapse. Returns the
/// exit code.
int fit_collapse_of(const Options& options, const FitSubject& subject);

/// @brief `bound --expression E`: the verdict on a bound that the command states. Returns the exit
/// code.
int judge_statement(const Options& options, const Registry& registry);

/// @brief `plan` of a table or a finished run: sizes and replicates for the widths that the options
/// ask for. Returns the exit code.
int plan_pilot(const Options& options, const Registry& registry);

/// @brief "NAME=NUMBER". @throws Error of kind input naming the flag
std::pair<std::string, double> assignment(const char* flag, const std::string& text);

/// @brief The place of a name among others. @throws Error of kind input naming the flag
std::size_t index_of(const char* flag,
                     const std::string& name,
                     const std::vector<std::string>& names);

/// @brief Takes out what lies outside of the options' windows. @param names of the sizes
void apply_windows(const Options& options,
                   const std::vector<std::string>& names,
                   std::vector<SizedSeries>& all);

/// @brief Refuses curves of one or two sizes each that would be one curve but for a coordinate
/// which differs in nearly every row: another measurement.
/// @param curves coordinates of each, and its number of sizes
/// @param sizes of all curves together
/// @throws Error of kind input naming the column
void require_curves(const std::vector<std::pair<Point, std::size_t>>& curves, std::size_t sizes);

/// @brief What sizes that span less than a verdict needs leave open: "  the sizes span a factor 4,
/// over which ...", a line; empty if they span enough.
std::string narrow_span_text(const std::string& sizes, double span, double tolerance);

/// @brief The exit code with one more verdict: violated is 1, undecided 3.
int worse(int code, ExponentVerdict verdict);

/// @brief A number, or null where the data set no limit to it (replicates that never got there).
inline Json finite_or_null(double number) { return std::isfinite(number) ? Json(number) : Json(); }
/// @brief [low, high].
inline Json interval(const Interval& i) {
  return Json::array({finite_or_null(i.low), finite_or_null(i.high)});
}

}  // namespace attica::app
