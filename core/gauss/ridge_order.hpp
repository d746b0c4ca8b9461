#pragma once
/// @file
/// @brief The order in 1/M of theories of ridge regression.

namespace attica {

/// @brief Where the expansion in 1/M ends.
enum class RidgeOrder {
  leading,  ///< for inputs of any law, as N, M → ∞
  first,    ///< with the terms of relative order 1/M, for real Gaussian samples: see
            ///< theory/gauss/ridge_first_order.hpp
};

}  // namespace attica
