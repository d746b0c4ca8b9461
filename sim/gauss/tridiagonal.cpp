#include "attica/sim/gauss/tridiagonal.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "attica/sim/networks/gemm.hpp"

namespace attica {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using networks::Into;

constexpr Index kRows = 8;          // rows of a pass that lie in registers
constexpr int kColumns = 4;         // columns of a pass that share what is read
constexpr Index kReflections = 16;  // in a block of Q

/// The columns j..j+Columns-1 of a -= v w^T + w v^T from row `first` on, and product += a x there.
template <int Columns>
void update_columns(Index first,
                    Index j,
                    const VectorXd& v,
                    const VectorXd& w,
                    const VectorXd& x,
                    MatrixXd& a,
                    VectorXd& product) {
  using Rows = Eigen::Array<double, kRows, 1>;
  using Factors = Eigen::Array<double, Columns, 1>;
  // Copies: what is stored below could be any of them, as far as the compiler knows.
  const Factors vj = v.segment<Columns>(j);
  const Factors wj = w.segment<Columns>(j);
  const Factors xj = x.segment<Columns>(j);
  std::array<double*, Columns> columns;
  for (int c = 0; c < Columns; ++c) columns[c] = a.col(j + c).data();
  const double* const v_data = v.data();
  const double* const w_data = w.data();
  double* const sums = product.data();
  const Index height = a.rows();
  for (Index i = first / kRows * kRows; i < height; i += kRows) {
    const Rows vi = Rows::Map(v_data + i);
    const Rows wi = Rows::Map(w_data + i);
    Rows sum = Rows::Map(sums + i);
    for (int c = 0; c < Columns; ++c) {
      const Rows entries = Rows::Map(columns[c] + i) - vi * wj[c] - wi * vj[c];
      Rows::Map(columns[c] + i) = entries;
      sum += entries * xj[c];
    }
    Rows::Map(sums + i) = sum;
  }
}

/// a -= v w^T + w v^T in columns and rows from `first` on, and product = a x there. Columns are
/// whole pieces of kRows; vectors are as long and 0 where they do not belong.
void update_and_multiply(Index first,
                         const VectorXd& v,
                         const VectorXd& w,
                         const VectorXd& x,
                         MatrixXd& a,
                         VectorXd& product) {
  product.setZero();
  Index j = first;
  for (; j + kColumns <= a.cols(); j += kColumns)
    update_columns<kColumns>(first, j, v, w, x, a, product);
  for (; j < a.cols(); ++j) update_columns<1>(first, j, v, w, x, a, product);
}

/// The product of the reflections 1 - 2 v v^T / |v|^2, v in columns; v = 0 is none.
MatrixXd product_of_reflections(const MatrixXd& vectors) {
  const Index n = vectors.cols();
  MatrixXd q = MatrixXd::Identity(n, n);
  for (Index first = (n - 1) / kReflections * kReflections; first >= 0; first -= kReflections) {
    const Index count = std::min(kReflections, n - first);
    const auto v = vectors.block(first, first, n - first, count);
    auto part = q.bottomRightCorner(n - first, n - first);
    // 1 - V T V^T, where 1/T is the upper triangle of V^T V with half its diagonal.
    MatrixXd inverse(count, count);
    networks::multiply(v.transpose(), v, inverse, Into::overwrite);
    inverse *= -1;
    inverse.diagonal() = (inverse.diagonal().array() < 0).select(0.5 * inverse.diagonal(), 1.0);
    MatrixXd along(count, part.cols());
    networks::multiply(v.transpose(), part, along, Into::overwrite);
    inverse.triangularView<Eigen::Upper>().solveInPlace(along);
    networks::multiply(v, along, part, Into::add);
  }
  return q;
}

}  // namespace

TridiagonalForm tridiagonal_form(const MatrixXd& matrix) {
  const Index n = matrix.rows();
  const Index height = (n + kRows - 1) / kRows * kRows;
  MatrixXd a = MatrixXd::Zero(height, n);
  a.topRows(n) = matrix.selfadjointView<Eigen::Lower>();
  MatrixXd vectors = MatrixXd::Zero(height, n);
  TridiagonalForm form{.diagonal = VectorXd(n), .subdiagonal = VectorXd::Zero(n - 1), .q = {}};
  // The update that is still to be made, the newest reflection and A times it.
  VectorXd v = VectorXd::Zero(height);
  VectorXd next(height);
  VectorXd w = VectorXd::Zero(height);
  VectorXd av(height);
  for (Index k = 0; k < n; ++k) {
    a.col(k) -= w[k] * v + v[k] * w;
    form.diagonal[k] = a(k, k);
    const Index below = n - k - 1;
    if (below == 0) break;
    const auto column = a.col(k).segment(k + 1, below);
    const double rest = column.tail(below - 1).squaredNorm();
    form.subdiagonal[k] = column[0];
    next.setZero();
    if (rest > std::numeric_limits<double>::min()) {
      // To length one times -sign(column[0]); v[0] = 1.
      form.subdiagonal[k] = -std::copysign(std::hypot(column[0], std::sqrt(rest)), column[0]);
      next.segment(k + 1, below) = column / (column[0] - form.subdiagonal[k]);
      next[k + 1] = 1;
    }
    vectors.col(k) = next;
    update_and_multiply(k + 1, v, w, next, a, av);
    v.swap(next);
    w.setZero();
    if (v[k + 1] != 0) {
      const double tau = 2 / v.squaredNorm();
      const double half = 0.5 * tau * tau * av.segment(k + 1, below).dot(v.segment(k + 1, below));
      w.segment(k + 1, below) = tau * av.segment(k + 1, below) - half * v.segment(k + 1, below);
    }
  }
  form.q = product_of_reflections(vectors.topRows(n));
  return form;
}

}  // namespace attica
