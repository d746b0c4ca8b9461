#pragma once
/// @file
/// @brief Parameters of studies, written short.

#include <cstdint>
#include <string>
#include <vector>

#include "attica/studies/configuration.hpp"

namespace attica {

inline constexpr Range kPositive{.low = 0, .low_open = true};
inline constexpr Range kNotNegative{.low = 0};
inline constexpr Range kCount{.low = 1, .high = 1e9};

Parameter real_parameter(const std::string& key,
                         double fallback,
                         const std::string& meaning,
                         Range range = {});
Parameter reals_parameter(const std::string& key,
                          const std::vector<double>& fallback,
                          const std::string& meaning,
                          Range range = {});
Parameter integer_parameter(const std::string& key,
                            std::int64_t fallback,
                            const std::string& meaning,
                            Range range = kCount);
Parameter integers_parameter(const std::string& key,
                             List fallback,
                             const std::string& meaning,
                             Range range = kCount);
Parameter word_parameter(const std::string& key,
                         const std::string& fallback,
                         const std::string& meaning,
                         std::vector<std::string> choices);

/// @name Parameters that many studies have
/// @{
/// `sim.steps`: recorded steps, the last one being the length of a run.
Parameter steps_parameter(List fallback, double least = 0);
/// `sim.replicates`
Parameter replicates_parameter(std::int64_t fallback, const std::string& meaning);
/// `plot.width` with "full" as default: for figures of two columns of panels.
Parameter full_width_parameter();
/// @}

}  // namespace attica
