#include "attica/sim/networks/gemm.hpp"

#include <algorithm>
#include <array>

#include "attica/sim/networks/chunks.hpp"

namespace attica::networks {
namespace {

constexpr Index kRows =
    6;  // rows of a register tile: 6 x 2 accumulators hide the latency of the FMA
constexpr Index kDepth = 256;  // rows of a panel kept in the first-level cache (32 kB)

// From this depth and up to so many rows dot products are quicker than packing a transposed
// operand.
constexpr Index kGreatDepth = 128;
constexpr Index kFewRows = 64;

/// Columns of a panel of the packed right operand.
template <class T>
inline constexpr Index kPanel = 2 * kLanes<T>;

template <class T>
struct Simd {
  using Vector __attribute__((vector_size(kVectorBytes))) = T;
  using Half __attribute__((vector_size(kVectorBytes / 2))) = T;
  // The same, at any address.
  using Loose __attribute__((vector_size(kVectorBytes), aligned(alignof(T)), may_alias)) = T;
};

/// Whether a panel of more than one vector and at most one and a half takes that many. Where a wide
/// vector keeps two narrow units busy, half of one takes half the time.
constexpr bool kHalves = kVectorBytes == 64;

template <class T>
typename Simd<T>::Vector load(const T* p) {
  return *reinterpret_cast<const typename Simd<T>::Loose*>(p);
}
template <class T>
void store(T* p, typename Simd<T>::Vector v) {
  *reinterpret_cast<typename Simd<T>::Loose*>(p) = v;
}

/// The first `count` < 2 Half numbers from a vector's memory, in pieces of Half, Half / 2, ..., 1.
template <class T, Index Half>
[[gnu::always_inline]] inline void store_pieces(T* out, const T* from, Index count, bool add) {
  if ((count & Half) != 0) {
    for (Index j = 0; j < Half; ++j) out[j] = add ? out[j] + from[j] : from[j];
    out += Half;
    from += Half;
  }
  if constexpr (Half > 1) store_pieces<T, Half / 2>(out, from, count, add);
}

// NOLINTBEGIN(modernize-avoid-c-arrays): std::array drops the attributes of vector types
/// Rows x (V vectors, and half of one) of c (+)= a b, where b is a panel of kPanel columns;
/// `columns` of the tile are stored.
template <class T, Index Rows, int V, bool WithHalf>
[[gnu::always_inline]] inline void tile(
    Operand<T> a, const T* b, Index depth, T* c, Index stride, Index columns, bool add) {
  using Vector = typename Simd<T>::Vector;
  using Half = typename Simd<T>::Half;
  constexpr Index kWidth = kLanes<T>;
  Vector sum[Rows][V] = {};
  Half half_sum[WithHalf ? Rows : 1] = {};
  for (Index k = 0; k < depth; ++k) {
    Vector right[V];
    for (int v = 0; v < V; ++v)
      right[v] = *reinterpret_cast<const Vector*>(b + k * kPanel<T> + v * kWidth);
    Half half_right = {};
    if constexpr (WithHalf)
      half_right = *reinterpret_cast<const Half*>(b + k * kPanel<T> + V * kWidth);
    for (Index i = 0; i < Rows; ++i) {
      const T left = a.data[i * a.row_stride + k * a.column_stride];
      for (int v = 0; v < V; ++v) sum[i][v] += left * right[v];
      if constexpr (WithHalf) half_sum[i] += left * half_right;
    }
  }
  alignas(kVectorBytes) T edge[kWidth];
  for (Index i = 0; i < Rows; ++i) {
    for (int v = 0; v < V; ++v) {
      T* out = c + i * stride + v * kWidth;
      if (columns >= (v + 1) * kWidth) {
        store(out, add ? load(out) + sum[i][v] : sum[i][v]);
      } else {
        store(edge, sum[i][v]);
        store_pieces<T, kWidth / 2>(out, edge, columns - v * kWidth, add);
      }
    }
    if constexpr (WithHalf) {
      *reinterpret_cast<Half*>(edge) = half_sum[i];
      store_pieces<T, kWidth / 2>(c + i * stride + V * kWidth, edge, columns - V * kWidth, add);
    }
  }
}
// NOLINTEND(modernize-avoid-c-arrays)

/// The tile of the last `rows` < kRows rows.
template <class T, Index Rows, int V, bool WithHalf>
void last_tile(Index rows,
               Operand<T> a,
               const T* b,
               Index depth,
               T* c,
               Index stride,
               Index columns,
               bool add) {
  if (rows == Rows) {
    tile<T, Rows, V, WithHalf>(a, b, depth, c, stride, columns, add);
  } else if constexpr (Rows > 1) {
    last_tile<T, Rows - 1, V, WithHalf>(rows, a, b, depth, c, stride, columns, add);
  }
}

/// All rows of one panel's columns, which fill V vectors, and half of one. A function of its own:
/// inlined beside the others it has fewer registers for addresses. Operands by reference: a copy in
/// one vector would wait for the stores of its parts, as long as small products take.
template <class T, int V, bool WithHalf = false>
[[gnu::noinline]] void multiply_panel(
    const Operand<T>& a, const T* b, Index depth, const MatrixView<T>& c, bool add) {
  Index i = 0;
  for (; i + kRows <= c.rows; i += kRows) {
    tile<T, kRows, V, WithHalf>({a.data + i * a.row_stride, a.row_stride, a.column_stride},
                                b,
                                depth,
                                c.row(i),
                                c.stride,
                                c.columns,
                                add);
  }
  last_tile<T, kRows - 1, V, WithHalf>(c.rows - i,
                                       {a.data + i * a.row_stride, a.row_stride, a.column_stride},
                                       b,
                                       depth,
                                       c.row(i),
                                       c.stride,
                                       c.columns,
                                       add);
}

/// Rows of b's columns first..first+columns-1, zero-padded to the width that is read.
template <class T>
void pack_panel(const Operand<T>& b, Index depth, Index first, Index columns, Index width, T* out) {
  constexpr Index kColumns = kPanel<T>;
  if (b.column_stride == 1) {
    for (Index k = 0; k < depth; ++k) {
      T* to = out + k * kColumns;
      copy_row(columns, b.data + k * b.row_stride + first, to);
      zero_row(width - columns, to + columns);
    }
  } else {
    if (columns < width) {
      for (Index k = 0; k < depth; ++k) zero_row(width - columns, out + k * kColumns + columns);
    }
    for (Index j = 0; j < columns; ++j) {
      const T* from = b.data + (first + j) * b.column_stride;
      for (Index k = 0; k < depth; ++k) out[k * kColumns + j] = from[k * b.row_stride];
    }
  }
}

// NOLINTBEGIN(modernize-avoid-c-arrays): std::array drops the attributes of vector types
/// c (+)= a b as dot products, for operands whose memory runs along the depth: nothing is packed.
template <class T>
void multiply_dots(Operand<T> a, Operand<T> b, Index depth, MatrixView<T> c, bool add) {
  using Vector = typename Simd<T>::Vector;
  constexpr Index kHeight = 4;  // 4 x 3 accumulators
  constexpr Index kWidth = 3;
  for (Index i = 0; i < c.rows; i += kHeight) {
    for (Index j = 0; j < c.columns; j += kWidth) {
      // What the tile has beyond c's edge repeats the last row or column and is not stored.
      const T* left[kHeight];
      const T* right[kWidth];
      for (Index p = 0; p < kHeight; ++p)
        left[p] = a.data + std::min(i + p, c.rows - 1) * a.row_stride;
      for (Index q = 0; q < kWidth; ++q)
        right[q] = b.data + std::min(j + q, c.columns - 1) * b.column_stride;
      Vector sum[kHeight][kWidth] = {};
      Index k = 0;
      for (; k + kLanes<T> <= depth; k += kLanes<T>) {
        Vector factor[kWidth];
        for (Index q = 0; q < kWidth; ++q) factor[q] = load(right[q] + k);
        for (Index p = 0; p < kHeight; ++p) {
          const Vector other = load(left[p] + k);
          for (Index q = 0; q < kWidth; ++q) sum[p][q] += other * factor[q];
        }
      }
      for (Index p = 0; p < std::min(kHeight, c.rows - i); ++p) {
        for (Index q = 0; q < std::min(kWidth, c.columns - j); ++q) {
          alignas(kVectorBytes) Eigen::Array<T, kLanes<T>, 1> lanes;
          store(lanes.data(), sum[p][q]);
          T total = lanes.sum();
          for (Index m = k; m < depth; ++m) total += left[p][m] * right[q][m];
          T& out = c.row(i + p)[j + q];
          out = add ? out + total : total;
        }
      }
    }
  }
}
// NOLINTEND(modernize-avoid-c-arrays)

}  // namespace

template <class T>
void multiply(Operand<T> a, Operand<T> b, Index depth, MatrixView<T> c, Into into) {
  if (depth == 0 && into == Into::overwrite) c.map().setZero();
  if (a.column_stride == 1 && b.row_stride == 1 && c.rows <= kFewRows && depth >= kGreatDepth) {
    return multiply_dots(a, b, depth, c, into == Into::add);
  }
  alignas(kVectorBytes) std::array<T, kDepth * kPanel<T>> panel;  // not initialised: 32 kB
  for (Index k = 0; k < depth; k += kDepth) {
    const Index rows = std::min(kDepth, depth - k);
    const Operand<T> left{a.data + k * a.column_stride, a.row_stride, a.column_stride};
    const Operand<T> right{b.data + k * b.row_stride, b.row_stride, b.column_stride};
    for (Index j = 0; j < c.columns; j += kPanel<T>) {
      const Index columns = std::min(kPanel<T>, c.columns - j);
      constexpr Index kOne = kLanes<T>;
      constexpr Index kOneAndHalf = kOne / 2 * 3;
      const bool half = kHalves && columns > kOne && columns <= kOneAndHalf;
      const Index width = half ? kOneAndHalf : columns > kOne ? kPanel<T> : kOne;
      pack_panel(right, rows, j, columns, width, panel.data());
      const bool add = into == Into::add || k > 0;
      if (half) {
        multiply_panel<T, 1, kHalves>(left, panel.data(), rows, c.slice(j, columns), add);
      } else if (columns > kOne) {
        multiply_panel<T, 2>(left, panel.data(), rows, c.slice(j, columns), add);
      } else {
        multiply_panel<T, 1>(left, panel.data(), rows, c.slice(j, columns), add);
      }
    }
  }
}

template void multiply(Operand<float>, Operand<float>, Index, MatrixView<float>, Into);
template void multiply(Operand<double>, Operand<double>, Index, MatrixView<double>, Into);

}  // namespace attica::networks
