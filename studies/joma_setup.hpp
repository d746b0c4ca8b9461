#pragma once
/// @file
/// @brief What the studies of joint attention and MLP dynamics share: parameters, words for
/// options, small networks to train.

#include <Eigen/Core>
#include <string>
#include <vector>

#include "attica/core/joma_model.hpp"
#include "attica/studies/potts_setup.hpp"
#include "attica/studies/study.hpp"

namespace attica {

/// @brief Parameters, written short.
Parameter real_parameter(const std::string& key,
                         double fallback,
                         const std::string& meaning,
                         Range range = {});
Parameter integer_parameter(const std::string& key,
                            std::int64_t fallback,
                            const std::string& meaning,
                            Range range = {.low = 1, .high = 1e9});
Parameter reals_parameter(const std::string& key,
                          const std::vector<double>& fallback,
                          const std::string& meaning,
                          Range range = {});
Parameter word_parameter(const std::string& key,
                         const std::string& fallback,
                         const std::string& meaning,
                         std::vector<std::string> choices);
Parameter steps_parameter(const std::vector<std::int64_t>& fallback);

/// @brief `plot.width` with "full" as default: for figures of two columns of panels.
Parameter full_width_parameter();

inline constexpr Range kPositive{.low = 0, .low_open = true};
inline constexpr Range kNotNegative{.low = 0};

/// @brief A list in rising order, each value once.
std::vector<double> sorted_reals(const Configuration& c, const std::string& key);
/// @brief Sorted recorded steps, each once.
std::vector<std::int64_t> joma_steps(const Configuration& c);

JomaAttention joma_attention_of(const std::string& word);    ///< linear, exp, softmax
JomaActivation joma_activation_of(const std::string& word);  ///< linear, relu, ...
inline const std::vector<std::string> kJomaAttentions = {"linear", "exp", "softmax"};
inline const std::vector<std::string> kJomaActivations = {
    "linear", "relu", "quadratic", "tanh", "silu"};

/// @brief A prediction of y at x; nothing else set.
Prediction prediction(const std::string& name,
                      Point point,
                      const std::string& x_name,
                      std::vector<double> x,
                      std::vector<double> y);
/// @brief A constant.
Prediction constant_prediction(const std::string& name, Point point, double y);

/// @brief Numbering of tokens, units and layers in points: from 1.
double numbered(std::size_t index);

/// @brief The paper behind these studies.
Source joma_source(const std::string& used);

}  // namespace attica
