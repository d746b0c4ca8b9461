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
    constexpr double kMostSteps = 1e9;
    require(count <= kMostSteps,
            "sim.times",
            time,
            fmt::format("at most {:g} steps of sim.step = {}", kMostSteps, step));
    require(std::abs(count * step - time) <= kRounding,
            "sim.times",
            time,
            fmt::format("a multiple of sim.step = {}", step));
    steps.push_back(static_cast<std::int64_t>(count));
  }
  return steps;
}

}  // namespace attica
