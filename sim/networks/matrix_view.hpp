#pragma once
/// @file
/// @brief Row-major views and growing buffers: the currency of the layer functions.

#include <Eigen/Core>
#include <cstddef>
#include <type_traits>

namespace attica::networks {

using Index = Eigen::Index;

template <class T>
using RowMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// @brief A row-major matrix somewhere in memory; rows are `stride` apart. Does not own.
template <class T>
struct MatrixView {
  T* data = nullptr;
  Index rows = 0;
  Index columns = 0;
  Index stride = 0;

  operator MatrixView<const T>()
      const  // NOLINT(google-explicit-constructor): as T* converts to const T*
      requires(!std::is_const_v<T>) {
    return {data, rows, columns, stride};
  }

  T* row(Index i) const { return data + i * stride; }
  /// The columns first..first+count-1.
  MatrixView slice(Index first, Index count) const { return {data + first, rows, count, stride}; }
  /// The rows first..first+count-1.
  MatrixView block(Index first, Index count) const { return {row(first), count, columns, stride}; }

  using Matrix =
      std::conditional_t<std::is_const_v<T>, const RowMatrix<std::remove_const_t<T>>, RowMatrix<T>>;
  Eigen::Map<Matrix, Eigen::Unaligned, Eigen::OuterStride<>> map() const {
    return {data, rows, columns, Eigen::OuterStride<>(stride)};
  }
};

/// @brief Aligned memory that grows when a larger matrix is asked for and never shrinks, so that a
/// training step allocates only the first time. Contents are kept only while the size does not
/// grow.
template <class T>
class Buffer {
 public:
  /// @brief A contiguous rows x columns matrix at the start of the buffer; contents are unspecified
  /// after growth.
  MatrixView<T> matrix(Index rows, Index columns) {
    if (rows * columns > values_.size()) values_.resize(rows * columns);
    return {values_.data(), rows, columns, columns};
  }
  T* data() { return values_.data(); }
  const T* data() const { return values_.data(); }

 private:
  Eigen::Array<T, Eigen::Dynamic, 1> values_;
};

/// Flat view of n values as an Eigen array.
template <class T>
using ArrayMap =
    Eigen::Map<std::conditional_t<std::is_const_v<T>,
                                  const Eigen::Array<std::remove_const_t<T>, Eigen::Dynamic, 1>,
                                  Eigen::Array<T, Eigen::Dynamic, 1>>>;

}  // namespace attica::networks
