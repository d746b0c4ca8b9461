#pragma once
/// @file
/// @brief Tail probabilities and quantiles of the distributions that statistics needs, from GSL and
/// Boost.Math.
///
/// All quantiles and tails are upper ones unless the name says lower: `student_quantile(0.05, nu)`
/// is exceeded with probability 5 %. Upper and lower are separate functions because 1 - p loses all
/// digits of a small p. GSL's aborting error handler is switched off by the first call. Every
/// function throws Error of kind numerical if the result is not finite, naming the function and
/// its arguments.

#include <cstddef>

namespace attica {

/// @brief P(T > t) for Student's t with nu > 0 degrees of freedom (not necessarily a whole number).
double student_tail(double t, double nu);
/// @brief The t with P(T > t) = alpha, 0 < alpha < 1.
double student_quantile(double alpha, double nu);

/// @brief The z that a standard normal exceeds as often as T exceeds t >= 0, Student's with nu > 0
/// degrees of freedom: what few replicates make of a difference, on the scale of many.
double normal_score(double t, double nu);

/// @brief P(Z > z) for a standard normal Z.
double normal_tail(double z);
/// @brief The z with P(Z > z) = alpha, 0 < alpha < 1.
double normal_quantile(double alpha);
/// @brief exp(-z^2/2) / sqrt(2 pi)
double normal_density(double z);

/// @brief P(X > x) for chi-square with nu > 0 degrees of freedom.
double chi_square_tail(double x, double nu);
/// @brief The x with P(X > x) = alpha.
double chi_square_quantile(double alpha, double nu);
/// @brief The x with P(X < x) = p.
double chi_square_lower_quantile(double p, double nu);
double chi_square_density(double x, double nu);

/// @brief The x with P(X < x) = p for the beta distribution, density proportional to x^(a-1)
/// (1-x)^(b-1).
double beta_lower_quantile(double p, double a, double b);
/// @brief The x with P(X > x) = alpha.
double beta_quantile(double alpha, double a, double b);

/// @brief ln Γ(x), x > 0. std::lgamma keeps the sign of Γ in a global that threads share.
double log_gamma(double x);

/// @brief P(X <= k) for k successes in n trials of probability 0 <= p <= 1.
double binomial_lower_tail(std::size_t k, double p, std::size_t n);
/// @brief P(X >= k), k itself included.
double binomial_tail(std::size_t k, double p, std::size_t n);
/// @brief P(X = k)
double binomial_probability(std::size_t k, double p, std::size_t n);

}  // namespace attica
