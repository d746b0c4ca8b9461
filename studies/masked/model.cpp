#include "attica/studies/masked/model.hpp"

#include <fmt/format.h>

#include <cmath>

namespace attica {

using Eigen::Index;
using Eigen::VectorXd;

SampleSizes masked_sizes(const Configuration& c) {
  const auto d = static_cast<double>(c.integer("model.dimension"));
  for (const double alpha : c.reals("sweep.alpha")) {
    require(alpha * d >= 2,
            "sweep.alpha",
            alpha,
            fmt::format("alpha d >= 2, at least two samples, d = {:g}", d));
  }
  constexpr double kMost = 1e9;
  return {c.reals("sweep.alpha"), d, kMost, "sweep.alpha", SampleCheck::when_used};
}

void require_masked_memory(const Configuration& c, double samples) {
  constexpr double kGigabyte = 1e9;
  constexpr double kSquares = 4;
  const auto d = static_cast<double>(c.integer("model.dimension"));
  const double gigabytes = sizeof(double) * (kSquares * d * d + d * samples) / kGigabyte;
  const double limit = c.real("sim.max_memory");
  require(gigabytes <= limit,
          "sim.max_memory",
          limit,
          fmt::format("at least {:.3g} GB: four d x d matrices and the samples, d = {:g}, n = {:g}",
                      gigabytes,
                      d,
                      samples));
}

double masked_flops(double dimension, double samples) {
  constexpr double kNormal = 30;  // a normal number in multiplications
  return dimension * samples * (dimension + kNormal) + dimension * dimension * dimension;
}

double eigenpair_flops(double dimension) {
  // (4/3) d³, at half the speed of matrix products.
  return 3 * dimension * dimension * dimension;
}

std::vector<SpikedGroup> noise_groups(double ratio, Signal signal) {
  if (ratio == 1 && signal == Signal::uniform) return {SpikedGroup{}};
  const double quiet = signal == Signal::uniform ? 0.5 : signal == Signal::quiet ? 1 : 0;
  return {{.variance = 1, .share = 0.5, .weight = quiet},
          {.variance = ratio, .share = 0.5, .weight = 1 - quiet}};
}

void require_halves(const Configuration& c) {
  const std::int64_t d = c.integer("model.dimension");
  require(d % 2 == 0,
          "model.dimension",
          static_cast<double>(d),
          "an even number, for two halves of equal size");
}

SpikedNoise noisy_sites(
    Index dimension, double ratio, Signal signal, double theta, RandomStream& signs) {
  const Index half = dimension / 2;
  SpikedNoise noise{.variances = VectorXd::Ones(dimension),
                    .direction = VectorXd::Zero(dimension),
                    .theta = theta};
  noise.variances.tail(dimension - half).setConstant(ratio);
  const Index first = signal == Signal::noisy ? half : 0;
  const Index last = signal == Signal::quiet ? half : dimension;
  const double size = 1 / std::sqrt(static_cast<double>(last - first));
  for (Index k = first; k < last; ++k) noise.direction(k) = signs.below(2) == 0 ? size : -size;
  return noise;
}

bool away_from(double theta, double threshold) {
  constexpr double kBelow = 0.7;
  constexpr double kAbove = 1.3;
  return theta <= kBelow * threshold || theta >= kAbove * threshold;
}

PredictedValue overlap_value(double overlap, double theta, double threshold, double dimension) {
  // Measured: up to 0.5 above the thresholds at α = 2, 0.9 at α = 0.5; up to 1.9 below.
  const bool above = theta > threshold;
  const double apart = 1 - (above ? threshold / theta : theta / threshold);
  const bool compared = away_from(theta, threshold);
  const double allowance = (above ? 1.7 / (apart * apart) : 2 / (apart * apart) + 0.6) / dimension;
  return {overlap, compared ? allowance : 0.0, compared};
}

std::string masked_label(const Configuration& c, const std::string& estimator, bool penalised) {
  std::string label = estimator;
  const auto add = [&](const char* key, const char* text) {
    if (c.reals(key).size() > 1) label += (label.empty() ? "" : ", ") + std::string(text);
  };
  add("sweep.alpha", "{/:Italic α} = {alpha}");
  if (penalised) add("sweep.lambda", "{/:Italic λ} = {lambda}");
  return label;
}

}  // namespace attica
