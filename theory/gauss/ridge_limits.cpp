#include "attica/theory/gauss/ridge_limits.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/solvers/minimise.hpp"
#include "attica/theory/ridge_kappa.hpp"

namespace attica {
namespace {

void require_finite_at_least(double value, double lowest, std::string_view name) {
  require(std::isfinite(value) && value >= lowest, name, value, fmt::format("at least {}", lowest));
}

void require_positive(double value, std::string_view name) {
  require(std::isfinite(value) && value > 0, name, value, "a positive number");
}

/// The best of λ = 0 and a wide range around `scale`.
OptimalPenalty minimise_error(const std::function<double(double)>& test_error, double scale) {
  constexpr int kPoints = 81;  // five a decade
  constexpr double kDecades = 8;
  constexpr double kAccuracy = 1e-7;  // Brent's limit is √eps
  std::vector<double> grid(kPoints);
  for (int j = 0; j < kPoints; ++j) {
    const double decade = kDecades * (2.0 * j / (kPoints - 1) - 1);
    grid[static_cast<std::size_t>(j)] = std::log(scale) + decade * std::log(10.0);
  }
  const Minimum minimum = minimise_on_grid(
      [&](double log_lambda) { return test_error(std::exp(log_lambda)); }, grid, kAccuracy);
  const double ridgeless = test_error(0);
  if (ridgeless <= minimum.value) return {.lambda = 0, .test_error = ridgeless};
  // As low as an infinite penalty but for rounding: not a place of its own.
  constexpr double kRounding = 1e-13;
  const double largest = std::exp(grid.back());
  if (const double flat = test_error(largest); flat <= minimum.value * (1 + kRounding)) {
    return {.lambda = largest, .test_error = flat, .at_edge = true};
  }
  return {.lambda = std::exp(minimum.x), .test_error = minimum.value, .at_edge = minimum.at_edge};
}

double checked(double test_error, RidgeStatus status, double samples, double lambda) {
  if (status == RidgeStatus::not_converged) {
    throw Error(ErrorKind::numerical,
                fmt::format("no ridge theory at samples = {}, lambda = {}", samples, lambda));
  }
  return test_error;
}

/// Errors from B + σ², 1-γ and √(E_train/E_test).
RidgeLimit assemble(double kappa,
                    double one_minus_gamma,
                    double population_error,
                    double train_factor,
                    double bayes_error) {
  RidgeLimit result{.kappa = kappa, .one_minus_gamma = one_minus_gamma, .bayes_error = bayes_error};
  if (one_minus_gamma == 0) {
    // Threshold without penalty: B = O(κ²) vanishes faster than 1-γ.
    if (bayes_error > 0) {
      result.test_error = std::numeric_limits<double>::infinity();
      result.status = RidgeStatus::divergent;
    }
    return result;
  }
  result.test_error = population_error / one_minus_gamma;
  result.train_error = train_factor * train_factor * result.test_error;
  if (!std::isfinite(result.test_error)) result.status = RidgeStatus::not_converged;
  return result;
}

}  // namespace

OptimalPenalty optimal_penalty(const GaussianRidge& ridge, double samples) {
  return minimise_error(
      [&](double lambda) {
        const RidgePoint point = ridge.average(samples, lambda);
        return checked(point.test_error, point.status, samples, lambda);
      },
      ridge.mean_eigenvalue());
}

RidgeLimit precision_ridge_limit(const PrecisionEnsemble& ensemble, double alpha, double lambda) {
  const double nu = ensemble.nu;
  const double tau = ensemble.tau;
  require_finite_at_least(tau, 0, "tau");
  require(std::isfinite(nu) && nu > 2 * tau, "nu", nu, fmt::format("nu > 2 tau = {}", 2 * tau));
  require_positive(alpha, "alpha");
  lambda = checked_penalty(lambda);

  // Everything as functions of κ that stay regular at κ = 0.
  struct Spectrum {
    double f1;     // (1/N) Σ s/(s+κ)
    double g;      // (1-f1)/κ = (1/N) tr (Σ+κ)⁻¹
    double slope;  // (f1-f2)/κ = (1/N) Σ s/(s+κ)²
  };
  const auto spectrum = [&](double kappa) {
    const double edges = (1 + kappa * (nu - 2 * tau)) * (1 + kappa * (nu + 2 * tau));
    const double f1 = 2 / (1 + kappa * nu + std::sqrt(edges));
    const double tau_f = tau * tau * kappa * f1 * f1;  // τ²h²/κ
    const double g = (nu - tau_f) / (1 + kappa * nu);
    return Spectrum{f1, g, f1 * (g - tau_f) / (1 - kappa * tau_f)};
  };

  double kappa = 0;
  bool converged = true;
  if (lambda > 0 || alpha < 1) {
    const double mean_eigenvalue = 2 / (nu + std::sqrt((nu - 2 * tau) * (nu + 2 * tau)));
    const double highest = lambda + mean_eigenvalue / alpha;
    const KappaRoot root =
        solve_kappa({.lambda = lambda, .highest = highest}, highest, [&](double trial) {
          const auto [f1, g, slope] = spectrum(trial);
          const double share =
              2 * alpha < 1 ? 1 - f1 / alpha : (alpha - 1 + trial * g) / alpha;  // 1 - f1/alpha
          return KappaTrial{share, share + trial * slope / alpha};
        });
    kappa = root.kappa;
    converged = root.converged;
  }
  const auto [f1, g, slope] = spectrum(kappa);
  const double train_factor = kappa > 0 ? lambda / kappa : 1 - 1 / alpha;
  RidgeLimit result =
      assemble(kappa, train_factor + kappa * slope / alpha, slope / (g * g), train_factor, 1 / nu);
  if (!converged) result.status = RidgeStatus::not_converged;
  return result;
}

}  // namespace attica
