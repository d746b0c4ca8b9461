#pragma once
/// @file
/// @brief Exponents of a run: its curves rearranged by sizes, what its study declares, and the
/// lines that figures draw of it.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attica/app/configuration/configuration_file.hpp"
#include "attica/app/run/results.hpp"
#include "attica/studies/scaling.hpp"

namespace attica::app {

/// What was observed at one combination of sizes.
struct SizedValues {
  std::vector<double> sizes;
  std::vector<double> values;
  std::vector<std::uint64_t> replicates;
};

/// All of a series that differs in nothing but the sizes.
struct SizedSeries {
  Point rest;  ///< the coordinates that are no sizes
  std::vector<SizedValues> cells;
};

/// @brief A series by the named sizes, each the curves' own x or a numeric coordinate of their
/// points; "1/NAME" is the reciprocal of one, "log(NAME)" and "log(1/NAME)" are the logarithms.
/// @throws Error of kind input naming the option, if there is no such series, or size of it
std::vector<SizedSeries> by_sizes(std::span<const ObservedCurve> curves,
                                  const std::string& series,
                                  const std::vector<std::string>& sizes);

/// @brief The coordinate that a size is of: NAME of "log(1/NAME)".
std::string size_coordinate(const std::string& size);

/// @brief The same for one size, as curves against it.
std::vector<ObservedCurve> against(std::span<const ObservedCurve> curves,
                                   const std::string& series,
                                   const std::string& size);

/// @brief What a study predicts or bounds: in the x of its curves for every problem of a sweep, and
/// in the scalars that the sweep takes over.
std::vector<ExponentResult> declared_exponents(const CheckedConfiguration& configuration,
                                               const Replicates& replicates,
                                               std::uint64_t seed);

/// @brief Those in the scalars that the sweep takes over alone: they are of several problems.
std::vector<ExponentResult> swept_exponents(const CheckedConfiguration& configuration,
                                            std::span<const ObservedCurve> curves,
                                            std::uint64_t seed);

/// @brief Lines for figures: SERIES_fit, the fitted power law, and SERIES_bound, from where it
/// begins with the largest exponent that a bound and its tolerance allow; of [[bound]], "bound
/// NAME", the quantile that it bounds as points, "bound NAME quantile", and a line
/// around the 90 % limits of that, "bound NAME limits".
std::vector<RecordedCurve> exponent_curves(const CheckedConfiguration& configuration,
                                           const Replicates& replicates,
                                           std::uint64_t seed);

}  // namespace attica::app
