#include "attica/sim/networks/layers.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "attica/sim/networks/chunks.hpp"
#include "attica/sim/networks/gemm.hpp"

namespace attica::networks {
namespace {

template <class T>
ArrayMap<T> row(MatrixView<T> m, Index i) {
  return {m.row(i), m.columns};
}
template <class T>
ArrayMap<T> flat(MatrixView<T> m) {
  return {m.data, m.rows * m.columns};
}
/// Calls f(row, token, position) for every row of the batch.
template <class F>
void for_each_token(const Batch& batch, F f) {
  for (std::size_t b = 0; b < batch.sequences(); ++b) {
    for (std::int32_t r = batch.offsets[b]; r < batch.offsets[b + 1]; ++r) {
      f(Index{r}, Index{batch.tokens[static_cast<std::size_t>(r)]}, Index{r - batch.offsets[b]});
    }
  }
}

/// sums[j] += term(width, i, j) over the rows i, for chunks of columns j. A chunk's sums stay in
/// registers: in memory each row would wait for the one before.
template <class T, class Term>
void add_over_rows(Index rows, Index columns, T* sums, Term term) {
  const auto add = [&](auto width, Index j) {
    Eigen::Array<T, width, 1> sum = chunk(width, sums + j);
    for (Index i = 0; i < rows; ++i) sum += term(width, i, j);
    chunk(width, sums + j) = sum;
  };
  constexpr int kFour = 4 * kLanes<T>;
  Index j = 0;
  for (; j + kFour <= columns; j += kFour) add(ChunkWidth<kFour>{}, j);
  for_chunks(columns - j, [&](auto width, Index k) { add(width, j + k); });
}

/// Rows whose exponentials and logarithms are taken together: classes are few, vectors are long.
constexpr Index kLossRows = 64;
/// Of long rows that are whole vectors, which do not see their neighbours, as many are taken at a
/// time as stay in first-level cache from pass to pass.
template <class T>
Index rows_at_once(MatrixView<const T> logits) {
  constexpr Index kNumbers = 4096;
  const Index n = logits.columns;
  const bool vectors = logits.stride == n && n % kLanes<T> == 0 &&
                       reinterpret_cast<std::uintptr_t>(logits.data) % kVectorBytes == 0;
  return vectors ? std::clamp(kNumbers / n, Index{1}, kLossRows) : kLossRows;
}

/// Cross-entropy of at most kLossRows rows, which become the gradient by the logits.
template <class T>
double softmax_backward(MatrixView<T> logits,
                        std::span<const std::int32_t> targets,
                        std::span<const double> weights) {
  using Numbers = Eigen::Array<double, Eigen::Dynamic, 1, 0, kLossRows, 1>;
  const Index n = logits.columns;
  const Index count = logits.rows;
  Numbers gap(count);
  Numbers sum(count);
  const Index at_once = rows_at_once<T>(logits);
  for (Index first = 0; first < count; first += at_once) {
    const Index end = std::min(first + at_once, count);
    for (Index i = first; i < end; ++i) {
      T* f = logits.row(i);
      const T top = chunked_max(n, f);
      gap[i] = static_cast<double>(top - f[targets[static_cast<std::size_t>(i)]]);
      for_chunks(n, [=](auto w, Index j) { chunk(w, f + j) -= top; });
    }
    if (logits.stride == n) {
      auto some = flat(logits.block(first, end - first));
      some = some.exp();
    } else {
      for (Index i = first; i < end; ++i) row(logits, i) = row(logits, i).exp();
    }
    for (Index i = first; i < end; ++i) {
      T* f = logits.row(i);
      const T total = chunked_sum<T>(n, [=](auto w, Index j) { return chunk(w, f + j); });
      sum[i] = static_cast<double>(total);
      const auto weight = static_cast<T>(weights[static_cast<std::size_t>(i)]);
      const T factor = weight / total;
      for_chunks(n, [=](auto w, Index j) { chunk(w, f + j) *= factor; });
      f[targets[static_cast<std::size_t>(i)]] -= weight;
    }
  }
  return ((sum.log() + gap) * Eigen::Map<const Eigen::ArrayXd>(weights.data(), count)).sum();
}

}  // namespace

template <class T>
void embedding_forward(const Batch& batch,
                       MatrixView<const T> table,
                       MatrixView<const T> code,
                       double scale,
                       MatrixView<T> x) {
  const auto factor = static_cast<T>(scale);
  for_each_token(batch, [&](Index r, Index token, Index position) {
    row(x, r) = factor * row(table, token);
    if (code.data != nullptr) add_row(code.columns, code.row(position), x.row(r));
  });
}

template <class T>
void embedding_backward(MatrixView<const T> dx,
                        const Batch& batch,
                        double scale,
                        MatrixView<T> dtable,
                        MatrixView<T> dcode) {
  const auto factor = static_cast<T>(scale);
  for_each_token(batch, [&](Index r, Index token, Index position) {
    if (dtable.data != nullptr) {
      for_chunks(dtable.columns, [&](auto w, Index j) {
        chunk(w, dtable.row(token) + j) += factor * chunk(w, dx.row(r) + j);
      });
    }
    if (dcode.data != nullptr) add_row(dcode.columns, dx.row(r), dcode.row(position));
  });
}

template <class T>
void sinusoidal_code(MatrixView<T> code) {
  constexpr double kBase = 10000;
  for (Index p = 0; p < code.rows; ++p) {
    for (Index j = 0; j < code.columns; ++j) {
      const auto pair = static_cast<double>(j - j % 2);
      const auto angle =
          static_cast<double>(p) * std::pow(kBase, -pair / static_cast<double>(code.columns));
      code.row(p)[j] = static_cast<T>(j % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
}

template <class T>
void linear_forward(MatrixView<const T> x,
                    MatrixView<const T> w,
                    MatrixView<const T> b,
                    MatrixView<T> y) {
  if (b.data == nullptr) return multiply(plain(x), transposed(w), x.columns, y, Into::overwrite);
  multiply_plus_row(plain(x), transposed(w), x.columns, b.data, y);
}

template <class T>
void linear_backward(MatrixView<const T> dy,
                     MatrixView<const T> x,
                     MatrixView<const T> w,
                     MatrixView<T> dx,
                     Into into,
                     MatrixView<T> dw,
                     MatrixView<T> db) {
  if (dx.data != nullptr) multiply(plain(dy), plain(w), dy.columns, dx, into);
  if (dw.data != nullptr) multiply(transposed(dy), plain(x), dy.rows, dw, Into::add);
  if (db.data == nullptr) return;
  add_over_rows(dy.rows, dy.columns, db.data, [&](auto width, Index i, Index j) {
    return chunk(width, dy.row(i) + j);
  });
}

template <class T>
void layer_norm_forward(MatrixView<const T> x,
                        MatrixView<const T> gain,
                        MatrixView<const T> bias,
                        double epsilon,
                        MatrixView<T> normed,
                        MatrixView<T> inverse_sd,
                        MatrixView<T> y) {
  const Index d = x.columns;
  for (Index i = 0; i < x.rows; ++i) {
    const T* in = x.row(i);
    const T mean =
        chunked_sum<T>(d, [=](auto w, Index j) { return chunk(w, in + j); }) / static_cast<T>(d);
    const T variance =
        chunked_sum<T>(d, [=](auto w, Index j) { return (chunk(w, in + j) - mean).square(); }) /
        static_cast<T>(d);
    const T inverse = T(1) / std::sqrt(variance + static_cast<T>(epsilon));
    inverse_sd.data[i] = inverse;
    T* n = normed.row(i);
    T* out = y.row(i);
    for_chunks(d, [=](auto w, Index j) {
      chunk(w, n + j) = (chunk(w, in + j) - mean) * inverse;
      chunk(w, out + j) = chunk(w, n + j) * chunk(w, gain.data + j) + chunk(w, bias.data + j);
    });
  }
}

template <class T>
void layer_norm_backward(MatrixView<const T> dy,
                         MatrixView<const T> normed,
                         MatrixView<const T> inverse_sd,
                         MatrixView<const T> gain,
                         MatrixView<T> dx,
                         Into into,
                         MatrixView<T> dgain,
                         MatrixView<T> dbias) {
  // dx = (g - mean g - n mean(g o n)) / sd with g = dy o gain: the mean and the direction n drop
  // out.
  const Index columns = dy.columns;
  if (dgain.data != nullptr) {
    add_over_rows(dy.rows, columns, dgain.data, [&](auto w, Index i, Index j) {
      return chunk(w, dy.row(i) + j) * chunk(w, normed.row(i) + j);
    });
  }
  if (dbias.data != nullptr) {
    add_over_rows(dy.rows, columns, dbias.data, [&](auto w, Index i, Index j) {
      return chunk(w, dy.row(i) + j);
    });
  }
  for (Index i = 0; i < dy.rows; ++i) {
    const T* n = normed.row(i);
    const T* d = dy.row(i);
    const T* g = gain.data;
    const T inverse = inverse_sd.data[i];
    const T mean =
        chunked_sum<T>(columns,
                       [=](auto w, Index j) { return chunk(w, d + j) * chunk(w, g + j); }) /
        static_cast<T>(columns);
    const T along = chunked_sum<T>(columns,
                                   [=](auto w, Index j) {
                                     return chunk(w, d + j) * chunk(w, g + j) * chunk(w, n + j);
                                   }) /
                    static_cast<T>(columns);
    T* out = dx.row(i);
    for_chunks(columns, [=](auto w, Index j) {
      const Eigen::Array<T, w, 1> value =
          (chunk(w, d + j) * chunk(w, g + j) - mean - chunk(w, n + j) * along) * inverse;
      if (into == Into::add) {
        chunk(w, out + j) += value;
      } else {
        chunk(w, out + j) = value;
      }
    });
  }
}

template <class T>
void activation_forward(Activation phi, MatrixView<const T> s, MatrixView<T> y) {
  const auto in = flat(s);
  auto out = flat(y);
  switch (phi) {
    case Activation::relu:
      out = in.max(T(0));
      break;
    case Activation::quadratic:
      out = T(0.5) * in.square();
      break;
    case Activation::tanh:
      out = in.tanh();
      break;
    case Activation::silu:
      out = in / (T(1) + (-in).exp());
      break;
  }
}

template <class T>
void activation_backward(Activation phi, MatrixView<const T> s, MatrixView<T> dy) {
  const auto in = flat(s);
  auto d = flat(dy);
  switch (phi) {
    case Activation::relu:
      for (Index i = 0; i < d.size(); ++i) d[i] = in[i] > T(0) ? d[i] : T(0);
      break;
    case Activation::quadratic:
      d *= in;
      break;
    case Activation::tanh:
      d *= T(1) - in.tanh().square();
      break;
    case Activation::silu:  // phi' = p (1 + s (1 - p)), p = 1 / (1 + e^-s)
      d *= (T(1) + in * (T(1) - T(1) / (T(1) + (-in).exp()))) / (T(1) + (-in).exp());
      break;
  }
}

template <class T>
void draw_dropout(double probability, RandomStream& stream, MatrixView<T> keep) {
  // Two 32-bit uniforms per word.
  const auto threshold = static_cast<std::uint32_t>(std::ldexp(probability, 32));
  const auto kept = static_cast<T>(1 / (1 - probability));
  for (Index i = 0; i < keep.rows; ++i) {
    T* out = keep.row(i);
    std::uint64_t word = 0;
    for (Index j = 0; j < keep.columns; ++j) {
      word = j % 2 == 0 ? stream.bits() : word >> 32U;
      out[j] = static_cast<std::uint32_t>(word) < threshold ? T(0) : kept;
    }
  }
}

template <class T>
void apply_dropout(MatrixView<const T> keep, MatrixView<T> x) {
  flat(x) *= flat(keep);
}

template <class T>
double loss_forward(Loss loss,
                    MatrixView<const T> logits,
                    std::span<const std::int32_t> targets,
                    std::span<const double> weights) {
  double total = 0;
  for (Index i = 0; i < logits.rows; ++i) {
    const auto f = row(logits, i);
    const auto s = static_cast<std::size_t>(i);
    double value = 0;
    if (loss == Loss::cross_entropy) {
      const T top = f.maxCoeff();
      value = std::log(static_cast<double>((f - top).exp().sum())) +
              static_cast<double>(top - f[targets[s]]);
    } else {
      value = static_cast<double>(f.square().sum()) + 1 - 2 * static_cast<double>(f[targets[s]]);
    }
    total += weights[s] * value;
  }
  return total;
}

template <class T>
double loss_backward(Loss loss,
                     MatrixView<T> logits,
                     std::span<const std::int32_t> targets,
                     std::span<const double> weights) {
  double total = 0;
  if (loss == Loss::cross_entropy) {
    for (Index first = 0; first < logits.rows; first += kLossRows) {
      const Index count = std::min(kLossRows, logits.rows - first);
      const auto [f, n] =
          std::pair(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
      total += softmax_backward(
          logits.block(first, count), targets.subspan(f, n), weights.subspan(f, n));
    }
    return total;
  }
  for (Index i = 0; i < logits.rows; ++i) {
    auto f = row(logits, i);
    const auto s = static_cast<std::size_t>(i);
    total += weights[s] *
             (static_cast<double>(f.square().sum()) + 1 - 2 * static_cast<double>(f[targets[s]]));
    f[targets[s]] -= T(1);
    f *= 2 * static_cast<T>(weights[s]);
  }
  return total;
}

#define ATTICA_LAYERS(T)                                                                  \
  template void embedding_forward(                                                        \
      const Batch&, MatrixView<const T>, MatrixView<const T>, double, MatrixView<T>);     \
  template void embedding_backward(                                                       \
      MatrixView<const T>, const Batch&, double, MatrixView<T>, MatrixView<T>);           \
  template void sinusoidal_code(MatrixView<T>);                                           \
  template void linear_forward(                                                           \
      MatrixView<const T>, MatrixView<const T>, MatrixView<const T>, MatrixView<T>);      \
  template void linear_backward(MatrixView<const T>,                                      \
                                MatrixView<const T>,                                      \
                                MatrixView<const T>,                                      \
                                MatrixView<T>,                                            \
                                Into,                                                     \
                                MatrixView<T>,                                            \
                                MatrixView<T>);                                           \
  template void layer_norm_forward(MatrixView<const T>,                                   \
                                   MatrixView<const T>,                                   \
                                   MatrixView<const T>,                                   \
                                   double,                                                \
                                   MatrixView<T>,                                         \
                                   MatrixView<T>,                                         \
                                   MatrixView<T>);                                        \
  template void layer_norm_backward(MatrixView<const T>,                                  \
                                    MatrixView<const T>,                                  \
                                    MatrixView<const T>,                                  \
                                    MatrixView<const T>,                                  \
                                    MatrixView<T>,                                        \
                                    Into,                                                 \
                                    MatrixView<T>,                                        \
                                    MatrixView<T>);                                       \
  template void activation_forward(Activation, MatrixView<const T>, MatrixView<T>);       \
  template void activation_backward(Activation, MatrixView<const T>, MatrixView<T>);      \
  template void draw_dropout(double, RandomStream&, MatrixView<T>);                       \
  template void apply_dropout(MatrixView<const T>, MatrixView<T>);                        \
  template double loss_forward(                                                           \
      Loss, MatrixView<const T>, std::span<const std::int32_t>, std::span<const double>); \
  template double loss_backward(                                                          \
      Loss, MatrixView<T>, std::span<const std::int32_t>, std::span<const double>);

ATTICA_LAYERS(float)
ATTICA_LAYERS(double)
#undef ATTICA_LAYERS

}  // namespace attica::networks
