#include "attica/theory/joma_uniform.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "attica/core/error.hpp"
#include "attica/solvers/distributions.hpp"

namespace attica {
namespace {

/// E f(r + s xi), xi ~ N(0,1), for f that is analytic up to pi/2 beside the real axis and grows
/// slowly, by the trapezoidal rule. With step h its error is exp(a^2/2 - 2 pi a/h), a = pi/2s the
/// distance of the nearest pole (at most 2 pi/h counts): below 1e-16 for h = 1/4 max(1, s).
double gaussian_mean(const std::function<double(double)>& f, double r, double s) {
  constexpr double kReach = 9;  // the Gaussian is below 1e-17 beyond
  constexpr double kStep = 0.25;
  const double step = kStep / std::max(1.0, s);
  const auto nodes = std::lround(kReach / step);
  double sum = 0;
  for (long k = -nodes; k <= nodes; ++k) {
    const double x = static_cast<double>(k) * step;
    sum += normal_density(x) * f(r + s * x);
  }
  return step * sum;
}

}  // namespace

ClusterForce cluster_force(JomaActivation activation, double overlap, double sigma, double norm) {
  require(sigma >= 0, "sigma", sigma, "sigma >= 0");
  require(norm >= 0, "norm", norm, "norm >= 0");
  const double spread = sigma * norm;
  constexpr double kWidest = 1e4;  // a node for every quarter of a unit
  require(spread <= kWidest, "sigma", sigma, "sigma |v| <= 1e4");
  switch (activation) {
    case JomaActivation::linear:
      return {1, 0};
    case JomaActivation::quadratic:
      return {overlap, sigma * sigma};
    case JomaActivation::relu: {
      require(norm > 0 && sigma > 0, "norm", norm, "norm > 0 and sigma > 0 for ReLU");
      const double q = overlap / spread;
      return {normal_tail(-q), sigma / norm * normal_density(q)};
    }
    case JomaActivation::tanh:
      return {
          gaussian_mean([](double s) { return 1 - std::tanh(s) * std::tanh(s); }, overlap, spread),
          sigma * sigma *
              gaussian_mean(
                  [](double s) {
                    const double t = std::tanh(s);
                    return -2 * t * (1 - t * t);
                  },
                  overlap,
                  spread)};
    case JomaActivation::silu:
      break;
  }
  // phi = s g, g = 1/(1+e^-s): phi' = g + s g(1-g), phi'' = g(1-g) (2 + s (1-2g)).
  const auto gate = [](double s) { return 1 / (1 + std::exp(-s)); };
  return {gaussian_mean(
              [&](double s) {
                const double g = gate(s);
                return g + s * g * (1 - g);
              },
              overlap,
              spread),
          sigma * sigma *
              gaussian_mean(
                  [&](double s) {
                    const double g = gate(s);
                    return g * (1 - g) * (2 + s * (1 - 2 * g));
                  },
                  overlap,
                  spread)};
}

Eigen::VectorXd cluster_drift(JomaActivation activation,
                              const Eigen::VectorXd& v,
                              const Eigen::VectorXd& centre,
                              double sigma) {
  const ClusterForce force = cluster_force(activation, v.dot(centre), sigma, v.norm());
  return force.along_centre * centre + force.along_weight * v;
}

}  // namespace attica
