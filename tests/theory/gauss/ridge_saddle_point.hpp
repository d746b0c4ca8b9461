#pragma once

#include <cmath>

#include "attica/core/error.hpp"
#include "attica/theory/gauss/ridge.hpp"
#include "attica/theory/gauss/site_regression.hpp"

namespace attica::testing {

/// @brief One site by iterating the replica-symmetric saddle point equations: an independent
/// route for cross-checks. With λ_s = Mλ, V̂ = M/(1+V), q̂ = M(ρ+σ²-2m+q)/(1+V)²:
///   V = Σ s/(λ_s+V̂s),  m = V̂ Σ s²v²/(λ_s+V̂s),  q = Σ (V̂²s³v² + q̂s²)/(λ_s+V̂s)²,  κ = λ(1+V).
/// @param lambda λ > 0
/// @return not_converged if 10⁶ iterations do not settle to 1e-14
inline RidgeSite ridge_site_replica(const GaussianMlm& problem,
                                    Eigen::Index site,
                                    double samples,
                                    double lambda) {
  constexpr int kMaxIterations = 1'000'000;
  constexpr double kTolerance = 1e-14;
  const SiteRegression regression = site_regression(problem, site);
  const Eigen::ArrayXd& s = regression.s;
  const Eigen::ArrayXd v2 = regression.teacher.array().square();
  const double sigma2 = regression.bayes_error;
  const double penalty = samples * lambda;

  RidgeSite result{.bayes_error = sigma2, .signal = (s * v2).sum()};
  result.status = RidgeStatus::not_converged;
  double susceptibility = s.sum() / penalty;  // V
  for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
    const double conjugate = samples / (1 + susceptibility);  // V̂ = m̂
    const Eigen::ArrayXd resolvent = 1 / (penalty + conjugate * s);
    const double test_error = result.signal + sigma2 - 2 * result.overlap_m + result.overlap_q;
    const double noise = samples * test_error / ((1 + susceptibility) * (1 + susceptibility));  // q̂
    const double new_susceptibility = (s * resolvent).sum();
    const double new_m = conjugate * (s.square() * v2 * resolvent).sum();
    const double new_q =
        ((conjugate * conjugate * s * v2 + noise) * (s * resolvent).square()).sum();
    const double change = std::abs(new_susceptibility - susceptibility) / new_susceptibility +
                          std::abs(new_m - result.overlap_m) + std::abs(new_q - result.overlap_q);
    susceptibility = new_susceptibility;
    result.overlap_m = new_m;
    result.overlap_q = new_q;
    result.test_error = result.signal + sigma2 - 2 * new_m + new_q;
    result.weight_norm2 =
        ((conjugate * conjugate * s.square() * v2 + noise * s) * resolvent.square()).sum();
    if (change <= kTolerance * (1 + new_q)) {
      result.status = RidgeStatus::converged;
      break;
    }
  }
  result.kappa = lambda * (1 + susceptibility);
  // df2/M of the converged κ, and the split of the error that it implies.
  const double gamma = (s / (s + result.kappa)).square().sum() / samples;
  result.one_minus_gamma = 1 - gamma;
  result.bias = result.test_error * result.one_minus_gamma - sigma2;
  result.sampling_variance = result.bias * gamma / result.one_minus_gamma;
  result.noise_variance = sigma2 * gamma / result.one_minus_gamma;
  result.train_error = result.test_error / ((1 + susceptibility) * (1 + susceptibility));
  return result;
}

}  // namespace attica::testing
