#include "attica/sim/networks/attention.hpp"

#include <algorithm>

#include "attica/sim/networks/chunks.hpp"
#include "attica/sim/networks/layers.hpp"

namespace attica::networks {
namespace {

constexpr double kUnseen = -1e30;  // a score that no real one reaches

/// Calls f(sequence, head, weights of both) in a fixed order.
template <class T, class F>
void for_each_head(const AttentionLayout& layout, T* weights, F f) {
  for (std::size_t b = 0; b < layout.sequences.size(); ++b) {
    for (Index h = 0; h < layout.heads; ++h) {
      f(layout.sequences[b], h, layout.weights(weights, b, h));
    }
  }
}

/// Rows of one sequence and columns of one head.
template <class T>
MatrixView<T> part(MatrixView<T> m, Index first, Index rows, Index head, Index heads) {
  const Index columns = m.columns / heads;
  return m.block(first, rows).slice(head * columns, columns);
}

/// Products of few short rows cost less where they stand than in a kernel that packs operands:
/// calls f with the rows' width as a constant, unless it is none of the usual ones or rows are
/// many, of both operands.
template <class F>
[[gnu::always_inline]] inline bool in_place(Index rows, Index others, Index width, F f) {
  constexpr Index kMost = 64;
  if (rows * others > kMost && std::min(rows, others) > 1) return false;
  switch (width) {
    case 4:
      f(ChunkWidth<4>{});
      return true;
    case 8:
      f(ChunkWidth<8>{});
      return true;
    case 16:
      f(ChunkWidth<16>{});
      return true;
    default:
      return false;
  }
}

/// c_ik = a_i . b_k
template <class T>
void multiply_rows(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) {
  const bool done = in_place(c.rows, c.columns, a.columns, [&](auto width) {
    for (Index i = 0; i < c.rows; ++i) {
      const Eigen::Array<T, width, 1> left = chunk(width, a.row(i));
      T* out = c.row(i);
      for (Index k = 0; k < c.columns; ++k) out[k] = (left * chunk(width, b.row(k))).sum();
    }
  });
  if (!done) multiply(plain(a), transposed(b), a.columns, c, Into::overwrite);
}

/// c_i (+)= sum_k w_ik b_k
template <class T>
void mix_rows(Operand<T> w, MatrixView<const T> b, MatrixView<T> c, Into into = Into::overwrite) {
  const bool done = in_place(c.rows, b.rows, b.columns, [&](auto width) {
    for (Index i = 0; i < c.rows; ++i) {
      Eigen::Array<T, width, 1> sum = Eigen::Array<T, width, 1>::Zero();
      if (into == Into::add) sum = chunk(width, c.row(i));
      const T* weight = w.data + i * w.row_stride;
      for (Index k = 0; k < b.rows; ++k)
        sum += weight[k * w.column_stride] * chunk(width, b.row(k));
      chunk(width, c.row(i)) = sum;
    }
  });
  if (!done) multiply(w, plain(b), b.rows, c, into);
}

}  // namespace

template <class T>
void AttentionLayout::set(const Batch& batch,
                          std::span<const std::int32_t> query_rows,
                          Index head_count) {
  heads = head_count;
  sequences.clear();
  query_positions.clear();
  weight_count = 0;
  std::size_t query = 0;
  for (std::size_t b = 0; b < batch.sequences(); ++b) {
    const Index first = batch.offsets[b];
    const Index end = batch.offsets[b + 1];
    Sequence s{.first_key = first,
               .keys = end - first,
               .first_query = static_cast<Index>(query),
               .queries = 0,
               .weights = weight_count,
               .stride = padded<T>(end - first)};
    for (; query < query_rows.size() && query_rows[query] < end; ++query) {
      query_positions.push_back(query_rows[query] - first);
    }
    s.queries = static_cast<Index>(query) - s.first_query;
    weight_count += heads * s.queries * s.stride;
    sequences.push_back(s);
  }
}

AttentionLayout AttentionLayout::folded() const {
  AttentionLayout all{.sequences = sequences, .query_positions = {}, .weight_count = weight_count};
  for (Sequence& s : all.sequences) {
    const auto first = query_positions.begin() + s.first_query;
    for (Index h = 0; h < heads; ++h) {
      all.query_positions.insert(all.query_positions.end(), first, first + s.queries);
    }
    s.first_query *= heads;
    s.queries *= heads;
  }
  return all;
}

template <class T>
void softmax_weights_forward(MatrixView<const T> q,
                             MatrixView<const T> k,
                             double scale,
                             MatrixView<const T> seen,
                             const AttentionLayout& layout,
                             T* weights) {
  const auto factor = static_cast<T>(scale);
  for_each_head(layout, weights, [&](const AttentionLayout::Sequence& s, Index h, MatrixView<T> w) {
    const auto qh = part(q, s.first_query, s.queries, h, layout.heads);
    const auto kh = part(k, s.first_key, s.keys, h, layout.heads);
    multiply_rows<T>(qh, kh, w);
    for (Index i = 0; i < w.rows; ++i) {
      T* scores = w.row(i);
      if (seen.data == nullptr) {
        const T top = factor * chunked_max(w.columns, scores);
        for_chunks(s.stride, [=](auto c, Index j) {
          chunk(c, scores + j) = (factor * chunk(c, scores + j) - top).exp();
        });
      } else {
        const Index position = layout.query_positions[static_cast<std::size_t>(s.first_query + i)];
        const T* see = seen.row(position);
        for_chunks(s.stride, [=](auto c, Index j) {
          chunk(c, scores + j) = factor * chunk(c, scores + j) * chunk(c, see + j) +
                                 (T(1) - chunk(c, see + j)) * static_cast<T>(kUnseen);
        });
        const T top = chunked_max(w.columns, scores);
        for_chunks(s.stride, [=](auto c, Index j) {
          chunk(c, scores + j) = (chunk(c, scores + j) - top).exp() * chunk(c, see + j);
        });
      }
      zero_row(s.stride - w.columns, scores + w.columns);
      const T sum = chunked_sum<T>(s.stride, [=](auto c, Index j) { return chunk(c, scores + j); });
      const T share = T(1) / sum;
      for_chunks(s.stride, [=](auto c, Index j) { chunk(c, scores + j) *= share; });
    }
  });
}

template <class T>
void softmax_weights_backward(T* dweights,
                              const T* weights,
                              MatrixView<const T> q,
                              MatrixView<const T> k,
                              double scale,
                              const AttentionLayout& layout,
                              MatrixView<T> dq,
                              MatrixView<T> dk,
                              Into into) {
  const auto factor = static_cast<T>(scale);
  for_each_head(
      layout, dweights, [&](const AttentionLayout::Sequence& s, Index h, MatrixView<T> d) {
        const T* a = weights + (d.data - dweights);
        for (Index i = 0; i < d.rows; ++i) {
          const ArrayMap<const T> w(a + i * d.stride, d.stride);
          ArrayMap<T> dw(d.row(i), d.stride);
          const T mean = (w * dw).sum();
          dw = factor * w * (dw - mean);
        }
        const auto qh = part(q, s.first_query, s.queries, h, layout.heads);
        const auto kh = part(k, s.first_key, s.keys, h, layout.heads);
        mix_rows<T>(plain(d), kh, part(dq, s.first_query, s.queries, h, layout.heads));
        mix_rows<T>(transposed(d), qh, part(dk, s.first_key, s.keys, h, layout.heads), into);
      });
}

template <class T>
void factored_weights_forward(MatrixView<const T> a,
                              MatrixView<const T> seen,
                              const AttentionLayout& layout,
                              T* weights) {
  const Index length = a.columns;
  for_each_head(layout, weights, [&](const AttentionLayout::Sequence& s, Index h, MatrixView<T> w) {
    for (Index i = 0; i < w.rows; ++i) {
      const Index position = layout.query_positions[static_cast<std::size_t>(s.first_query + i)];
      ArrayMap<T> out(w.row(i), s.stride);
      out.setZero();
      out.head(s.keys) = ArrayMap<const T>(a.row(h * length + position), s.keys);
      if (seen.data != nullptr) out *= ArrayMap<const T>(seen.row(position), s.stride);
    }
  });
}

template <class T>
void factored_weights_backward(const T* dweights,
                               MatrixView<const T> seen,
                               const AttentionLayout& layout,
                               MatrixView<T> da) {
  const Index length = da.columns;
  for_each_head(
      layout, dweights, [&](const AttentionLayout::Sequence& s, Index h, MatrixView<const T> d) {
        for (Index i = 0; i < d.rows; ++i) {
          const Index position =
              layout.query_positions[static_cast<std::size_t>(s.first_query + i)];
          ArrayMap<T> out(da.row(h * length + position), s.keys);
          const ArrayMap<const T> in(d.row(i), s.keys);
          if (seen.data == nullptr) {
            out += in;
          } else {
            out += in * ArrayMap<const T>(seen.row(position), s.keys);
          }
        }
      });
}

template <class T>
void mix_forward(const T* weights,
                 MatrixView<const T> v,
                 const AttentionLayout& layout,
                 MatrixView<T> mixed) {
  for_each_head(
      layout, weights, [&](const AttentionLayout::Sequence& s, Index h, MatrixView<const T> w) {
        mix_rows<T>(plain(w),
                    part(v, s.first_key, s.keys, h, layout.heads),
                    part(mixed, s.first_query, s.queries, h, layout.heads));
      });
}

template <class T>
void mix_backward(MatrixView<const T> dmixed,
                  const T* weights,
                  MatrixView<const T> v,
                  const AttentionLayout& layout,
                  T* dweights,
                  MatrixView<T> dv) {
  for_each_head(
      layout, weights, [&](const AttentionLayout::Sequence& s, Index h, MatrixView<const T> w) {
        const MatrixView<T> dw{dweights + (w.data - weights), w.rows, w.columns, w.stride};
        const auto dm = part(dmixed, s.first_query, s.queries, h, layout.heads);
        multiply_rows<T>(dm, part(v, s.first_key, s.keys, h, layout.heads), dw);
        for (Index i = 0; i < dw.rows; ++i) {
          zero_row(dw.stride - dw.columns, dw.row(i) + dw.columns);
        }
        mix_rows<T>(transposed(w), dm, part(dv, s.first_key, s.keys, h, layout.heads));
      });
}

template <class T>
void draw_weight_dropout(double probability,
                         RandomStream& stream,
                         const AttentionLayout& layout,
                         T* keep) {
  std::fill_n(keep, layout.weight_count, T(0));
  for_each_head(layout, keep, [&](const AttentionLayout::Sequence&, Index, MatrixView<T> w) {
    draw_dropout(probability, stream, w);
  });
}

#define ATTICA_ATTENTION(T)                                                                        \
  template void AttentionLayout::set<T>(const Batch&, std::span<const std::int32_t>, Index);       \
  template void softmax_weights_forward(MatrixView<const T>,                                       \
                                        MatrixView<const T>,                                       \
                                        double,                                                    \
                                        MatrixView<const T>,                                       \
                                        const AttentionLayout&,                                    \
                                        T*);                                                       \
  template void softmax_weights_backward(T*,                                                       \
                                         const T*,                                                 \
                                         MatrixView<const T>,                                      \
                                         MatrixView<const T>,                                      \
                                         double,                                                   \
                                         const AttentionLayout&,                                   \
                                         MatrixView<T>,                                            \
                                         MatrixView<T>,                                            \
                                         Into);                                                    \
  template void factored_weights_forward(                                                          \
      MatrixView<const T>, MatrixView<const T>, const AttentionLayout&, T*);                       \
  template void factored_weights_backward(                                                         \
      const T*, MatrixView<const T>, const AttentionLayout&, MatrixView<T>);                       \
  template void mix_forward(const T*, MatrixView<const T>, const AttentionLayout&, MatrixView<T>); \
  template void mix_backward(MatrixView<const T>,                                                  \
                             const T*,                                                             \
                             MatrixView<const T>,                                                  \
                             const AttentionLayout&,                                               \
                             T*,                                                                   \
                             MatrixView<T>);                                                       \
  template void draw_weight_dropout(double, RandomStream&, const AttentionLayout&, T*);

ATTICA_ATTENTION(float)
ATTICA_ATTENTION(double)
#undef ATTICA_ATTENTION

}  // namespace attica::networks
