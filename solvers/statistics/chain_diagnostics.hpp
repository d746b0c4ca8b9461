#pragma once
/// @file
/// @brief Has a Markov-chain sampler converged? Split R-hat, autocorrelation time and effective
/// sample size of several chains of one observable.
///
/// Every chain is split into two halves (a middle draw is dropped), m sequences of n draws. With W
/// the mean of their variances and V+ = (n-1)/n W + the variance of their means,
///     R-hat = sqrt(V+ / W),   rho_t = 1 - (W - mean_j a_j(t)) / V+,
///     tau = -1 + 2 sum_k P_k,  P_k = rho_{2k} + rho_{2k+1},  ESS = m n / tau,
/// where the sum ends before the first negative P_k and P_k is made non-increasing (Geyer 1992;
/// Gelman et al., Bayesian Data Analysis, 3rd ed., 11.4-11.5).

#include <span>
#include <vector>

namespace attica {

/// R-hat below this, and at least so many effective draws, count as converged.
inline constexpr double kLargestRHat = 1.01;
inline constexpr double kFewestEffectiveDraws = 400;

struct ChainDiagnostics {
  double r_hat = 1;
  double autocorrelation_time = 1;  ///< tau, in draws
  double effective_draws = 0;       ///< ESS
  bool constant = false;            ///< the observable never changed: R-hat says nothing
  bool too_short = false;           ///< a single chain, or fewer than 4 draws: the numbers are NaN

  /// R-hat < kLargestRHat and ESS >= kFewestEffectiveDraws.
  bool converged() const;
};

/// @param chains the observable along each chain, all of equal length
/// @throws Error (input, `chains`) if lengths differ or a draw is not finite
ChainDiagnostics chain_diagnostics(std::span<const std::vector<double>> chains);

}  // namespace attica
