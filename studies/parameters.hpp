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
/// Of a learning rate where no step is too large to be computed: larger ones are slips.
inline constexpr Range kLearningRate{.low = 0, .high = 1e6, .low_open = true};
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

Parameter flag_parameter(const std::string& key, bool fallback, const std::string& meaning);
/// @brief A parameter without default: it stays unset, or a study completes it.
Parameter optional_parameter(Parameter parameter);
/// @brief The path of an input file; unset unless given.
Parameter file_parameter(const std::string& key, const std::string& meaning);

/// @brief All parameters of the parts, in their order.
std::vector<Parameter> together(std::vector<std::vector<Parameter>> parts);
/// @brief The same without those of the given keys.
std::vector<Parameter> without(std::vector<Parameter> parameters,
                               const std::vector<std::string>& keys);

/// @name Parameters that many studies have
/// @{
/// `sim.steps`: recorded steps, the last one being the length of a run.
Parameter steps_parameter(List fallback, double least = 0);
/// `sim.replicates`
Parameter replicates_parameter(std::int64_t fallback, const std::string& meaning);
/// @}

/// @brief A value in a label: "10^{−4}" for a power of ten below a tenth, else the number.
std::string power_label(double value);

}  // namespace attica
