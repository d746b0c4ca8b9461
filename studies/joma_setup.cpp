#include "attica/studies/joma_setup.hpp"

#include <algorithm>
#include <cmath>

namespace attica {

std::vector<double> sorted_reals(const Configuration& c, const std::string& key) {
  std::vector<double> values = c.reals(key);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::vector<double> with_between(const std::vector<double>& values, AxisScale scale) {
  constexpr int kParts = 16;
  std::vector<double> all;
  for (std::size_t k = 0; k < values.size(); ++k) {
    for (int part = 1; k > 0 && part < kParts; ++part) {
      const double low = values[k - 1];
      const double high = values[k];
      const double share = static_cast<double>(part) / kParts;
      if (scale == AxisScale::linear) {
        all.push_back(low + (high - low) * share);
      } else if (low > 0 && high > 0) {
        all.push_back(low * std::pow(high / low, share));
      }
    }
    all.push_back(values[k]);
  }
  return all;
}

std::vector<std::int64_t> joma_steps(const Configuration& c) {
  std::vector<std::int64_t> steps = c.integers("sim.steps");
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

JomaAttention joma_attention_of(const std::string& word) {
  if (word == "linear") return JomaAttention::linear;
  return word == "exp" ? JomaAttention::exponential : JomaAttention::softmax;
}

JomaActivation joma_activation_of(const std::string& word) {
  const auto at = std::find(kJomaActivations.begin(), kJomaActivations.end(), word);
  return static_cast<JomaActivation>(at - kJomaActivations.begin());
}

Prediction prediction(const std::string& name,
                      Point point,
                      const std::string& x_name,
                      std::vector<double> x,
                      std::vector<double> y) {
  return {.series = {.name = name,
                     .point = std::move(point),
                     .x_name = x_name,
                     .x = std::move(x),
                     .y = std::move(y)}};
}

Prediction constant_prediction(const std::string& name, Point point, double y) {
  return prediction(name, std::move(point), "none", {0.0}, {y});
}

double numbered(std::size_t index) { return static_cast<double>(index) + 1; }

Source joma_source(const std::string& used) {
  return {"tian2023joma",
          "JoMA: Demystifying Multilayer Transformers via Joint Dynamics of MLP and Attention",
          "Y. Tian, Y. Wang, Z. Zhang, B. Chen, S. Du",
          2023,
          "2310.00535",
          used};
}

}  // namespace attica
