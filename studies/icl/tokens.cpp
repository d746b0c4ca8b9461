#include "attica/studies/icl/tokens.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace attica {

const Choices<AttentionNormalisation>& normalisations() {
  static const Choices<AttentionNormalisation> all = {{"softmax", AttentionNormalisation::softmax},
                                                      {"mean", AttentionNormalisation::mean}};
  return all;
}

std::vector<Parameter> token_parameters(std::int64_t tokens, std::int64_t dimension) {
  constexpr double kStep = 0.1;  // leaves 2e-6 in overlaps
  return {integer_parameter("model.tokens", tokens, "tokens n", {.low = 2, .high = 5000}),
          integer_parameter("model.dimension", dimension, "dimension d", {.low = 2, .high = 1e6}),
          real_parameter("sim.step",
                         kStep,
                         "step of the Runge-Kutta method of order 4",
                         {.low = 0, .high = 0.5, .low_open = true})};
}

Parameter token_betas_parameter(const std::vector<double>& fallback) {
  return reals_parameter(
      "sweep.beta", fallback, "inverse temperature of attention", {.low = 0, .high = 700});
}

double token_orders(Eigen::Index tokens, double beta, double dimension) {
  constexpr double kLargestBeta = 4;
  constexpr double kNext = 4;
  if (beta > kLargestBeta) return std::numeric_limits<double>::infinity();
  constexpr Eigen::Index kMany = 12;
  const double next = tokens < kMany ? 2 * kNext : kNext;
  return next * (1 + beta * beta) / dimension;
}

std::vector<std::int64_t> steps_of_times(const Configuration& c) {
  const double step = c.real("sim.step");
  std::vector<std::int64_t> steps;
  for (const double time : ascending(c.reals("sim.times"))) {
    constexpr double kRounding = 1e-9;
    const double count = std::round(time / step);
    require(std::abs(count * step - time) <= kRounding,
            "sim.times",
            time,
            fmt::format("a multiple of sim.step = {}", step));
    steps.push_back(static_cast<std::int64_t>(count));
  }
  return steps;
}

std::vector<Source> token_sources() {
  return {cited("geshkovski2025mathematical",
                "(SA) and (USA), equiangular tokens, phase curve of the clustering time"),
          cited("geshkovski2023clusters", "clustering of tokens under self-attention")};
}

}  // namespace attica
