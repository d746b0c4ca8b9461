#include "attica/theory/gauss/classifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "attica/core/error.hpp"
#include "attica/theory/ridge_kappa.hpp"

namespace attica {
namespace {

using Eigen::ArrayXd;

/// A loss and its derivatives at a margin.
struct Derivatives {
  double value = 0;
  double first = 0;
  double second = 0;
};

Derivatives derivatives(ClassifierLoss loss, double z) {
  if (loss == ClassifierLoss::square) return {0.5 * (1 - z) * (1 - z), z - 1, 1};
  const double wrong = 1 / (1 + std::exp(z));  // probability of the other sign
  const double value = z > 0 ? std::log1p(std::exp(-z)) : -z + std::log1p(std::exp(z));
  return {value, -wrong, wrong * (1 - wrong)};
}

/// The margin z = ω - V ℓ'(z). The logistic excess z + Vℓ'(z) - ω rises, convex below 0 and concave
/// above: from the side of 0 on which the root lies, and between 0 and the root, Newton's method is
/// monotone.
double proximal(ClassifierLoss loss, double omega, double v) {
  if (loss == ClassifierLoss::square) return (omega + v) / (1 + v);
  const bool positive = omega + 0.5 * v > 0;
  double z = positive ? std::max(0.0, omega) : std::min(0.0, omega + v);
  constexpr int kMostSteps = 200;
  constexpr double kRounding = 1e-15;
  for (int step = 0; step < kMostSteps; ++step) {
    const Derivatives at = derivatives(loss, z);
    const double change = (omega - z - v * at.first) / (1 + v * at.second);
    z += change;
    if (std::abs(change) <= kRounding * (1 + std::abs(z))) break;
  }
  return z;
}

/// Means over ω ~ N(0, q).
struct Means {
  double loss = 0;
  double slope2 = 0;     ///< E ℓ'²
  double curvature = 0;  ///< E ℓ''/(1 + V ℓ'')
};

/// The trapezoidal rule: of analytic functions with a normal weight its error falls faster than any
/// power of the step.
Means means(ClassifierLoss loss, double q, double v) {
  constexpr double kStep = 0.125;
  constexpr int kReach = 72;  // nine standard deviations
  Means all;
  for (int k = -kReach; k <= kReach; ++k) {
    const double xi = kStep * k;
    const double weight = kStep * std::exp(-0.5 * xi * xi) / std::sqrt(2 * std::numbers::pi);
    const Derivatives at = derivatives(loss, proximal(loss, std::sqrt(q) * xi, v));
    all.loss += weight * at.value;
    all.slope2 += weight * at.first * at.first;
    all.curvature += weight * at.second / (1 + v * at.second);
  }
  return all;
}

}  // namespace

RandomSigns random_signs(const ArrayXd& spectrum,
                         double samples,
                         double lambda,
                         ClassifierLoss loss) {
  require_samples(samples);
  require(std::isfinite(lambda) && lambda > 0, "lambda", lambda, "0 < lambda < infinity");
  require(spectrum.size() > 0 && (spectrum > 0).all(),
          "spectrum",
          spectrum.size() > 0 ? spectrum.minCoeff() : 0,
          "positive eigenvalues");
  // From no sample at all, V = tr C/(λM), q = 0; half of each step is taken.
  double v = spectrum.sum() / (lambda * samples);
  double q = 0;
  constexpr int kMostSteps = 20000;
  constexpr double kTolerance = 1e-12;
  for (int step = 0; step < kMostSteps; ++step) {
    const Means m = means(loss, q, v);
    const ArrayXd resolvent = 1 / (m.curvature * spectrum + lambda);
    const double next_v = (spectrum * resolvent).sum() / samples;
    const double next_q = m.slope2 / samples * (spectrum * resolvent).square().sum();
    const bool settled =
        std::abs(next_v - v) <= kTolerance * v && std::abs(next_q - q) <= kTolerance * next_q;
    v = 0.5 * (v + next_v);
    q = 0.5 * (q + next_q);
    if (!settled) continue;
    const double norm2 = m.slope2 / samples * (spectrum * resolvent.square()).sum();
    const double gamma = (m.curvature * spectrum * resolvent).square().sum() / samples;
    return {.train_loss = m.loss,
            .objective = m.loss + 0.5 * lambda * norm2,
            .weight_norm2 = norm2,
            .test_variance = q,
            .one_minus_gamma = 1 - gamma};
  }
  throw Error(ErrorKind::numerical,
              fmt::format("random signs: the equations for M = {}, lambda = {} have not settled "
                          "after {} steps",
                          samples,
                          lambda,
                          kMostSteps));
}

}  // namespace attica
