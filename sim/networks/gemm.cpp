#include "attica/sim/networks/gemm.hpp"

#if defined(__AVX512VL__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include "attica/sim/networks/chunks.hpp"

namespace attica::networks {
namespace {

/// Whether there are 32 registers, of 64 bytes, and not 16.
constexpr bool kWide = kVectorBytes == 64;
/// Vectors of a panel's row: the more, the fewer numbers are read for a product, and the fewer
/// times the left operand is.
constexpr int kVectors = kWide ? 4 : 2;
constexpr Index kDepth = 256;  ///< rows of a panel

/// Most rows of a register tile of so many vectors and, maybe, half of one: as many sums as there
/// are registers, beside a row of b and a number of a; eight at least, which hide the latency of
/// the FMA.
constexpr Index most_rows(int vectors, bool with_half) {
  if (!kWide) return vectors == 2 ? 6 : 12;
  if (vectors == 4) return 6;
  if (vectors == 3) return 8;
  return with_half ? 10 : 12;
}

// From this depth and up to so many rows dot products are quicker than packing a transposed
// operand.
constexpr Index kGreatDepth = 128;
constexpr Index kFewRows = 64;

/// Columns of a panel of the packed right operand.
template <class T>
inline constexpr Index kPanel = kLanes<T>* kVectors;

template <class T>
struct Simd {
  using Vector __attribute__((vector_size(kVectorBytes))) = T;
  using Half __attribute__((vector_size(kVectorBytes / 2))) = T;
  // The same, at any address.
  using Loose __attribute__((vector_size(kVectorBytes), aligned(alignof(T)), may_alias)) = T;
};

template <class T>
typename Simd<T>::Vector load(const T* p) {
  return *reinterpret_cast<const typename Simd<T>::Loose*>(p);
}
template <class T>
void store(T* p, typename Simd<T>::Vector v) {
  *reinterpret_cast<typename Simd<T>::Loose*>(p) = v;
}

#if defined(__AVX512VL__)
constexpr bool kMasks = true;
inline __m512 widened(__m256 v) { return _mm512_castps256_ps512(v); }
inline __m512d widened(__m256d v) { return _mm512_castpd256_pd512(v); }
inline __m512 load_some(const float* p, __mmask16 which) { return _mm512_maskz_loadu_ps(which, p); }
inline __m512d load_some(const double* p, __mmask8 which) {
  return _mm512_maskz_loadu_pd(which, p);
}
inline void store_some(float* p, __mmask16 which, __m512 v) { _mm512_mask_storeu_ps(p, which, v); }
inline void store_some(double* p, __mmask8 which, __m512d v) { _mm512_mask_storeu_pd(p, which, v); }

/// The first `count` numbers of a vector.
template <class T>
[[gnu::always_inline]] inline void put_some(T* out,
                                            typename Simd<T>::Vector v,
                                            Index count,
                                            bool add) {
  const auto which = static_cast<std::conditional_t<sizeof(T) == 4, __mmask16, __mmask8>>(
      (1U << static_cast<unsigned>(count)) - 1);
  if (add) v += load_some(out, which);
  store_some(out, which, v);
}
#else
constexpr bool kMasks = false;

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

/// The first `count` numbers of a vector.
template <class T>
[[gnu::always_inline]] inline void put_some(T* out,
                                            typename Simd<T>::Vector v,
                                            Index count,
                                            bool add) {
  alignas(kVectorBytes) std::array<T, kLanes<T>> all;
  store(all.data(), v);
  store_pieces<T, kLanes<T> / 2>(out, all.data(), count, add);
}
#endif

/// Whether a panel of more than one vector and at most one and a half takes that many. Where a wide
/// vector keeps two narrow units busy, half of one takes half the time.
constexpr bool kHalves = kMasks;

// NOLINTBEGIN(modernize-avoid-c-arrays): std::array drops the attributes of vector types
/// Rows x (V vectors, and half of one) of c (+)= a b, where b is a panel whose rows are `pitch`
/// numbers apart and aligned; `columns` of the tile are stored.
template <class T, Index Rows, int V, bool WithHalf>
[[gnu::always_inline]] inline void tile(Operand<T> a,
                                        const T* b,
                                        Index pitch,
                                        Index depth,
                                        T* c,
                                        Index stride,
                                        Index columns,
                                        bool add) {
  using Vector = typename Simd<T>::Vector;
  using Half = typename Simd<T>::Half;
  constexpr Index kWidth = kLanes<T>;
  Vector sum[Rows][V] = {};
  Half half_sum[WithHalf ? Rows : 1] = {};
  for (Index k = 0; k < depth; ++k) {
    Vector right[V];
    for (int v = 0; v < V; ++v)
      right[v] = *reinterpret_cast<const Vector*>(b + k * pitch + v * kWidth);
    Half half_right = {};
    if constexpr (WithHalf) half_right = *reinterpret_cast<const Half*>(b + k * pitch + V * kWidth);
    for (Index i = 0; i < Rows; ++i) {
      const T left = a.data[i * a.row_stride + k * a.column_stride];
      for (int v = 0; v < V; ++v) sum[i][v] += left * right[v];
      if constexpr (WithHalf) half_sum[i] += left * half_right;
    }
  }
  for (Index i = 0; i < Rows; ++i) {
    for (int v = 0; v < V; ++v) {
      T* out = c + i * stride + v * kWidth;
      if (columns >= (v + 1) * kWidth) {
        store(out, add ? load(out) + sum[i][v] : sum[i][v]);
      } else {
        put_some(out, sum[i][v], columns - v * kWidth, add);
      }
    }
    if constexpr (WithHalf) {
      put_some(c + i * stride + V * kWidth, widened(half_sum[i]), columns - V * kWidth, add);
    }
  }
}
// NOLINTEND(modernize-avoid-c-arrays)

/// A tile of `rows` <= Rows rows.
template <class T, Index Rows, int V, bool WithHalf>
[[gnu::always_inline]] inline void tile_of(Index rows,
                                           Operand<T> a,
                                           const T* b,
                                           Index pitch,
                                           Index depth,
                                           T* c,
                                           Index stride,
                                           Index columns,
                                           bool add) {
  if (rows == Rows) {
    tile<T, Rows, V, WithHalf>(a, b, pitch, depth, c, stride, columns, add);
  } else if constexpr (Rows > 1) {
    tile_of<T, Rows - 1, V, WithHalf>(rows, a, b, pitch, depth, c, stride, columns, add);
  }
}

/// All rows of one panel's columns, which fill V vectors, and half of one. A function of its own:
/// inlined beside the others it has fewer registers for addresses. Operands by reference: a copy in
/// one vector would wait for the stores of its parts, as long as small products take.
template <class T, int V, bool WithHalf = false>
[[gnu::noinline]] void multiply_panel(
    const Operand<T>& a, const T* b, Index pitch, Index depth, const MatrixView<T>& c, bool add) {
  constexpr Index kMost = most_rows(V, WithHalf);
  Index i = 0;
  // Tiles of nearly equal height: a low one waits for its few sums.
  for (Index tiles = (c.rows + kMost - 1) / kMost; tiles > 0; --tiles) {
    const Index rows = (c.rows - i + tiles - 1) / tiles;
    tile_of<T, kMost, V, WithHalf>(rows,
                                   {a.data + i * a.row_stride, a.row_stride, a.column_stride},
                                   b,
                                   pitch,
                                   depth,
                                   c.row(i),
                                   c.stride,
                                   c.columns,
                                   add);
    i += rows;
  }
}

/// The same for columns that fill at most V vectors.
template <class T, int V>
void multiply_columns(
    const Operand<T>& a, const T* b, Index pitch, Index depth, const MatrixView<T>& c, bool add) {
  if constexpr (V > 1) {
    if (c.columns <= (V - 1) * kLanes<T>) {
      return multiply_columns<T, V - 1>(a, b, pitch, depth, c, add);
    }
  }
  multiply_panel<T, V>(a, b, pitch, depth, c, add);
}

/// Four rows of four numbers as four columns.
template <class T>
void transpose_four(const T* from, Index from_stride, T* to, Index to_stride) {
  using Four __attribute__((vector_size(4 * sizeof(T)), aligned(alignof(T)), may_alias)) = T;
  const auto row = [&](Index i) { return *reinterpret_cast<const Four*>(from + i * from_stride); };
  const auto put = [&](Index i, Four v) { *reinterpret_cast<Four*>(to + i * to_stride) = v; };
  const Four low01 = __builtin_shufflevector(row(0), row(1), 0, 4, 1, 5);
  const Four low23 = __builtin_shufflevector(row(2), row(3), 0, 4, 1, 5);
  put(0, __builtin_shufflevector(low01, low23, 0, 1, 4, 5));
  put(1, __builtin_shufflevector(low01, low23, 2, 3, 6, 7));
  const Four high01 = __builtin_shufflevector(row(0), row(1), 2, 6, 3, 7);
  const Four high23 = __builtin_shufflevector(row(2), row(3), 2, 6, 3, 7);
  put(2, __builtin_shufflevector(high01, high23, 0, 1, 4, 5));
  put(3, __builtin_shufflevector(high01, high23, 2, 3, 6, 7));
}

/// Rows of b's columns first..first+columns-1, `pitch` numbers apart, zero-padded to the width that
/// is read.
template <class T>
void pack_panel(const Operand<T>& b,
                Index depth,
                Index first,
                Index columns,
                Index width,
                Index pitch,
                T* out) {
  if (b.column_stride == 1) {
    for (Index k = 0; k < depth; ++k) {
      T* to = out + k * pitch;
      copy_row(columns, b.data + k * b.row_stride + first, to);
      zero_row(width - columns, to + columns);
    }
    return;
  }
  if (columns < width) {
    for (Index k = 0; k < depth; ++k) zero_row(width - columns, out + k * pitch + columns);
  }
  constexpr Index kFour = 4;
  const bool along = b.row_stride == 1;
  const Index columns_in_fours = along ? columns / kFour * kFour : 0;
  const Index depth_in_fours = along ? depth / kFour * kFour : 0;
  for (Index j = 0; j < columns_in_fours; j += kFour) {
    const T* from = b.data + (first + j) * b.column_stride;
    for (Index k = 0; k < depth_in_fours; k += kFour) {
      transpose_four(from + k, b.column_stride, out + k * pitch + j, pitch);
    }
  }
  for (Index j = 0; j < columns; ++j) {
    const T* from = b.data + (first + j) * b.column_stride;
    for (Index k = j < columns_in_fours ? depth_in_fours : 0; k < depth; ++k) {
      out[k * pitch + j] = from[k * b.row_stride];
    }
  }
}

/// Whether b's columns from `first` on can be read where they are.
template <class T>
bool is_panel(const Operand<T>& b, Index first) {
  constexpr auto kAligned = static_cast<std::uintptr_t>(kVectorBytes);
  return b.column_stride == 1 && b.row_stride % kLanes<T> == 0 &&
         reinterpret_cast<std::uintptr_t>(b.data + first) % kAligned == 0;
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
  alignas(kVectorBytes) std::array<T, kDepth * kPanel<T>> panel;  // not initialised: 64 kB
  for (Index k = 0; k < depth; k += kDepth) {
    const Index rows = std::min(kDepth, depth - k);
    const Operand<T> left{a.data + k * a.column_stride, a.row_stride, a.column_stride};
    const Operand<T> right{b.data + k * b.row_stride, b.row_stride, b.column_stride};
    for (Index j = 0; j < c.columns; j += kPanel<T>) {
      const Index columns = std::min(kPanel<T>, c.columns - j);
      constexpr Index kOne = kLanes<T>;
      constexpr Index kOneAndHalf = kOne / 2 * 3;
      const bool half = kHalves && columns > kOne && columns <= kOneAndHalf;
      const bool add = into == Into::add || k > 0;
      const MatrixView<T> out = c.slice(j, columns);
      if (columns == kPanel<T> && is_panel(right, j)) {
        multiply_panel<T, kVectors>(left, right.data + j, right.row_stride, rows, out, add);
        continue;
      }
      const Index pitch = padded<T>(columns);
      pack_panel(right, rows, j, columns, half ? kOneAndHalf : pitch, pitch, panel.data());
      if (half) {
        multiply_panel<T, 1, kHalves>(left, panel.data(), pitch, rows, out, add);
      } else {
        multiply_columns<T, kVectors>(left, panel.data(), pitch, rows, out, add);
      }
    }
  }
}

template void multiply(Operand<float>, Operand<float>, Index, MatrixView<float>, Into);
template void multiply(Operand<double>, Operand<double>, Index, MatrixView<double>, Into);

}  // namespace attica::networks
