#pragma once
/// @file
/// @brief What the loss of one sample contributes to the equations of theory/masked/resampling.hpp.

#include <limits>

#include "attica/theory/masked/resampling.hpp"

namespace attica {

/// Unknowns of the equations.
struct MaskOrder {
  double m2 = 0;  ///< M²
  double q = 1;
  double c = 1;
  double delta = 1;
};

/// χ, F, U and H at given unknowns, with the losses; NaN outside the domain of the equations.
struct MaskChannel {
  static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  double chi = kNaN;
  double f = kNaN;
  double u = kNaN;
  double h = kNaN;
  double train = kNaN;
  double test = kNaN;
  double squares = kNaN;  ///< tr L², sum of squared slopes of the force in the fields
  double noise = kNaN;    ///< of F: what a change of the alignment does not carry
};

/// @brief Of a unit act(y), by integrals over the fields of a sample: fresh masks, or one stored
/// mask. `squares` and `noise` are not computed.
///
/// Fresh masks: h0 = √β M s + √C g is what a sample's w·x/√d is without its own influence, ℓ(h) =
/// E_ξ[ρQ act(y)² - 2 act(y)(h - y)], y = (1-ρ)h + √(ρ(1-ρ)C) ξ its mean loss, and h + Δ ℓ'(h) = h0
/// its field. One stored mask: of (y0, t0), the fields of the visible and of the hidden part, y
/// minimises (y-y0)²/(2(1-ρ)Δ) + ρ(Q-2Δ) act(y)² - 2 t0 act(y). For ReLU this minimum jumps where
/// y0 < 0 and t0 is large: the slopes of the force are infinite there, and a replica-symmetric
/// solution is not stable.
MaskChannel field_channel(const ResamplingProblem& problem, const MaskOrder& at);

}  // namespace attica
