#include "attica/sim/networks/gemm.hpp"

#if defined(__AVX512VL__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

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

/// The first `count` lanes.
template <class T>
auto first_lanes(Index count) {
  return static_cast<std::conditional_t<sizeof(T) == 4, __mmask16, __mmask8>>(
      (1U << static_cast<unsigned>(count)) - 1);
}

/// `count` numbers, then zeros up to a whole vector.
template <class T>
void copy_padded(const T* from, Index count, T* to) {
  store(to, load_some(from, first_lanes<T>(count)));
}

/// The first `count` numbers of a vector, each with the one at `base` added if there is one.
template <class T>
[[gnu::always_inline]] inline void put_some(T* out,
                                            typename Simd<T>::Vector v,
                                            Index count,
                                            const T* base) {
  const auto which = first_lanes<T>(count);
  if (base != nullptr) v += load_some(base, which);
  store_some(out, which, v);
}
#else
constexpr bool kMasks = false;

/// `count` numbers, then zeros up to a whole vector.
template <class T>
void copy_padded(const T* from, Index count, T* to) {
  std::fill(std::copy_n(from, count, to), to + kLanes<T>, T(0));
}

/// The first `count` < 2 Half numbers from a vector's memory, in pieces of Half, Half / 2, ..., 1.
template <class T, Index Half>
[[gnu::always_inline]] inline void store_pieces(T* out, const T* from, Index count, const T* base) {
  if ((count & Half) != 0) {
    for (Index j = 0; j < Half; ++j) out[j] = base == nullptr ? from[j] : base[j] + from[j];
    out += Half;
    from += Half;
    if (base != nullptr) base += Half;
  }
  if constexpr (Half > 1) store_pieces<T, Half / 2>(out, from, count, base);
}

/// The first `count` numbers of a vector, each with the one at `base` added if there is one.
template <class T>
[[gnu::always_inline]] inline void put_some(T* out,
                                            typename Simd<T>::Vector v,
                                            Index count,
                                            const T* base) {
  alignas(kVectorBytes) std::array<T, kLanes<T>> all;
  store(all.data(), v);
  store_pieces<T, kLanes<T> / 2>(out, all.data(), count, base);
}
#endif

/// Whether a panel of more than one vector and at most one and a half takes that many. Where a wide
/// vector keeps two narrow units busy, half of one takes half the time.
constexpr bool kHalves = kMasks;

// NOLINTBEGIN(modernize-avoid-c-arrays): std::array drops the attributes of vector types
/// What the sums of a product are added to: rows that are `stride` numbers apart; no data: nothing.
template <class T>
struct Base {
  const T* data;
  Index stride;

  const T* at(Index row, Index column) const {
    return data == nullptr ? nullptr : data + row * stride + column;
  }
};

/// Rows x (V vectors, and half of one) of c = base + a b, where b is a panel whose rows are `pitch`
/// numbers apart and aligned; `columns` of the tile are stored.
template <class T, Index Rows, int V, bool WithHalf>
[[gnu::always_inline]] inline void tile(Operand<T> a,
                                        const T* b,
                                        Index pitch,
                                        Index depth,
                                        T* c,
                                        Index stride,
                                        Index columns,
                                        Base<T> base) {
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
      const T* plus = base.at(i, v * kWidth);
      if (columns >= (v + 1) * kWidth) {
        store(out, plus != nullptr ? load(plus) + sum[i][v] : sum[i][v]);
      } else {
        put_some(out, sum[i][v], columns - v * kWidth, plus);
      }
    }
    if constexpr (WithHalf) {
      put_some(c + i * stride + V * kWidth,
               widened(half_sum[i]),
               columns - V * kWidth,
               base.at(i, V * kWidth));
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
                                           Base<T> base) {
  if (rows == Rows) {
    tile<T, Rows, V, WithHalf>(a, b, pitch, depth, c, stride, columns, base);
  } else if constexpr (Rows > 1) {
    tile_of<T, Rows - 1, V, WithHalf>(rows, a, b, pitch, depth, c, stride, columns, base);
  }
}

