#pragma once
/// @file
/// @brief Starts of tests/reference/incontext.json, which gives them as formulas.

#include <cmath>

#include "attica/core/icl/key_query.hpp"

namespace attica::testing {

/// @brief Entry k = 1, 2, .. of v is sd √2 cos(0.1 + 1.7k + 0.3k²); of U or K with 0.2, of Q with
/// 0.3 in place of 0.1.
inline Eigen::VectorXd reference_weights(const KeyQueryShape& shape, double sd) {
  Eigen::VectorXd weights(shape.size());
  const bool merged = shape.kind == KeyQuery::merged;
  const Eigen::Index block =
      shape.heads * shape.dimension * (merged ? shape.dimension : shape.rank);
  Eigen::Index next = 0;
  const auto fill = [&](Eigen::Index count, double offset) {
    for (Eigen::Index k = 1; k <= count; ++k) {
      const auto x = static_cast<double>(k);
      weights(next++) = sd * std::sqrt(2.0) * std::cos(offset + 1.7 * x + 0.3 * x * x);
    }
  };
  fill(shape.heads, 0.1);
  fill(block, 0.2);
  if (!merged) fill(block, 0.3);
  return weights;
}

}  // namespace attica::testing
