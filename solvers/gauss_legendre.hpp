#pragma once
/// @file
/// @brief Nodes and weights of Gauss-Legendre quadrature on an interval (from GSL).

#include <cstddef>
#include <vector>

#include "attica/solvers/statistics/interval.hpp"

namespace attica {

struct QuadratureNode {
  double x = 0;
  double weight = 0;
};

/// @brief n nodes on the interval: exact for polynomials up to degree 2n - 1.
std::vector<QuadratureNode> gauss_legendre(std::size_t n, const Interval& range);

}  // namespace attica
