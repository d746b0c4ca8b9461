#include "attica/studies/joma_setup.hpp"

#include <algorithm>

namespace attica {

Parameter real_parameter(const std::string& key,
                         double fallback,
                         const std::string& meaning,
                         Range range) {
  return {.key = key,
          .type = ParameterType::real,
          .fallback = Value(fallback),
          .meaning = meaning,
          .range = range};
}

Parameter integer_parameter(const std::string& key,
                            std::int64_t fallback,
                            const std::string& meaning,
                            Range range) {
  return {.key = key,
          .type = ParameterType::integer,
          .fallback = Value(fallback),
          .meaning = meaning,
          .range = range};
}

Parameter reals_parameter(const std::string& key,
                          const std::vector<double>& fallback,
                          const std::string& meaning,
                          Range range) {
  return {.key = key,
          .type = ParameterType::real,
          .fallback = Value(fallback),
          .meaning = meaning,
          .list = true,
          .range = range};
}

Parameter word_parameter(const std::string& key,
                         const std::string& fallback,
                         const std::string& meaning,
                         std::vector<std::string> choices) {
  return {.key = key,
          .type = ParameterType::text,
          .fallback = Value(fallback),
          .meaning = meaning,
          .choices = std::move(choices)};
}

Parameter steps_parameter(const std::vector<std::int64_t>& fallback) {
  return {.key = "sim.steps",
          .type = ParameterType::integer,
          .fallback = Value(List(fallback.begin(), fallback.end())),
          .meaning = "recorded steps, the last one being the length",
          .list = true,
          .range = {.low = 0, .high = 1e9}};
}

Parameter full_width_parameter() {
  return word_parameter(
      "plot.width", "full", "half: one column; full: the page's text width", {"half", "full"});
}

std::vector<double> sorted_reals(const Configuration& c, const std::string& key) {
  std::vector<double> values = c.reals(key);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
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
