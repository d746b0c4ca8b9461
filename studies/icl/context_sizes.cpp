#include "attica/studies/icl/context_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attica/sim/icl/ridge.hpp"

namespace attica {

using Eigen::Index;

namespace {

constexpr double kBytesOfGigabyte = 1e9;

/// A size: a ratio times a power of the dimension. @param unit the power in words
Index whole(const char* name, double ratio, double value, const char* unit) {
  constexpr double kMost = 1e12;
  require(std::isfinite(value) && value > 0 && value < kMost,
          name,
          ratio,
          fmt::format("0 < {} {} < {:g}", name, unit, kMost));
  return std::max<Index>(1, std::llround(value));
}

}  // namespace

ContextSizes ContextSizes::nearest(Index dimension, const ContextRatios& r) {
  const auto d = static_cast<double>(dimension);
  return {.dimension = dimension,
          .context = whole("alpha", r.alpha, r.alpha * d, "d"),
          .tasks = whole("kappa", r.kappa, r.kappa * d, "d"),
          .samples = whole("tau", r.tau, r.tau * d * d, "d^2")};
}

std::vector<RoundedValues> rounded_ratios(const Configuration& c, Index dimension) {
  const auto d = static_cast<double>(dimension);
  std::vector<RoundedValues> all;
  for (const auto& [name, size, what, unit] :
       {std::tuple{"alpha", "l", "pairs of a context are whole numbers of d = {:g}", d},
        {"alpha_test", "l", "pairs of a tested context are whole numbers of d = {:g}", d},
        {"kappa", "k", "tasks are whole numbers of d = {:g}", d},
        {"tau", "n", "sequences are whole numbers of d^2 = {:g}", d * d}}) {
    for (const char* section : {"model.", "sweep."}) {
      const std::string key = section + std::string(name);
      if (!c.declares(key) || !c.has(key)) continue;
      const auto* list = std::get_if<List>(&c.at(key));
      std::vector<RunAt> values;
      for (const double ratio : list != nullptr ? c.reals(key) : std::vector{c.real(key)})
        values.push_back(at_whole_size(name, ratio, unit, size));
      all.emplace_back(c, key, name, fmt::format(fmt::runtime(what), unit), std::move(values));
    }
  }
  return all;
}

ContextRatios ContextSizes::realised(ContextRatios asked) const {
  const auto d = static_cast<double>(dimension);
  asked.alpha = static_cast<double>(context) / d;
  asked.kappa = static_cast<double>(tasks) / d;
  asked.tau = static_cast<double>(samples) / (d * d);
  return asked;
}

ContextSizes ContextSizes::times(Index factor) const {
  return {.dimension = factor * dimension,
          .context = factor * context,
          .tasks = factor * tasks,
          .samples = factor * factor * samples};
}

ContextNoise ContextSizes::noise(double rho) const {
  return {.length = static_cast<double>(context), .rho = rho};
}

PoolSizes ContextSizes::pool_sizes(double rho, double lambda) const {
  return {.context = static_cast<double>(context),
          .samples = static_cast<double>(samples),
          .rho = rho,
          .lambda = lambda};
}

void ContextSizes::require_memory(const Configuration& c) const {
  const auto d = static_cast<double>(dimension);
  const double bytes = ContextRidge::bytes(d, static_cast<double>(samples)) +
                       sizeof(double) * static_cast<double>(tasks) * d;
  const double limit = c.real("sim.max_memory");
  if (bytes <= limit * kBytesOfGigabyte) return;
  throw invalid_parameter(
      "sim.max_memory",
      limit,
      fmt::format("at least {:.3g} GB: {:.0f} bytes for {} sequences of {} features and {} tasks",
                  bytes / kBytesOfGigabyte,
                  bytes,
                  samples,
                  dimension * (dimension + 1),
                  tasks));
}

}  // namespace attica
