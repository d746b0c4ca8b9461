#include "attica/solvers/distributions.hpp"

#include <fmt/format.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_randist.h>

#include <cmath>
#include <numbers>
#include <string>
#include <string_view>

#include "attica/core/error.hpp"

namespace attica {
namespace {

// GSL's distribution functions have no return codes: with the handler off they answer NaN.
template <class... Arguments>
double checked(std::string_view name,
               double (*function)(Arguments...),
               std::type_identity_t<Arguments>... arguments) {
  static const auto previous_handler = gsl_set_error_handler_off();
  static_cast<void>(previous_handler);
  const double value = function(arguments...);
  if (!std::isfinite(value)) {
    std::string list;
    ((list += fmt::format("{}{}", list.empty() ? "" : ", ", arguments)), ...);
    throw Error(ErrorKind::numerical, fmt::format("{}({}) has no finite value", name, list));
  }
  return value;
}

}  // namespace

double student_tail(double t, double nu) { return checked("student_tail", gsl_cdf_tdist_Q, t, nu); }

double student_quantile(double alpha, double nu) {
  // One degree of freedom is the Cauchy distribution; GSL 2.7 loses its far tail (4 % at alpha =
  // 1e-15).
  if (nu == 1) return 1 / std::tan(std::numbers::pi * alpha);
  return checked("student_quantile", gsl_cdf_tdist_Qinv, alpha, nu);
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

}  // namespace attica
