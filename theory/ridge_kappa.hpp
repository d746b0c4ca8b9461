#pragma once
/// @file
/// @brief The effective penalty κ of ridge regression: the largest root of λ = κ (1 - df1(κ)/M).
///
/// F(κ) = κ (1 - df1/M) - λ with df1 = Σ s/(s+κ) is convex, F'(κ) = 1 - df2/M with df2 = Σ
/// s²/(s+κ)², and F(λ) <= 0 <= F(λ + Σs/M). Newton's method from the right decreases monotonically
/// to the root, and one step from the left lands on the right.

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>

namespace attica {

/// @brief Throws an Error naming 'samples' unless 1 <= M < ∞.
void require_samples(double samples);

/// @brief λ itself, or 0 below 1e-300: λ and 1/κ stay numbers, κ² and 1/κ² may not.
/// @throws Error of kind input naming 'lambda' unless 0 <= λ < ∞
double checked_penalty(double lambda);

/// @brief What the equation needs at a trial κ.
struct KappaTrial {
  double residual_share = 0;   ///< 1 - df1/M, evaluated without cancellation
  double one_minus_gamma = 0;  ///< F' = 1 - df2/M
};

/// @brief The equation's constants.
struct KappaEquation {
  double lambda = 0;   ///< λ >= 0; if it is 0, a positive root must exist (M below the rank)
  double highest = 0;  ///< a κ with F(κ) >= 0, such as λ + Σs/M
};

struct KappaRoot {
  double kappa = 0;
  bool converged = false;
};

/// @brief Newton's method inside a bracket, with bisection in log κ where it is slow (near M = N it
/// only halves κ at each step).
///
/// After a step of relative size δ the relative error is at most δ²γ/(1-γ), because
/// κF''/2F' = (κ/M) Σ s²/(s+κ)³ / (1-γ) <= γ/(1-γ). The iteration stops when that is below
/// rounding, so the result does not depend on the start.
/// @param start    first trial, > 0
/// @param evaluate KappaTrial(double kappa)
template <class Evaluate>
[[nodiscard]] KappaRoot solve_kappa(const KappaEquation& equation,
                                    double start,
                                    Evaluate&& evaluate) {
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  constexpr int kNewtonSteps = 100;
  constexpr int kMaxSteps = 2000;
  double low = std::max(equation.lambda, std::numeric_limits<double>::min());
  double high = equation.highest;
  double kappa = start > low && start < high ? start : high;
  for (int step = 0; step < kMaxSteps; ++step) {
    const KappaTrial trial = evaluate(kappa);
    const double f = kappa * trial.residual_share - equation.lambda;
    if (!std::isfinite(f) || !std::isfinite(trial.one_minus_gamma)) return {kappa, false};
    (f < 0 ? low : high) = kappa;
    double next = high;
    if (trial.one_minus_gamma > 0) {
      next = kappa - f / trial.one_minus_gamma;
      const double relative = (next - kappa) / kappa;
      const double gamma = 1 - trial.one_minus_gamma;
      if (relative * relative * gamma <= kEpsilon * trial.one_minus_gamma) return {next, true};
    }
    if (high <= low * (1 + 4 * kEpsilon)) return {high, true};
    if (step >= kNewtonSteps || next <= low) {
      next = std::sqrt(low) * std::sqrt(high);
    }
    kappa = std::min(next, high);
  }
  return {kappa, false};
}

/// @brief κ for an explicit input spectrum.
/// @param spectrum eigenvalues s >= 0 of the input covariance; n of them positive
/// @return κ = 0 if λ = 0 and M >= n
/// @throws Error of kind input naming 'samples' or 'lambda', of kind numerical if no root is found
double ridge_kappa(const Eigen::ArrayXd& spectrum, double samples, double lambda);

}  // namespace attica
