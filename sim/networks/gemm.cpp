#include "attica/sim/networks/gemm.hpp"

#include <algorithm>
#include <array>

namespace attica::networks {
namespace {

constexpr Index kRows =
    6;  // rows of a register tile: 6 x 2 accumulators hide the latency of the FMA
constexpr Index kDepth = 256;  // rows of a panel kept in the first-level cache (32 kB)

/// Columns of a panel of the packed right operand.
template <class T>
inline constexpr Index kPanel = 2 * kLanes<T>;

template <class T>
struct Simd {
  using Vector __attribute__((vector_size(kVectorBytes))) = T;
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

/// Rows x (V vectors) of c (+)= a b, where b is a panel of kPanel columns; `columns` of the tile
/// are stored.
template <class T, Index Rows, int V>
void tile(Operand<T> a, const T* b, Index depth, T* c, Index stride, Index columns, bool add) {
  using Vector = typename Simd<T>::Vector;
  constexpr Index lanes = kLanes<T>;
  Vector sum[Rows][V] = {};
  for (Index k = 0; k < depth; ++k) {
    Vector right[V];
    for (int v = 0; v < V; ++v)
      right[v] = *reinterpret_cast<const Vector*>(b + k * kPanel<T> + v * lanes);
    for (Index i = 0; i < Rows; ++i) {
      const T left = a.data[i * a.row_stride + k * a.column_stride];
      for (int v = 0; v < V; ++v) sum[i][v] += left * right[v];
    }
  }
  if (columns == V * lanes) {
    for (Index i = 0; i < Rows; ++i) {
      for (int v = 0; v < V; ++v) {
        T* out = c + i * stride + v * lanes;
        store(out, add ? load(out) + sum[i][v] : sum[i][v]);
      }
    }
    return;
  }
  // A ragged edge: the last full vector that fits is stored over the first where they overlap, with
  // equal values.
  alignas(kVectorBytes) T edge[V * lanes];
  for (Index i = 0; i < Rows; ++i) {
    T* out = c + i * stride;
    for (int v = 0; v < V; ++v) *reinterpret_cast<Vector*>(edge + v * lanes) = sum[i][v];
    if (columns >= lanes) {
      const Index last = columns - lanes;
      Vector head = load(edge);
      Vector tail = load(edge + last);
      if (add) {
        head += load(out);
        tail += load(out + last);
      }
      store(out, head);
      store(out + last, tail);
    } else {
      for (Index j = 0; j < columns; ++j) out[j] = add ? out[j] + edge[j] : edge[j];
    }
  }
}

template <class T>
using Tile = void (*)(Operand<T>, const T*, Index, T*, Index, Index, bool);

template <class T, int V>
constexpr std::array<Tile<T>, kRows> kTiles = {
    tile<T, 1, V>, tile<T, 2, V>, tile<T, 3, V>, tile<T, 4, V>, tile<T, 5, V>, tile<T, 6, V>};

/// All rows of one panel's columns.
template <class T>
void multiply_panel(Operand<T> a, const T* b, Index depth, MatrixView<T> c, bool add) {
  const auto& tiles = c.columns > kLanes<T> ? kTiles<T, 2> : kTiles<T, 1>;
  for (Index i = 0; i < c.rows; i += kRows) {
    const Index rows = std::min(kRows, c.rows - i);
    const Operand<T> at{a.data + i * a.row_stride, a.row_stride, a.column_stride};
    tiles[static_cast<std::size_t>(rows - 1)](at, b, depth, c.row(i), c.stride, c.columns, add);
  }
}

/// Rows of b's columns first..first+columns-1, zero-padded to a panel.
template <class T>
void pack_panel(Operand<T> b, Index depth, Index first, Index columns, T* out) {
  constexpr Index panel = kPanel<T>;
  if (columns < panel) std::fill_n(out, depth * panel, T(0));
  if (b.column_stride == 1) {
    for (Index k = 0; k < depth; ++k) {
      std::copy_n(b.data + k * b.row_stride + first, columns, out + k * panel);
    }
  } else {
    for (Index j = 0; j < columns; ++j) {
      const T* from = b.data + (first + j) * b.column_stride;
      for (Index k = 0; k < depth; ++k) out[k * panel + j] = from[k * b.row_stride];
    }
  }
}

}  // namespace

template <class T>
void multiply(Operand<T> a, Operand<T> b, Index depth, MatrixView<T> c, Into into) {
  if (depth == 0 && into == Into::overwrite) c.map().setZero();
  alignas(kVectorBytes) T panel[kDepth * kPanel<T>];
  for (Index k = 0; k < depth; k += kDepth) {
    const Index rows = std::min(kDepth, depth - k);
    const Operand<T> left{a.data + k * a.column_stride, a.row_stride, a.column_stride};
    const Operand<T> right{b.data + k * b.row_stride, b.row_stride, b.column_stride};
    for (Index j = 0; j < c.columns; j += kPanel<T>) {
      const Index columns = std::min(kPanel<T>, c.columns - j);
      pack_panel(right, rows, j, columns, panel);
      multiply_panel(left, panel, rows, c.slice(j, columns), into == Into::add || k > 0);
    }
  }
}

template void multiply(Operand<float>, Operand<float>, Index, MatrixView<float>, Into);
template void multiply(Operand<double>, Operand<double>, Index, MatrixView<double>, Into);

}  // namespace attica::networks
