#pragma once

#include "attica/theory/gauss/residual_filter.hpp"

namespace attica::testing {

/// Ridge regression with penalty λ > 0 of the normalised objective: f = λ/(z+λ).
inline ResidualFilter ridge_filter(double lambda) {
  return {.value = [lambda](std::complex<double> z) { return lambda / (z + lambda); },
          .time = 2 / lambda};
}

}  // namespace attica::testing
