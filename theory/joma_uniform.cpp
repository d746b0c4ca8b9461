#include "attica/theory/joma_uniform.hpp"

#include <cmath>
#include <functional>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/solvers/distributions.hpp"
#include "attica/solvers/gauss_legendre.hpp"

namespace attica {
namespace {

/// E f(r + s xi), xi ~ N(0,1), for smooth f that grows slowly.
double gaussian_mean(const std::function<double(double)>& f, double r, double s) {
  constexpr double kReach = 9;  // the Gaussian is below 1e-17 beyond
  constexpr std::size_t kNodes = 160;
  static const std::vector<QuadratureNode> nodes = gauss_legendre(kNodes, {-kReach, kReach});
  double sum = 0;
  for (const QuadratureNode& node : nodes) {
    sum += node.weight * normal_density(node.x) * f(r + s * node.x);
  }
  return sum;
}

}  // namespace

ClusterForce cluster_force(JomaActivation activation, double overlap, double sigma, double norm) {
  require(sigma >= 0, "sigma", sigma, "sigma >= 0");
  require(norm >= 0, "norm", norm, "norm >= 0");
  const double spread = sigma * norm;
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
