#pragma once
/// @file
/// @brief The inputs of tests/reference/incontext.json, which gives them as formulas.

#include <Eigen/Core>
#include <cmath>

namespace attica::testing {

/// @brief k tasks in d dimensions, on the sphere ‖w‖² = d.
inline Eigen::MatrixXd reference_pool(Eigen::Index k, Eigen::Index d) {
  Eigen::MatrixXd pool(k, d);
  for (Eigen::Index i = 0; i < k; ++i) {
    for (Eigen::Index j = 0; j < d; ++j) {
      const auto row = static_cast<double>(i + 1);
      pool(i, j) = std::cos(1 + 1.3 * row * static_cast<double>(j + 1) + 0.7 * row);
    }
    pool.row(i) *= std::sqrt(static_cast<double>(d)) / pool.row(i).norm();
  }
  return pool;
}

/// @brief A predictor; @shape{d x (d+1)}
inline Eigen::MatrixXd reference_gamma(Eigen::Index d) {
  Eigen::MatrixXd gamma(d, d + 1);
  for (Eigen::Index i = 0; i < d; ++i) {
    for (Eigen::Index j = 0; j <= d; ++j) {
      gamma(i, j) = std::sin(1 + static_cast<double>((i + 1) * (j + 1))) / static_cast<double>(d);
    }
  }
  return gamma;
}

/// @brief Tokens on the sphere, a row each.
inline Eigen::MatrixXd reference_tokens(Eigen::Index n, Eigen::Index d) {
  Eigen::MatrixXd x(n, d);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < d; ++j) {
      const auto row = static_cast<double>(i + 1);
      x(i, j) = std::cos(1 + 1.3 * row * static_cast<double>(j + 1) + 0.7 * row);
    }
    x.row(i).normalize();
  }
  return x;
}

}  // namespace attica::testing
