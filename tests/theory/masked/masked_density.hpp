#pragma once

#include <complex>
#include <numbers>

#include "attica/theory/masked/spectrum.hpp"

namespace attica::testing {

/// Density of the eigenvalues, atoms left out: the resolvent's imaginary part just above the axis.
inline double masked_density(const MaskedEquivalent& equivalent, double w) {
  constexpr double kHeight = 1e-10;
  return masked_resolvent(equivalent, {w, kHeight}).imag() / std::numbers::pi;
}

}  // namespace attica::testing
