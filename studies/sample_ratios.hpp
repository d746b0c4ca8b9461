#pragma once
/// @file
/// @brief Ratios alpha = M / N that users configure, and the whole numbers of samples M at which a
/// run realises them.

#include <string>
#include <vector>

#include "attica/studies/grids.hpp"
#include "attica/studies/study.hpp"

namespace attica {

/// @brief The configuration; a `sweep.alpha` that nobody gave and of which several ratios have the
/// same M is replaced by the realised ratios, each once. @param inputs N
Configuration& with_distinct_ratios(Configuration& c, double inputs);

/// @brief Numbers of samples of `sweep.alpha`, at most 1e7; ratios that nobody gave are distinct.
SampleSizes swept_sizes(Configuration& c, double inputs, SampleCheck check = SampleCheck::at_once);

/// @brief For each given ratio that is not M / N: at which M it is run. One line, empty if there
/// are none.
std::vector<std::string> rounded_ratios(const Configuration& c, const SampleSizes& sizes);

/// @brief The lines of both.
std::vector<std::string> joined_lines(std::vector<std::string> first,
                                      const std::vector<std::string>& second);

/// @brief Refuses ratios that have the same M: one of them could not be shown.
/// @throws Error (input) naming `sweep.alpha`
void require_distinct_samples(const SampleSizes& sizes);

}  // namespace attica
