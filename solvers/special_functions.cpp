#include "attica/solvers/special_functions.hpp"

#include <gsl/gsl_sf_dawson.h>

#include <boost/math/special_functions/erf.hpp>

#include "attica/core/error.hpp"
#include "attica/solvers/gsl.hpp"

namespace attica {

double inverse_erf(double y) {
  require(y > -1 && y < 1, "y", y, "-1 < y < 1");
  return boost::math::erf_inv(y);
}

double inverse_erfc(double y) {
  require(y > 0 && y < 2, "y", y, "0 < y < 2");
  return boost::math::erfc_inv(y);
}

double dawson(double x) {
  disable_gsl_handler();
  gsl_sf_result result;
  check_gsl(gsl_sf_dawson_e(x, &result), "dawson");
  return result.val;
}

}  // namespace attica
