#include "attica/solvers/statistics/distributions.hpp"

#include <fmt/format.h>
#ifndef ATTICA_WITHOUT_GSL
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_randist.h>
#endif

#include <array>
#include <boost/math/special_functions/beta.hpp>
#ifdef ATTICA_WITHOUT_GSL
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#endif
#include <cmath>
#include <numbers>
#include <string>
#include <string_view>

#include "attica/core/error.hpp"

namespace attica {

namespace bm = boost::math;
using Quiet = bm::policies::policy<bm::policies::domain_error<bm::policies::ignore_error>,
                                   bm::policies::overflow_error<bm::policies::ignore_error>,
                                   bm::policies::evaluation_error<bm::policies::ignore_error>,
                                   bm::policies::promote_double<false>>;

namespace {

#ifdef ATTICA_WITHOUT_GSL
// The same functions by Boost.Math, for programs under any licence: equal to 12 digits or so.
void* gsl_set_error_handler_off() { return nullptr; }
double gsl_cdf_tdist_Q(double t, double nu) {
  if (std::isinf(t)) return t > 0 ? 0 : 1;
  return bm::cdf(bm::complement(bm::students_t_distribution<double, Quiet>(nu), t));
}
double gsl_cdf_tdist_Qinv(double q, double nu) {
  return bm::quantile(bm::complement(bm::students_t_distribution<double, Quiet>(nu), q));
}
double gsl_cdf_ugaussian_Q(double z) { return bm::erfc(z / std::numbers::sqrt2, Quiet()) / 2; }
double gsl_cdf_ugaussian_Qinv(double q) {
  return std::numbers::sqrt2 * bm::erfc_inv(2 * q, Quiet());
}
double gsl_ran_ugaussian_pdf(double z) {
  return std::exp(-z * z / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
}
double gsl_cdf_chisq_Q(double x, double nu) {
  return x <= 0 ? 1 : bm::gamma_q(nu / 2, x / 2, Quiet());
}
double gsl_cdf_chisq_Qinv(double q, double nu) { return 2 * bm::gamma_q_inv(nu / 2, q, Quiet()); }
double gsl_cdf_chisq_Pinv(double p, double nu) { return 2 * bm::gamma_p_inv(nu / 2, p, Quiet()); }
double gsl_ran_chisq_pdf(double x, double nu) {
  return x < 0 ? 0 : bm::gamma_p_derivative(nu / 2, x / 2, Quiet()) / 2;
}
#endif

template <class... Arguments>
double finite(std::string_view name, double value, const Arguments&... arguments) {
  if (std::isfinite(value)) return value;
  std::string list;
  ((list += fmt::format("{}{}", list.empty() ? "" : ", ", arguments)), ...);
  throw Error(ErrorKind::numerical, fmt::format("{}({}) has no finite value", name, list));
}

// GSL's distribution functions have no return codes: with the handler off they answer NaN.
template <class... Arguments>
double checked(std::string_view name,
               double (*function)(Arguments...),
               std::type_identity_t<Arguments>... arguments) {
  static const auto previous_handler = gsl_set_error_handler_off();
  static_cast<void>(previous_handler);
  return finite(name, function(arguments...), arguments...);
}

}  // namespace

double student_tail(double t, double nu) { return checked("student_tail", gsl_cdf_tdist_Q, t, nu); }

double student_quantile(double alpha, double nu) {
  // One degree of freedom is the Cauchy distribution; GSL 2.7 loses its far tail (4 % at alpha =
  // 1e-15).
  if (nu == 1) return 1 / std::tan(std::numbers::pi * alpha);
  // The points of a run ask for the same few, one after the other.
  struct Known {
    double alpha = -1;
    double nu = 0;
    double t = 0;
  };
  static thread_local std::array<Known, 8> known;
  static thread_local std::size_t next = 0;
  for (const Known& one : known) {
    if (one.alpha == alpha && one.nu == nu) return one.t;
  }
  const double t = checked("student_quantile", gsl_cdf_tdist_Qinv, alpha, nu);
  known[next] = {alpha, nu, t};
  next = (next + 1) % known.size();
  return t;
}

double normal_score(double t, double nu) {
  const double tail = student_tail(t, nu);
  // Beyond that the logarithm of the tail is that of its leading factor, (1 + t²/nu)^(-nu/2).
  constexpr double kSmallest = 1e-290;
  return tail > kSmallest ? normal_quantile(tail) : std::sqrt(nu * std::log1p(t * t / nu));
}

double normal_tail(double z) { return checked("normal_tail", gsl_cdf_ugaussian_Q, z); }

double normal_quantile(double alpha) {
  return checked("normal_quantile", gsl_cdf_ugaussian_Qinv, alpha);
}

double normal_density(double z) { return checked("normal_density", gsl_ran_ugaussian_pdf, z); }

double chi_square_tail(double x, double nu) {
  return checked("chi_square_tail", gsl_cdf_chisq_Q, x, nu);
}

double chi_square_quantile(double alpha, double nu) {
  return checked("chi_square_quantile", gsl_cdf_chisq_Qinv, alpha, nu);
}

double chi_square_lower_quantile(double p, double nu) {
  return checked("chi_square_lower_quantile", gsl_cdf_chisq_Pinv, p, nu);
}

double chi_square_density(double x, double nu) {
  return checked("chi_square_density", gsl_ran_chisq_pdf, x, nu);
}

// GSL's inverse of the beta distribution fails from about 10^4 trials on: Boost.Math, without its
// exceptions.

double beta_lower_quantile(double p, double a, double b) {
  return finite("beta_lower_quantile", bm::ibeta_inv(a, b, p, Quiet()), p, a, b);
}

double beta_quantile(double alpha, double a, double b) {
  return finite("beta_quantile", bm::ibetac_inv(a, b, alpha, Quiet()), alpha, a, b);
}

double binomial_lower_tail(std::size_t k, double p, std::size_t n) {
  if (k >= n) return 1;
  const auto a = static_cast<double>(k) + 1;
  const auto b = static_cast<double>(n - k);
  return finite("binomial_lower_tail", bm::ibetac(a, b, p, Quiet()), k, p, n);
}

double binomial_tail(std::size_t k, double p, std::size_t n) {
  if (k == 0) return 1;
  if (k > n) return 0;
  const auto a = static_cast<double>(k);
  const auto b = static_cast<double>(n - k) + 1;
  return finite("binomial_tail", bm::ibeta(a, b, p, Quiet()), k, p, n);
}

double binomial_probability(std::size_t k, double p, std::size_t n) {
  if (k > n) return 0;
  if (p == 0 || p == 1) return k == (p == 0 ? 0 : n) ? 1 : 0;
  const auto a = static_cast<double>(k) + 1;
  const auto b = static_cast<double>(n - k) + 1;
  // The beta density with these parameters is (n + 1) P(X = k).
  const double density = bm::ibeta_derivative(a, b, p, Quiet());
  return finite("binomial_probability", density / (static_cast<double>(n) + 1), k, p, n);
}

double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

}  // namespace attica
