#include "attica/solvers/largest_eigenpair.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// Symmetric tridiagonal.
struct Tridiagonal {
  VectorXd diagonal;
  VectorXd off;

  /// A bound on all |eigenvalues|.
  double norm() const {
    double most = 0;
    const Index d = diagonal.size();
    for (Index k = 0; k < d; ++k) {
      const double left = k > 0 ? std::abs(off(k - 1)) : 0;
      const double right = k + 1 < d ? std::abs(off(k)) : 0;
      most = std::max(most, std::abs(diagonal(k)) + left + right);
    }
    return most;
  }

  /// Whether all eigenvalues are below x: all pivots of T - x are negative.
  bool below(double x) const {
    double pivot = diagonal(0) - x;
    for (Index k = 1; pivot < 0 && k < diagonal.size(); ++k) {
      pivot = diagonal(k) - x - off(k - 1) * off(k - 1) / pivot;
    }
    return pivot < 0;
  }

  /// y <- (T - x)⁻¹ y for x above all eigenvalues, where elimination needs no pivoting.
  void solve(double x, VectorXd& y) const {
    const Index d = diagonal.size();
    VectorXd pivots(d);
    pivots(0) = diagonal(0) - x;
    for (Index k = 1; k < d; ++k) {
      const double factor = off(k - 1) / pivots(k - 1);
      pivots(k) = diagonal(k) - x - factor * off(k - 1);
      y(k) -= factor * y(k - 1);
    }
    y(d - 1) /= pivots(d - 1);
    for (Index k = d - 2; k >= 0; --k) y(k) = (y(k) - off(k) * y(k + 1)) / pivots(k);
  }
};

}  // namespace

Eigenpair largest_eigenpair(const MatrixXd& matrix) {
  if (!matrix.allFinite()) {
    throw Error(ErrorKind::numerical, "largest eigenvalue: the matrix is not finite");
  }
  const Index d = matrix.rows();
  const double scale = matrix.cwiseAbs().maxCoeff();
  if (d == 1 || scale == 0) return {.value = matrix(0, 0), .vector = VectorXd::Unit(d, 0)};
  const Eigen::Tridiagonalization<MatrixXd> reduced(matrix / scale);
  const Tridiagonal t{.diagonal = reduced.diagonal(), .off = reduced.subDiagonal()};
  const double norm = t.norm();
  double low = -norm;
  double high = norm * (1 + 4 * kEpsilon);
  while (high - low > 2 * kEpsilon * norm) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (t.below(middle) ? high : low) = middle;
  }
  // From a few roundings above, each step leaves of the other components the share distance/gap.
  constexpr double kAbove = 8;
  constexpr int kSteps = 4;
  double shift = high + kAbove * kEpsilon * norm;
  while (!t.below(shift)) shift += kAbove * kEpsilon * norm;
  VectorXd y = VectorXd::LinSpaced(d, 1, 2);
  for (int step = 0; step < kSteps; ++step) {
    t.solve(shift, y);
    y.normalize();
  }
  const VectorXd v = reduced.matrixQ() * y;
  return {.value = scale * high, .vector = v.normalized()};
}

}  // namespace attica
