#pragma once
/// @file
/// @brief Matrix products for the shapes of transformers: tall and thin, small per head, with
/// strided operands.
///
/// A micro-kernel holds a tile of the result in registers, 6 rows x 4 vectors where there are 32 of
/// them. Its right operand is packed into column panels, zero-padded to full vectors; its left
/// operand is read where it lies, with any two strides, so that a transpose costs nothing. For
/// these shapes this is 1.3 to 2 times faster than a general library product
/// (bench/networks_bench.cpp), which is the oracle in the tests.

#include "attica/sim/networks/matrix_view.hpp"

namespace attica::networks {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

/// Numbers in a vector register.
template <class T>
inline constexpr Index kLanes = kVectorBytes / static_cast<int>(sizeof(T));
/// @brief n rounded up to whole vectors.
template <class T>
constexpr Index padded(Index n) {
  return (n + kLanes<T> - 1) / kLanes<T> * kLanes<T>;
}

/// @brief An operand: entry (i, j) is data[i * row_stride + j * column_stride].
template <class T>
struct Operand {
  const T* data;
  Index row_stride;
  Index column_stride;
};

template <class T>
Operand<std::remove_const_t<T>> plain(MatrixView<T> m) {
  return {m.data, m.stride, 1};
}
template <class T>
Operand<std::remove_const_t<T>> transposed(MatrixView<T> m) {
  return {m.data, 1, m.stride};
}

/// Whether a product replaces its destination or is added to it.
enum class Into { overwrite, add };

/// @brief c (+)= a b. a: c.rows x depth; b: depth x c.columns. Sums over depth run in a fixed
/// order.
template <class T>
void multiply(Operand<T> a, Operand<T> b, Index depth, MatrixView<T> c, Into into);

/// @brief c = a b, of shapes as above, plus `row`, c.columns numbers, in each of its rows, which
/// is added last.
template <class T>
void multiply_plus_row(Operand<T> a, Operand<T> b, Index depth, const T* row, MatrixView<T> c);

/// @brief A matrix of Eigen's, a block or a transpose of one.
template <class Derived>
Operand<typename Derived::Scalar> operand(const Eigen::DenseBase<Derived>& m) {
  return {m.derived().data(), m.derived().rowStride(), m.derived().colStride()};
}

/// @brief c (+)= a b for matrices of Eigen's that lie in memory; c's columns are contiguous.
template <class A, class B>
void multiply(const A& a, const B& b, Eigen::Ref<Eigen::MatrixXd> c, Into into) {
  // The kernel writes rows: c^T (+)= b^T a^T.
  multiply<double>(operand(b.transpose()),
                   operand(a.transpose()),
                   a.cols(),
                   {c.data(), c.cols(), c.rows(), c.outerStride()},
                   into);
}

}  // namespace attica::networks
