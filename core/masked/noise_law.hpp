#pragma once
/// @file
/// @brief Laws of the noise variances γ of coordinates, of mean 1.

namespace attica {

enum class NoiseLaw {
  beta,    ///< γ = 1/4 + 9/4 B, B of density 2(1-t) on (0, 1)
  equal,   ///< γ = 1
  groups,  ///< half of the coordinates at `low`, half at 2 - `low`
};

/// @brief A law with its parameter.
struct NoiseVariances {
  NoiseLaw law = NoiseLaw::equal;
  double low = 1;  ///< of `groups`, 0 < low <= 1
};

}  // namespace attica
