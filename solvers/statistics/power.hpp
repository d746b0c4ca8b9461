#pragma once
/// @file
/// @brief Chance that a comparison of normal replicates with a theory is decided, and the
/// replicates that takes.
///
/// With s the sample's standard deviation, f its density (sigma chi / sqrt(nu), nu = n - 1), Phi
/// the normal distribution, m the margin and delta the true difference,
///
///     pi_A = int f(s) [Phi((m - t s/sqrt(n) - delta) sqrt(n)/sigma) - Phi((-m + t s/sqrt(n) -
///     delta) sqrt(n)/sigma)] ds pi_D = int f(s) [1 - Phi((m + u s/sqrt(n) - delta) sqrt(n)/sigma)
///     + Phi((-m - u s/sqrt(n) - delta) sqrt(n)/sigma)] ds
///
/// t and u being the quantiles of Student's t at 5 % and at 2.5 % / P (P points share the error
/// rate). The first integrand stops where the interval no longer fits into the margin. A guard
/// against heavy tails widens the half widths t s/sqrt(n) by its value (see replicates.hpp).
/// Schuirmann (1987) has pi_A; the integrals are done by Gauss-Legendre quadrature between extreme
/// quantiles of s.

#include <cstddef>
#include <functional>
#include <optional>

#include "attica/solvers/statistics/replicates.hpp"

namespace attica {

/// One-sided level of each of the two tests for agreement, whatever the number of points.
inline constexpr double kAgreeLevel = 0.05;
/// Family-wise level of disagreement, two-sided.
inline constexpr double kDisagreeLevel = 0.05;

/// What decides the power at one point, apart from n. All in the units of the data.
struct PowerProblem {
  double margin = 0;
  double delta = 0;  ///< true difference of simulation and theory
  double sigma = 1;  ///< standard deviation of a replicate, > 0
  GuardScale guard = {};
};

/// @brief pi_A: probability of AGREE at one point with n >= 2 replicates.
double agree_power(std::size_t n, const PowerProblem& problem);

/// @brief pi_D: probability of DISAGREE at one point with n >= 2 replicates when `family` points
/// are tested.
double disagree_power(std::size_t n, const PowerProblem& problem, std::size_t family);

/// @brief The smallest |delta| found with the given power, in either direction; problem.delta is
/// ignored.
double detectable_gap(std::size_t n, PowerProblem problem, std::size_t family, double power);

/// @brief Least n >= first at which a power that grows with n reaches `target`; none up to 10^7.
/// @param first  where to start, >= 2
std::optional<std::size_t> least_replicates(const std::function<double(std::size_t)>& power,
                                            double target,
                                            std::size_t first);

}  // namespace attica
