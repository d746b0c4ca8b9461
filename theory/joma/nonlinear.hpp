#pragma once
/// @file
/// @brief Joint dynamics of attention and a nonlinear MLP,
///     v' = (mu - v) exp(gamma v^2)        (componentwise, exponential attention),
/// solved by quadrature: convergence times, their asymptotics, and which component converges first.
///
/// With delta = 1 - v/mu and delta0 its start,
///     t(delta) = int_0^{ln(delta0/delta)} exp(-gamma mu^2 (1 - delta0 e^-u)^2) du
///              = e^{-gamma mu^2} ln(delta0/delta) + Q(mu, delta0) + O(delta).
/// Source: Tian et al. 2023 (arXiv:2310.00535), section 4 (gamma = 1/2 there) and Theorem 4. The
/// equation is the model being studied; for a network it is a heuristic limit.

#include <cstddef>
#include <vector>

#include "attica/solvers/ode.hpp"

namespace attica {

/// One component.
struct JomaComponent {
  double mu = 1;       ///< fixed point, not 0
  double start = 0;    ///< v(0)
  double gamma = 0.5;  ///< >= 0

  double delta0() const { return 1 - start / mu; }
};

/// @brief Time until |delta| = epsilon |delta0|, to rounding for |mu| from 0.01 to 30.
/// @throws Error (input) unless 0 < epsilon < 1, mu != 0, gamma >= 0; 0 if delta0 = 0
double convergence_time(const JomaComponent& c, double epsilon);
/// @brief The same as a function of the nats gained, ln(1/epsilon) >= 0.
double convergence_time_of_nats(const JomaComponent& c, double nats);
/// @brief Q(mu, delta0), the time spent on the way before convergence is exponential. delta0 > 0.
double correction_q(const JomaComponent& c);
/// @brief e^{-gamma mu^2} ln(1/epsilon) + Q
double asymptotic_convergence_time(const JomaComponent& c, double epsilon);

/// @brief Theorem 4 with its leading finite-time term: when component k has reached
/// ln(1/delta_k) = ell,
///     ln(1/delta_j)/ln(1/delta_k) = e^{gamma (mu_j^2 - mu_k^2)} (1 + Lambda),
///     Lambda = (Q_k - Q_j) e^{gamma mu_k^2} / ell .
struct SalienceRatio {
  double lambda = 0;
  double log_ratio = 0;
  /// Bound of the neglected terms, which both components contribute. For mu_j > mu_k about
  /// 2 gamma mu_k^2 e^-ell / ell; else that of j, which then has fewer nats, is the larger one.
  double lambda_error = 0;
};
SalienceRatio salience_ratio(double mu_j, double mu_k, double gamma, double ell);

/// @brief The independent route, by integration: the state when component `last` has gained `nats`.
/// The equations u' = exp(gamma v^2), v = mu - (mu - v0) e^-u, run in the clock
/// ds = (1 + max u') dt, which resolves the sudden convergence of large mu that time itself cannot.
/// @return of status `event`; its state holds the nats of all components, then the time
OdeResult integrated_nats(const std::vector<JomaComponent>& components,
                          std::size_t last,
                          double nats);

}  // namespace attica
