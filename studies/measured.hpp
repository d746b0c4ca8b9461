#pragma once
/// @file
/// @brief Where tolerances of a study hold that were measured rather than derived.
///
/// A card states the range of parameters in which such a tolerance was measured ([[measured]]).
/// Elsewhere its series are drawn and not compared.

#include <string>
#include <utility>
#include <vector>

#include "attica/core/series.hpp"
#include "attica/studies/configuration.hpp"

namespace attica {

/// Series whose tolerance was measured, and the ranges of parameters in which it was.
struct MeasuredRange {
  std::vector<std::string> series;
  std::vector<std::pair<std::string, Range>> parameters;  ///< by key
};

/// @brief [[measured]] of the card of that study; empty of a study without a card.
std::vector<MeasuredRange> measured_ranges(const std::string& study);

/// @brief Marks the points of a prediction as not compared that lie outside of a range of its
/// series: by its coordinates and its x where these have a parameter's name, otherwise by the
/// parameter's value, of a list all values.
void leave_out_unmeasured(const std::vector<MeasuredRange>& ranges,
                          const Configuration& configuration,
                          Prediction& prediction);

}  // namespace attica