/// All rows of one panel's columns, which fill V vectors, and half of one. A function of its own:
/// inlined beside the others it has fewer registers for addresses. Operands by reference: a copy in
/// one vector would wait for the stores of its parts, as long as small products take.
template <class T, int V, bool WithHalf = false>
[[gnu::noinline]] void multiply_panel(const Operand<T>& a,
                                      const T* b,
                                      Index pitch,
                                      Index depth,
                                      const MatrixView<T>& c,
                                      const Base<T>& base) {
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
                                   {base.at(i, 0), base.stride});
    i += rows;
  }
}

/// The same for columns that fill at most V vectors.
template <class T, int V>
void multiply_columns(const Operand<T>& a,
                      const T* b,
                      Index pitch,
                      Index depth,
                      const MatrixView<T>& c,
                      const Base<T>& base) {
  if constexpr (V > 1) {
    if (c.columns <= (V - 1) * kLanes<T>) {
      return multiply_columns<T, V - 1>(a, b, pitch, depth, c, base);
    }
  }
  multiply_panel<T, V>(a, b, pitch, depth, c, base);
}

// NOLINTBEGIN(modernize-avoid-c-arrays): std::array drops the attributes of vector types
/// Of two rows, numbers whose places differ in the bit D of a lane change sides.
template <int D, class Vector, std::size_t... Lane>
[[gnu::always_inline]] inline void exchange(Vector& a,
                                            Vector& b,
                                            std::index_sequence<Lane...> /*lanes*/) {
  constexpr std::size_t kCount = sizeof...(Lane);
  const Vector low = __builtin_shufflevector(a, b, ((Lane & D) != 0 ? kCount + Lane - D : Lane)...);
  const Vector high =
      __builtin_shufflevector(a, b, ((Lane & D) != 0 ? kCount + Lane : Lane + D)...);
  a = low;
  b = high;
}

/// Transposes N rows of N numbers, from the bit D of row and lane down.
template <int N, int D, class Vector>
[[gnu::always_inline]] inline void exchange_all(Vector (&rows)[N]) {
  for (int i = 0; i < N; ++i) {
    if ((i & D) == 0) exchange<D>(rows[i], rows[i + D], std::make_index_sequence<N>());
  }
  if constexpr (D > 1) exchange_all<N, D / 2>(rows);
}

/// N rows of N numbers as N columns.
template <class T, int N>
void transpose_block(const T* from, Index from_stride, T* to, Index to_stride) {
  using Vector __attribute__((vector_size(N * sizeof(T)))) = T;
  using Loose __attribute__((vector_size(N * sizeof(T)), aligned(alignof(T)), may_alias)) = T;
  Vector rows[N];
  for (int i = 0; i < N; ++i) rows[i] = *reinterpret_cast<const Loose*>(from + i * from_stride);
  exchange_all<N, N / 2>(rows);
  for (int i = 0; i < N; ++i) *reinterpret_cast<Loose*>(to + i * to_stride) = rows[i];
}
// NOLINTEND(modernize-avoid-c-arrays)

