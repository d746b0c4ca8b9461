#pragma once
/// @file
/// @brief What the studies of joint attention and MLP dynamics share: parameters, words for
/// options, small networks to train.

#include <Eigen/Core>
#include <string>
#include <vector>

#include "attica/core/joma_model.hpp"
#include "attica/studies/parameters.hpp"
#include "attica/studies/potts_setup.hpp"
#include "attica/studies/study.hpp"

namespace attica {

/// @brief A list in rising order, each value once.
std::vector<double> sorted_reals(const Configuration& c, const std::string& key);
/// @brief The values of a list with more between any two, for lines: in equal steps, or in equal
/// ratios where both are positive.
std::vector<double> with_between(const std::vector<double>& values, AxisScale scale);
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
