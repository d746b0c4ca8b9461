/// @file
/// @brief The backward pass of Transformer, in the reverse order of the forward pass.

#include <algorithm>
#include <optional>

#include "attica/sim/networks/chunks.hpp"
#include "attica/sim/networks/layers.hpp"
#include "attica/sim/networks/transformer.hpp"

namespace attica::networks {
namespace {

constexpr Index kHeadRows = 256;  // logits are formed for so many sites at a time

/// Row k of `from` is added to row rows[k] of `to`.
template <class T>
void scatter_rows(MatrixView<const T> from,
                  const std::vector<std::int32_t>& rows,
                  MatrixView<T> to) {
  for (std::size_t k = 0; k < rows.size(); ++k) {
    add_row(to.columns, from.row(static_cast<Index>(k)), to.row(rows[k]));
  }
}

}  // namespace

template <class T>
MatrixView<T> Transformer<T>::gradient_of(int block) {
  if (frozen(block)) return {};
  const Block& b = parameters_.blocks()[static_cast<std::size_t>(block)];
  return {gradient_.data() + b.offset, b.rows, b.columns, b.columns};
}

template <class T>
double Transformer<T>::loss_and_gradient(const Batch& batch, const StreamAddress& dropout) {
  std::optional<RandomStream> stream;
  if (shape_.dropout > 0) stream.emplace(dropout);
  return add_gradients(batch,
                       stream ? &*stream : nullptr,
                       [&](const Batch& part, Index first, MatrixView<T> logits) {
                         const auto [from, count] =
                             std::pair(static_cast<std::size_t>(first),
                                       static_cast<std::size_t>(logits.rows));
                         return loss_backward<T>(shape_.loss,
                                                 logits,
                                                 std::span(part.targets).subspan(from, count),
                                                 std::span(weights_).subspan(from, count));
                       });
}

template <class T>
void Transformer<T>::backpropagate(const Batch& batch, const LogitsToGradient& head) {
  Index next = 0;  // sites are met in order, each once
  add_gradients(batch, nullptr, [&](const Batch&, Index, MatrixView<T> logits) {
    head(next, logits);
    next += logits.rows;
    return 0.0;
  });
}

template <class T>
double Transformer<T>::add_gradients(const Batch& batch, RandomStream* masks, const Head& head) {
  gradient_.setZero();
  begin_pass(batch, masks);
  if (paired_) {
    const auto zeros = [](Buffer<T>& buffer, const MatrixView<T>& like) {
      const MatrixView<T> m = buffer.matrix(like.rows, like.columns);
      m.map().setZero();
      return m;
    };
    dpair_projections_ = zeros(dpair_projections_buffer_, states_[0].projections);
    dpair_inputs_ = zeros(dpair_inputs_buffer_, stream_[0]);
    dpair_stream_ = zeros(dpair_stream_buffer_, stream_[0]);
  }
  const std::vector<std::size_t> ends = parts(batch);
  double loss = 0;
  if (ends.size() == 1) loss = add_gradient(batch, masks, head);
  const double each = 1 / static_cast<double>(batch.sites.size());
  std::size_t first = ends.size() == 1 ? ends.back() : 0;
  for (const std::size_t end : ends) {
    Batch part = part_of(batch, first, end);
    first = end;
    if (part.sites.empty()) continue;
    if (batch.weights.empty()) part.weights.assign(part.sites.size(), each);
    loss += add_gradient(part, masks, head);
  }
  if (paired_) backward_pairs();
  return loss;
}

template <class T>
double Transformer<T>::add_gradient(const Batch& batch, RandomStream* dropout, const Head& head) {
  prepare(batch);
  forward_layers(batch, dropout);
  const auto rows = static_cast<Index>(batch.tokens.size());
  MatrixView<T> upstream = upstream_.matrix(rows, shape_.width);
  upstream.rows = static_cast<Index>(sites_.size());
  const double loss = head_backward(batch, upstream, head);
  for (int l = shape_.layers - 1; l >= 0; --l) {
    upstream = backward_attention(l, backward_mlp(l, upstream));
  }
  if (upstream.data != nullptr) backward_embedding(batch, upstream);
  return loss;
}

template <class T>
double Transformer<T>::head_backward(const Batch& batch, MatrixView<T> dtop, const Head& head) {
  double loss = 0;
  for (Index first = 0; first < dtop.rows; first += kHeadRows) {
    const Index count = std::min(kHeadRows, dtop.rows - first);
    const MatrixView<const T> top = stream_.back().block(first, count);
    const MatrixView<T> logits = logits_.matrix(count, shape_.outputs);
    linear_forward<T>(top, parameter(w_dec_), parameter(b_dec_), logits);
    loss += head(batch, first, logits);
    linear_backward<T>(logits,
                       top,
                       parameter(w_dec_),
                       dtop.block(first, count),
                       Into::overwrite,
                       gradient_of(w_dec_),
                       gradient_of(b_dec_));
  }
  return loss;
}

/// Takes the gradient by a layer's output, returns the one by its middle stream (in the same
/// memory).
template <class T>
MatrixView<T> Transformer<T>::backward_mlp(int layer, MatrixView<T> dy) {
  const LayerState& s = states_[static_cast<std::size_t>(layer)];
  const LayerBlocks& w = layer_blocks_[static_cast<std::size_t>(layer)];
  if (shape_.mlp_width == 0) return dy;
  if (shape_.normalisation == Normalisation::post) {
    layer_norm_backward<T>(dy,
                           s.normed_2,
                           s.inverse_sd_2,
                           parameter(w.gain_2),
                           dy,
                           Into::overwrite,
                           gradient_of(w.gain_2),
                           gradient_of(w.bias_2));
  }
  MatrixView<T> dbranch = dy;
  if (shape_.dropout > 0) {
    dbranch = branch_.matrix(dy.rows, dy.columns);
    dbranch.map() = dy.map();
    apply_dropout<T>(s.keep_mlp, dbranch);
  }
  const MatrixView<T> dhidden = dhidden_.matrix(dy.rows, shape_.mlp_width);
  linear_backward<T>(dbranch,
                     s.hidden,
                     parameter(w.w_2),
                     dhidden,
                     Into::overwrite,
                     gradient_of(w.w_2),
                     gradient_of(w.b_2));
  if (shape_.dropout > 0) apply_dropout<T>(s.keep_hidden, dhidden);
  activation_backward<T>(shape_.activation, s.preactivation, dhidden);

  const Into into =
      shape_.residual ? Into::add : Into::overwrite;  // the residual branch passes dy on
  if (shape_.normalisation == Normalisation::pre) {
    const MatrixView<T> dinput = dinput_.matrix(dy.rows, dy.columns);
    linear_backward<T>(dhidden,
                       s.mlp_input,
                       parameter(w.w_1),
                       dinput,
                       Into::overwrite,
                       gradient_of(w.w_1),
                       gradient_of(w.b_1));
    layer_norm_backward<T>(dinput,
                           s.normed_2,
                           s.inverse_sd_2,
                           parameter(w.gain_2),
                           dy,
                           into,
                           gradient_of(w.gain_2),
                           gradient_of(w.bias_2));
  } else {
    linear_backward<T>(
        dhidden, s.mlp_input, parameter(w.w_1), dy, into, gradient_of(w.w_1), gradient_of(w.b_1));
  }
  return dy;
}

/// y = x w^T + b for the blocks first..last that are stacked, their biases (if any) starting at
/// first_bias.
template <class T>
void Transformer<T>::backward_projections(int first,
                                          int last,
                                          int first_bias,
                                          MatrixView<const T> dy,
                                          MatrixView<const T> x,
                                          MatrixView<T> dx,
                                          Into into) {
  linear_backward<T>(dy, x, stacked(first, last), dx, into, {}, {});
  Index column = 0;
  for (int b = first; b <= last; ++b) {
    // Neighbours that are all trained share one product.
    int end = b;
    Index columns = parameters_.blocks()[static_cast<std::size_t>(b)].rows;
    while (!frozen(b) && end < last && !frozen(end + 1)) {
      columns += parameters_.blocks()[static_cast<std::size_t>(++end)].rows;
    }
    const MatrixView<T> one = gradient_of(b);
    linear_backward<T>(dy.slice(column, columns),
                       x,
                       {},
                       {},
                       into,
                       {one.data, columns, one.columns, one.stride},
                       {});
    column += columns;
    b = end;
  }
  column = 0;
  for (int b = first; first_bias >= 0 && b <= last; ++b) {
    const Index columns = parameters_.blocks()[static_cast<std::size_t>(b)].rows;
    linear_backward<T>(
        dy.slice(column, columns), x, {}, {}, into, {}, gradient_of(first_bias + b - first));
    column += columns;
  }
}

/// Takes the gradient by a layer's middle stream, returns the one by its input; no data if nothing
/// below is trained, or if pairs enter the layer, to whose sums it is added.
template <class T>
MatrixView<T> Transformer<T>::backward_attention(int layer, MatrixView<T> dmiddle) {
  const LayerState& s = states_[static_cast<std::size_t>(layer)];
  const LayerBlocks& w = layer_blocks_[static_cast<std::size_t>(layer)];
  const AttentionLayout& lay = layout(layer);
  const Index n = s.attended.rows;
  const Index m = dmiddle.rows;
  const Index d = shape_.width;
  const bool at_sites = last_at_sites(layer);

  if (shape_.normalisation == Normalisation::post) {
    layer_norm_backward<T>(dmiddle,
                           s.normed_1,
                           s.inverse_sd_1,
                           parameter(w.gain_1),
                           dmiddle,
                           Into::overwrite,
                           gradient_of(w.gain_1),
                           gradient_of(w.bias_1));
  }
  MatrixView<T> dbranch = dmiddle;
  if (shape_.dropout > 0) {
    dbranch = branch_.matrix(m, d);
    dbranch.map() = dmiddle.map();
    apply_dropout<T>(s.keep_attention, dbranch);
  }
  MatrixView<T> dmixed = dbranch;
  if (shape_.output_projection) {
    dmixed = dmixed_.matrix(m, d);
    linear_backward<T>(dbranch,
                       s.mixed,
                       parameter(w.w_o),
                       dmixed,
                       Into::overwrite,
                       gradient_of(w.w_o),
                       gradient_of(w.b_o));
  }

  const bool factored = shape_.attention == AttentionKind::factored;
  const Index dk = factored ? 0 : shape_.keys();
  const Index first = at_sites ? 0 : dk;
  MatrixView<T> dprojections;
  T* dweights = dweights_.matrix(1, lay.weight_count).data;
  if (!absorbed(layer)) {
    dprojections = dprojections_.matrix(s.values.rows, first + dk + d);
    mix_backward<T>(
        dmixed, s.dropped_weights, s.values, lay, dweights, dprojections.slice(first + dk, d));
  }
  if (shape_.dropout > 0) {
    ArrayMap<T>(dweights, lay.weight_count) *= ArrayMap<T>(s.keep_weights, lay.weight_count);
  }
  MatrixView<T> dqueries;
  if (absorbed(layer)) {
    dqueries = dqueries_.matrix(m, dk);
  } else if (factored) {
    if (!frozen(w.a)) factored_weights_backward<T>(dweights, seen_, lay, gradient_of(w.a));
  } else {
    dqueries = at_sites ? dqueries_.matrix(m, dk) : dprojections.slice(0, dk);
    softmax_weights_backward<T>(dweights,
                                s.weights,
                                s.queries,
                                s.keys,
                                shape_.score_scale(),
                                lay,
                                dqueries,
                                dprojections.slice(first, dk));
  }

  if (paired(layer)) {
    scatter_rows<T>(dprojections, pair_rows_, dpair_projections_);
    if (at_sites && !factored) {
      const MatrixView<T> dqueries_input = dattended_queries_.matrix(m, d);
      backward_projections(
          w.w_q, w.w_q, w.b_q, dqueries, s.attended_queries, dqueries_input, Into::overwrite);
      scatter_rows<T>(dqueries_input, pair_sites_, dpair_inputs_);
    }
    if (shape_.residual)
      scatter_rows<T>(dmiddle, at_sites ? pair_sites_ : pair_rows_, dpair_stream_);
    return {};
  }

  // Without normalisation in between, the gradient by the projections' input is that by the stream,
  // to which the residual branch adds dmiddle.
  const bool pre = shape_.normalisation == Normalisation::pre;
  const bool input_wanted = layer > 0 || !frozen(w_e_) || !frozen(w_p_);
  // dmiddle has all rows and becomes the result.
  const bool in_place = shape_.residual && !at_sites;
  MatrixView<T> dattended =
      input_wanted || pre || absorbed(layer) ? dinput_.matrix(n, d) : MatrixView<T>{};
  Into into = Into::overwrite;
  if (in_place && !pre && dattended.data != nullptr) {
    dattended = dmiddle;
    into = Into::add;
  }
  const int top = factored ? w.w_v : (at_sites ? w.w_k : w.w_q);
  const int top_bias = factored ? w.b_v : (at_sites ? w.b_k : w.b_q);
  if (absorbed(layer)) {
    backward_absorbed(layer, dmixed, dqueries, dattended);
  } else {
    backward_projections(top, w.w_v, top_bias, dprojections, s.attended, dattended, into);
  }
  if (at_sites && !factored) {
    MatrixView<T> dqueries_input;
    if (dattended.data != nullptr) dqueries_input = dattended_queries_.matrix(m, d);
    backward_projections(
        w.w_q, w.w_q, w.b_q, dqueries, s.attended_queries, dqueries_input, Into::overwrite);
    if (dattended.data != nullptr) {
      scatter_rows<T>(dqueries_input, sites_, dattended);
    }
  }
  if (dattended.data == nullptr) return {};

  MatrixView<T> dx = dattended;
  if (pre) {
    if (in_place) dx = dmiddle;
    layer_norm_backward<T>(dattended,
                           s.normed_1,
                           s.inverse_sd_1,
                           parameter(w.gain_1),
                           dx,
                           in_place ? Into::add : Into::overwrite,
                           gradient_of(w.gain_1),
                           gradient_of(w.bias_1));
  }
  if (shape_.residual && !in_place) {
    scatter_rows<T>(dmiddle, sites_, dx);
  }
  if (dx.data !=
      dmiddle.data) {  // the buffers of this layer are free again only for what lies in upstream_
    const MatrixView<T> upstream = upstream_.matrix(n, d);
    std::copy_n(dx.data, n * d, upstream.data);
    dx = upstream;
  }
  return dx;
}

/// From the gradient by what the sites mix to those by their queries and by the attended input.
template <class T>
void Transformer<T>::backward_absorbed(int layer,
                                       MatrixView<const T> dmixed,
                                       MatrixView<T> dqueries,
                                       MatrixView<T> dattended) {
  const LayerState& s = states_[static_cast<std::size_t>(layer)];
  const LayerBlocks& w = layer_blocks_[static_cast<std::size_t>(layer)];
  const Index m = dmixed.rows;
  const Index d = shape_.width;
  const Index all = shape_.heads * m;
  const Index dk = shape_.keys() / shape_.heads;
  const Index dv = d / shape_.heads;
  const auto rows_of = [](MatrixView<T> gradient, Index first, Index count) {
    return gradient.data == nullptr ? gradient : gradient.block(first, count);
  };
  const MatrixView<T> by_head = by_head_.matrix(all, d);
  for (Index h = 0; h < shape_.heads; ++h) {
    linear_backward<T>(dmixed.slice(h * dv, dv),
                       attended_means_.block(h * m, m),
                       parameter(w.w_v).block(h * dv, dv),
                       by_head.block(h * m, m),
                       Into::overwrite,
                       rows_of(gradient_of(w.w_v), h * dv, dv),
                       rows_of(gradient_of(w.b_v), h * dv, dv));
  }
  const MatrixView<T> dmeans = folded_.matrix(all, d);
  gather_rows<T>(by_head, folded_rows_, dmeans);
  T* dweights = dweights_.matrix(1, folded_layout_.weight_count).data;
  mix_backward<T>(dmeans, s.weights, s.attended, folded_layout_, dweights, dattended);
  const MatrixView<T> dabsorbed = dfolded_.matrix(all, d);
  softmax_weights_backward<T>(dweights,
                              s.weights,
                              absorbed_queries_,
                              s.attended,
                              shape_.score_scale(),
                              folded_layout_,
                              dabsorbed,
                              dattended,
                              Into::add);
  spread_rows<T>(dabsorbed, folded_rows_, by_head);
  for (Index h = 0; h < shape_.heads; ++h) {
    const MatrixView<const T> query = s.queries.slice(h * dk, dk);
    // q W_K takes the place of a linear map's output: its weight is W_K transposed.
    linear_forward<T>(by_head.block(h * m, m),
                      parameter(w.w_k).block(h * dk, dk),
                      {},
                      dqueries.slice(h * dk, dk));
    const MatrixView<T> gradient = rows_of(gradient_of(w.w_k), h * dk, dk);
    if (gradient.data != nullptr) {
      multiply(transposed(query), plain<T>(by_head.block(h * m, m)), m, gradient, Into::add);
    }
  }
}

template <class T>
void Transformer<T>::backward_pairs() {
  const LayerState& s = states_.front();
  const LayerBlocks& w = layer_blocks_.front();
  const bool factored = shape_.attention == AttentionKind::factored;
  const bool at_sites = last_at_sites(0);
  const int first = factored ? w.w_v : at_sites ? w.w_k : w.w_q;
  const int first_bias = factored ? w.b_v : at_sites ? w.b_k : w.b_q;
  backward_projections(
      first, w.w_v, first_bias, dpair_projections_, s.attended, dpair_inputs_, Into::add);
  if (shape_.normalisation == Normalisation::pre) {
    layer_norm_backward<T>(dpair_inputs_,
                           s.normed_1,
                           s.inverse_sd_1,
                           parameter(w.gain_1),
                           dpair_stream_,
                           Into::add,
                           gradient_of(w.gain_1),
                           gradient_of(w.bias_1));
  } else {
    dpair_stream_.map() += dpair_inputs_.map();
  }
  backward_embedding(pairs_, dpair_stream_);
}

template <class T>
void Transformer<T>::backward_embedding(const Batch& batch, MatrixView<T> dx) {
  if (keep_embedding_.data != nullptr) apply_dropout<T>(keep_embedding_, dx);
  embedding_backward<T>(dx, batch, shape_.embedding_scale, gradient_of(w_e_), gradient_of(w_p_));
}

#define ATTICA_BACKWARD(T)                                                                 \
  template double Transformer<T>::loss_and_gradient(const Batch&, const StreamAddress&);   \
  template void Transformer<T>::backpropagate(const Batch&, const LogitsToGradient&);      \
  template double Transformer<T>::add_gradients(const Batch&, RandomStream*, const Head&); \
  template double Transformer<T>::add_gradient(const Batch&, RandomStream*, const Head&);  \
  template MatrixView<T> Transformer<T>::gradient_of(int);                                 \
  template double Transformer<T>::head_backward(const Batch&, MatrixView<T>, const Head&); \
  template MatrixView<T> Transformer<T>::backward_mlp(int, MatrixView<T>);                 \
  template MatrixView<T> Transformer<T>::backward_attention(int, MatrixView<T>);           \
  template void Transformer<T>::backward_projections(                                      \
      int, int, int, MatrixView<const T>, MatrixView<const T>, MatrixView<T>, Into);       \
  template void Transformer<T>::backward_absorbed(                                         \
      int, MatrixView<const T>, MatrixView<T>, MatrixView<T>);                             \
  template void Transformer<T>::backward_pairs();                                          \
  template void Transformer<T>::backward_embedding(const Batch&, MatrixView<T>);

ATTICA_BACKWARD(float)
ATTICA_BACKWARD(double)
#undef ATTICA_BACKWARD

}  // namespace attica::networks
