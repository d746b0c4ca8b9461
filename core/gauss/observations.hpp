#pragma once
/// @file
/// @brief Observations that users bring along, as the population of masked modelling.

#include <Eigen/Core>
#include <string>
#include <vector>

#include "attica/core/numeric_csv.hpp"

namespace attica {

/// @brief Centred observations of the columns that vary.
struct Observations {
  Eigen::MatrixXd rows;                ///< mean zero; @shape{n x L}
  std::vector<std::string> columns;    ///< names of the L columns
  std::vector<std::string> constants;  ///< names of those left out, which do not vary

  /// @brief Σ = rowsᵀ rows / n.
  Eigen::MatrixXd covariance() const;
  /// @brief E x⁴ / (E x²)² - 3 of every column, 0 for Gaussian ones.
  Eigen::VectorXd excess_kurtosis() const;
};

/// @brief Centres a table.
/// @param standardise scales every column to unit variance, with divisor n
/// @throws Error of kind input unless there are two rows and two columns that vary
Observations centred_observations(const NumericTable& table, bool standardise);

}  // namespace attica
