#include "attica/theory/gauss/residual_filter.hpp"

#include <cmath>

#include "attica/core/error.hpp"

namespace attica {

ResidualFilter flow_filter(double time) {
  require(std::isfinite(time) && time >= 0, "time", time, "0 <= time < infinity");
  return {.value = [time](std::complex<double> z) -> std::complex<double> {
            constexpr double kNothing = 1e-40;  // not worth a sine and a cosine
            const double size = std::exp(-time * z.real());
            return size < kNothing ? 0 : std::polar(size, -time * z.imag());
          },
          .time = time};
}

ResidualFilter descent_filter(double eta, double steps) {
  require(std::isfinite(eta) && eta > 0, "eta", eta, "0 < eta < infinity");
  require(std::isfinite(steps) && steps >= 0 && std::floor(steps) == steps,
          "steps",
          steps,
          "a whole number >= 0");
  return {.value =
              [eta, steps](std::complex<double> z) {
                return steps == 0 ? 1.0 : std::pow(1.0 - eta * z, steps);
              },
          .time = eta * steps,
          .reach = (2 + 1 / std::max(steps, 1.0)) / eta};
}

}  // namespace attica