/// b's columns first..first+columns-1, each contiguous in memory, as rows: all of N by N numbers,
/// up to `depth` of them.
template <class T, int N>
void transpose_blocks(
    const Operand<T>& b, Index from, Index depth, Index first, Index columns, Index pitch, T* out) {
  for (Index j = 0; j + N <= columns; j += N) {
    for (Index k = from; k + N <= depth; k += N) {
      transpose_block<T, N>(
          b.data + (first + j) * b.column_stride + k, b.column_stride, out + k * pitch + j, pitch);
    }
  }
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
      const T* from = b.data + k * b.row_stride + first;
      T* to = out + k * pitch;
      Index j = 0;
      for (; j + kLanes<T> <= columns; j += kLanes<T>) store(to + j, load(from + j));
      if (j < width) copy_padded(from + j, columns - j, to + j);
    }
    return;
  }
  if (columns < width) {
    for (Index k = 0; k < depth; ++k) zero_row(width - columns, out + k * pitch + columns);
  }
  // Blocks of whole vectors; of what they leave at both edges, blocks of four; then numbers.
  constexpr int kWhole = kLanes<T>;
  constexpr int kFour = 4;
  Index wide = 0;  // columns and depth that blocks cover
  Index deep = 0;
  if (b.row_stride == 1) {
    transpose_blocks<T, kWhole>(b, 0, depth, first, columns, pitch, out);
    wide = columns / kWhole * kWhole;
    deep = depth / kWhole * kWhole;
    transpose_blocks<T, kFour>(b, deep, depth, first, wide, pitch, out);
    transpose_blocks<T, kFour>(b, 0, depth, first + wide, columns - wide, pitch, out + wide);
    deep = depth / kFour * kFour;
    wide += (columns - wide) / kFour * kFour;
  }
  for (Index j = 0; j < columns; ++j) {
    const T* from = b.data + (first + j) * b.column_stride;
    for (Index k = j < wide ? deep : 0; k < depth; ++k) out[k * pitch + j] = from[k * b.row_stride];
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

/// Whether the product is a few dot products, each along its memory.
template <class T>
bool is_dots(const Operand<T>& a, const Operand<T>& b, Index depth, Index rows) {
  return a.column_stride == 1 && b.row_stride == 1 && rows <= kFewRows && depth >= kGreatDepth;
}

/// c = first + a b; depth > 0.
template <class T>
void multiply_blocks(
    Operand<T> a, Operand<T> b, Index depth, MatrixView<T> c, const Base<T>& first) {
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
      const MatrixView<T> out = c.slice(j, columns);
      const Base<T> base =
          k > 0 ? Base<T>{out.data, c.stride} : Base<T>{first.at(0, j), first.stride};
      if (columns % kLanes<T> == 0 && is_panel(right, j)) {
        multiply_columns<T, kVectors>(left, right.data + j, right.row_stride, rows, out, base);
        continue;
      }
      const Index pitch = padded<T>(columns);
      pack_panel(right, rows, j, columns, half ? kOneAndHalf : pitch, pitch, panel.data());
      if (half) {
        multiply_panel<T, 1, kHalves>(left, panel.data(), pitch, rows, out, base);
      } else {
        multiply_columns<T, kVectors>(left, panel.data(), pitch, rows, out, base);
      }
    }
  }
}

}  // namespace

template <class T>
void multiply(Operand<T> a, Operand<T> b, Index depth, MatrixView<T> c, Into into) {
  const bool add = into == Into::add;
  if (depth == 0 && !add) c.map().setZero();
  if (is_dots(a, b, depth, c.rows)) return multiply_dots(a, b, depth, c, add);
  multiply_blocks(a, b, depth, c, add ? Base<T>{c.data, c.stride} : Base<T>{});
}

template <class T>
void multiply_plus_row(Operand<T> a, Operand<T> b, Index depth, const T* row, MatrixView<T> c) {
  if (depth > 0 && depth <= kDepth && !is_dots(a, b, depth, c.rows)) {
    return multiply_blocks(a, b, depth, c, {row, 0});
  }
  multiply(a, b, depth, c, Into::overwrite);
  for (Index i = 0; i < c.rows; ++i) add_row(c.columns, row, c.row(i));
}

template void multiply(Operand<float>, Operand<float>, Index, MatrixView<float>, Into);
template void multiply(Operand<double>, Operand<double>, Index, MatrixView<double>, Into);
template void multiply_plus_row(
    Operand<float>, Operand<float>, Index, const float*, MatrixView<float>);
template void multiply_plus_row(
    Operand<double>, Operand<double>, Index, const double*, MatrixView<double>);

}  // namespace attica::networks
