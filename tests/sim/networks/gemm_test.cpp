#include "attica/sim/networks/gemm.hpp"

#include <catch2/catch.hpp>
#include <vector>

using namespace attica::networks;

namespace networks_gemm_test {

template <class T>
MatrixView<T> view(RowMatrix<T>& m) {
  return {m.data(), m.rows(), m.cols(), m.cols()};
}

/// Entries of order one from a formula: no two shapes share a pattern.
template <class T>
RowMatrix<T> waves(Index rows, Index columns, double phase) {
  RowMatrix<T> m(rows, columns);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; ++j)
      m(i, j) = static_cast<T>(
          std::sin(phase + 1.3 * static_cast<double>(i) + 2.1 * static_cast<double>(j)));
  return m;
}

TEMPLATE_TEST_CASE("multiply: equals Eigen's product for every edge and transpose",
                   "[sim][networks]",
                   float,
                   double) {
  using T = TestType;
  // Sums of at most 300 products of order one.
  const double tolerance = 300 * 4 * static_cast<double>(std::numeric_limits<T>::epsilon());
  for (const Index m : {1, 5, 6, 7, 8, 20, 70}) {
    for (const Index n : {1, 3, 8, 11, 16, 17, 20, 24, 25, 32, 33, 47, 52, 60}) {
      for (const Index k : {0, 1, 2, 31, 300}) {
        RowMatrix<T> a = waves<T>(m, k, 0.1), b = waves<T>(k, n, 0.2), at = a.transpose(),
                     bt = b.transpose();
        RowMatrix<T> start = waves<T>(m, n, 0.3);
        const RowMatrix<T> product = a * b;
        for (const bool left : {false, true}) {
          for (const bool right : {false, true}) {
            for (const Into into : {Into::overwrite, Into::add}) {
              // One column more than needed: nothing may be written beside the destination.
              RowMatrix<T> c = RowMatrix<T>::Constant(m, n + 1, T(7));
              c.leftCols(n) = start;
              multiply(left ? transposed(view(at)) : plain(view(a)),
                       right ? transposed(view(bt)) : plain(view(b)),
                       k,
                       view(c).slice(0, n),
                       into);
              const RowMatrix<T> expected =
                  into == Into::add ? RowMatrix<T>(start + product) : product;
              REQUIRE((c.leftCols(n) - expected).cwiseAbs().maxCoeff() <= tolerance);
              REQUIRE((c.col(n).array() == T(7)).all());
            }
            const RowMatrix<T> row = waves<T>(1, n, 0.4);
            RowMatrix<T> c = RowMatrix<T>::Constant(m, n + 1, T(7));
            multiply_plus_row(left ? transposed(view(at)) : plain(view(a)),
                              right ? transposed(view(bt)) : plain(view(b)),
                              k,
                              row.data(),
                              view(c).slice(0, n));
            const RowMatrix<T> expected = product.rowwise() + row.row(0);
            REQUIRE((c.leftCols(n) - expected).cwiseAbs().maxCoeff() <= tolerance);
            REQUIRE((c.col(n).array() == T(7)).all());
          }
        }
      }
    }
  }
}

TEST_CASE("multiply: blocks and transposes of Eigen's matrices", "[sim][networks]") {
  const Eigen::MatrixXd a = waves<double>(30, 40, 0.1), b = waves<double>(40, 25, 0.2),
                        start = waves<double>(30, 25, 0.3), bt = b.transpose();
  Eigen::MatrixXd c = start;
  multiply(a.middleRows(3, 20), bt.leftCols(40).transpose(), c.block(5, 0, 20, 25), Into::add);
  Eigen::MatrixXd expected = start;
  expected.middleRows(5, 20) += a.middleRows(3, 20) * b;
  CHECK((c - expected).cwiseAbs().maxCoeff() < 1e-13);
  multiply(a, b.middleCols(2, 9), c.leftCols(9), Into::overwrite);
  CHECK((c.leftCols(9) - a * b.middleCols(2, 9)).cwiseAbs().maxCoeff() < 1e-13);
}

}  // namespace networks_gemm_test
