#include "attica/theory/gauss/ridge_first_order.hpp"

#include <algorithm>
#include <cmath>

namespace attica {

void add_first_order(const RidgeMoments& moments, RidgeSite& site) {
  const auto& [samples, share, slope1, slope2, slope3, v2, v3, weight2] = moments;
  const double kappa = site.kappa;
  const double gamma = 1 - site.one_minus_gamma;
  const double l = 1 / site.one_minus_gamma;
  const double d2 = l * kappa * slope2;
  const double d3 = l * kappa * slope3;
  const double v1 = site.bias;
  const double sigma2 = site.bayes_error;
  const double population = v1 + sigma2;
  const double order = l / samples;
  const double curvature = 4 * d2 * d2 - 3 * d3;

  // Of E_test: from the noise, and from the signal; that of the squared bias alone.
  const double test_share = gamma - d2 + curvature;
  const double noise = l * order * sigma2 * test_share;
  const double signal = l * order * (v1 * test_share + 3 * v3 - 4 * d2 * v2);
  const double bias = 2 * order * (v3 - d2 * v2);
  const RidgeSite leading = site;
  site.bias += bias;
  site.noise_variance += noise;
  site.sampling_variance += signal - bias;
  site.test_error += signal + noise;
  site.train_error +=
      share * share * l * order * (population * (3 * d2 + curvature) + 3 * v3 - (4 * d2 + 2) * v2);

  const double overlap = -order * (kappa * weight2 * (1 - d2) - v2);
  site.overlap_m += overlap;
  site.overlap_q += signal + noise + 2 * overlap;

  // Of E‖ŵ‖²: Σ v² (F + (λ/κ) L F') with F = q p Y, Y = L (p - D₂), and F' its derivative by log κ.
  if (kappa > 0) {
    const double f = (v2 - d2 * v1) * l;
    const double slope = l * ((3 * d2 + curvature) * v1 - (4 * d2 + 2) * v2 + 3 * v3);
    site.weight_norm2 -= (f + share * l * slope) / (samples * kappa);
  }
  site.weight_norm2 +=
      sigma2 * l * l * order *
      (share * (3 * slope3 - 2 * slope2 - 4 * d2 * slope2) + slope2 * kappa * slope1);

  const double per_population = population > 0 ? 1 / population : 0;
  const SecondOrder rest =
      second_order({.omega = order,
                    .gamma = gamma,
                    .d2 = d2,
                    .interpolating_share = 1 - share * l,
                    .signal = std::abs(v1 * test_share + 3 * v3 - 4 * d2 * v2) * per_population});
  site.finite_size_test = leading.test_error * rest.test;
  site.finite_size_train = leading.train_error * rest.train;
  site.finite_size_overlap_m = leading.overlap_m * rest.overlaps;
  site.finite_size_overlap_q = leading.overlap_q * rest.overlaps;
  site.finite_size_weight_norm2 = leading.weight_norm2 * rest.overlaps;
}

SecondOrder second_order(const ExpansionPoint& at) {
  constexpr double kTestBetweenZeros = 0.5;
  constexpr double kTrainBetweenZeros = 1.5;
  constexpr double kSignal = 13.0 / 4;
  const auto pole = [](double where, double end) { return 1 / std::max(1 - where, end); };
  const double omega2 = at.omega * at.omega;
  const double x = 1 - 2 * at.interpolating_share;
  const double x2 = x * x;
  const double legendre = (3 - 30 * x2 + 35 * x2 * x2) / 8;
  const double test = std::max(kTestBetweenZeros, legendre) * pole(x2 * at.omega, 1.0 / 2);
  const double train = at.d2 * at.d2 * (35 * x2 - 9) / 2 * pole(3 * x2 * at.d2 * at.omega, 1.0 / 4);
  const double signal = kSignal * at.signal * pole(x > 0 ? 3 * x2 * at.omega : 0, 1.0 / 4);
  return {.test = omega2 * (at.gamma * test + signal),
          .train = omega2 * std::max(kTrainBetweenZeros * at.gamma, train),
          .overlaps = omega2 * test};
}

}  // namespace attica
