#pragma once
/// @file
/// @brief Matrices of independent standard normal numbers.

#include <Eigen/Core>
#include <span>

#include "attica/core/random.hpp"

namespace attica {

/// Fills a matrix or a vector, column after column.
template <class Matrix>
void fill_normal(Eigen::PlainObjectBase<Matrix>& all, RandomStream& stream) {
  stream.fill_normal(std::span(all.data(), static_cast<std::size_t>(all.size())));
}

/// A new matrix of them.
inline Eigen::MatrixXd normal_matrix(Eigen::Index rows,
                                     Eigen::Index columns,
                                     RandomStream& stream) {
  Eigen::MatrixXd all(rows, columns);
  fill_normal(all, stream);
  return all;
}

}  // namespace attica
