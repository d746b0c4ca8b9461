#pragma once
/// @file
/// @brief What `attica fit` fits: one series of a run or a table, in several sizes at once
/// (fit_sizes.cpp) or by collapse of its curves (fit_collapse.cpp).

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "attica/app/run/json.hpp"
#include "attica/app/verbs/verbs.hpp"
#include "attica/app/verdict/exponents.hpp"
#include "attica/solvers/statistics/interval.hpp"

namespace attica::app {

struct FitSubject {
  std::vector<ObservedCurve> curves;  ///< of all series
  std::string series;
  std::string cap_series;  ///< where replicates gave up; empty: none do
  std::uint64_t seed = 1;  ///< of the resampling
  Json about;              ///< what JSON output says of the run or table
};

/// @brief `fit --x A --x B ...`: y = A x_1^a x_2^b ..., with the options' windows, expectations and
/// corrections; alternatives are told beside the power law and decide nothing. Returns the exit
/// code.
int fit_sizes_of(const Options& options, const FitSubject& subject);

/// @brief `fit --collapse L`: prints the exponents and the quality, draws the collapse. Returns the
/// exit code.
int fit_collapse_of(const Options& options, const FitSubject& subject);

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

/// @brief The exit code with one more verdict: violated is 1, undecided 3.
int worse(int code, ExponentVerdict verdict);

/// @brief [low, high].
inline Json interval(const Interval& i) { return Json::array({i.low, i.high}); }

}  // namespace attica::app
