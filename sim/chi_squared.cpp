#include "attica/sim/chi_squared.hpp"

#include <cmath>

#include "attica/core/error.hpp"

namespace attica {

double chi_squared(double degrees, RandomStream& stream) {
  require(degrees > 0, "degrees", degrees, "degrees > 0");
  // Marsaglia and Tsang 2000: Gamma(shape) for shape >= 1; below, Gamma(shape + 1) U^{1/shape}.
  double shape = degrees / 2;
  double factor = 2;
  if (shape < 1) {
    factor *= std::pow(stream.uniform(), 1 / shape);
    shape += 1;
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double z = stream.normal();
    const double root = 1 + c * z;
    const double u = stream.uniform();
    if (root <= 0) continue;
    constexpr double kSqueeze = 0.0331;  // implies what is asked below, without logarithms
    if (u < 1 - kSqueeze * z * z * z * z) return factor * d * root * root * root;
    const double v = root * root * root;
    if (std::log(u) < z * z / 2 + d - d * v + d * std::log(v)) return factor * d * v;
  }
}

}  // namespace attica
