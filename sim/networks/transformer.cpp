#include "attica/sim/networks/transformer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "attica/sim/networks/chunks.hpp"
#include "attica/sim/networks/layers.hpp"

namespace attica::networks {

std::vector<Block> parameter_blocks(const TransformerShape& s) {
  std::vector<Block> blocks;
  const auto add =
      [&](bool present, std::string name, Index rows, Index columns, bool frozen = false) {
        if (present)
          blocks.push_back(
              {.name = std::move(name), .rows = rows, .columns = columns, .frozen = frozen});
      };
  add(true, "W_E", s.vocabulary, s.width, s.embedding == TokenEmbedding::one_hot);
  add(s.position != PositionCode::none,
      "W_P",
      s.length,
      s.width,
      s.position != PositionCode::learnt);
  const bool scores = s.attention == AttentionKind::softmax;
  const bool bias = s.attention_bias;
  const bool norm = s.normalisation != Normalisation::none;
  const bool mlp = s.mlp_width > 0;
  for (int l = 0; l < s.layers; ++l) {
    const std::string layer = fmt::format("layer{}.", l);
    add(scores, layer + "W_Q", s.keys(), s.width);
    add(scores, layer + "W_K", s.keys(), s.width);
    add(true, layer + "W_V", s.width, s.width);
    add(scores && bias, layer + "b_Q", s.keys(), 1);
    add(scores && bias, layer + "b_K", s.keys(), 1);
    add(bias, layer + "b_V", s.width, 1);
    add(!scores, layer + "A", Index{s.heads} * s.length, s.length);
    add(s.output_projection, layer + "W_O", s.width, s.width);
    add(s.output_projection && bias, layer + "b_O", s.width, 1);
    add(norm, layer + "gain_1", s.width, 1);
    add(norm, layer + "bias_1", s.width, 1);
    add(mlp, layer + "W_1", s.mlp_width, s.width);
    add(mlp, layer + "b_1", s.mlp_width, 1);
    add(mlp, layer + "W_2", s.width, s.mlp_width);
    add(mlp, layer + "b_2", s.width, 1);
    add(mlp && norm, layer + "gain_2", s.width, 1);
    add(mlp && norm, layer + "bias_2", s.width, 1);
  }
  add(s.decoder == Decoder::free, "W_dec", s.outputs, s.width);
  add(s.decoder_bias, "b_dec", s.outputs, 1);
  return blocks;
}

namespace {

const TransformerShape& checked(const TransformerShape& shape) {
  validate(shape);
  return shape;
}

}  // namespace

template <class T>
Transformer<T>::Transformer(const TransformerShape& shape)
    : shape_(checked(shape)),
      parameters_(parameter_blocks(shape)),
      gradient_(static_cast<Index>(parameters_.values().size())),
      states_(static_cast<std::size_t>(shape.layers)),
      stream_(static_cast<std::size_t>(shape.layers) + 1),
      stream_buffers_(static_cast<std::size_t>(shape.layers) + 1) {
  const auto& blocks = parameters_.blocks();
  const auto find = [&](const std::string& name) {
    const auto found = std::ranges::find(blocks, name, &Block::name);
    return found == blocks.end() ? -1 : static_cast<int>(found - blocks.begin());
  };
  for (int l = 0; l < shape_.layers; ++l) {
    const auto in_layer = [&](const char* name) {
      return find(fmt::format("layer{}.{}", l, name));
    };
    layer_blocks_.push_back({.w_q = in_layer("W_Q"),
                             .w_k = in_layer("W_K"),
                             .w_v = in_layer("W_V"),
                             .b_q = in_layer("b_Q"),
                             .b_k = in_layer("b_K"),
                             .b_v = in_layer("b_V"),
                             .a = in_layer("A"),
                             .w_o = in_layer("W_O"),
                             .b_o = in_layer("b_O"),
                             .gain_1 = in_layer("gain_1"),
                             .bias_1 = in_layer("bias_1"),
                             .w_1 = in_layer("W_1"),
                             .b_1 = in_layer("b_1"),
                             .w_2 = in_layer("W_2"),
                             .b_2 = in_layer("b_2"),
                             .gain_2 = in_layer("gain_2"),
                             .bias_2 = in_layer("bias_2")});
  }
  w_e_ = find("W_E");
  w_p_ = find("W_P");
  w_dec_ = shape_.decoder == Decoder::tied ? w_e_ : find("W_dec");
  b_dec_ = find("b_dec");

  using Law = InitialValues::Law;
  if (shape_.normalisation != Normalisation::none) {
    parameters_.initialise("gain_1", {.law = Law::constant, .scale = 1}, {});
    if (shape_.mlp_width > 0)
      parameters_.initialise("gain_2", {.law = Law::constant, .scale = 1}, {});
  }
  if (shape_.embedding == TokenEmbedding::one_hot)
    parameters_.initialise("W_E", {.law = Law::identity}, {});
  if (shape_.position == PositionCode::sinusoidal) sinusoidal_code(parameters_.matrix("W_P"));

  if (shape_.mask != AttentionMask::bidirectional) {
    seen_ = seen_buffer_.matrix(shape_.length, padded<T>(shape_.length));
    seen_.map().setZero();
    for (int q = 0; q < shape_.length; ++q) {
      for (int k = 0; k < shape_.length; ++k) seen_.row(q)[k] = shape_.sees(q, k) ? T(1) : T(0);
    }
  }
}

template <class T>
MatrixView<const T> Transformer<T>::parameter(int block) const {
  return stacked(block, block);
}

template <class T>
MatrixView<const T> Transformer<T>::stacked(int first, int last) const {
  if (first < 0) return {};
  const Block& from = parameters_.blocks()[static_cast<std::size_t>(first)];
  const Block& to = parameters_.blocks()[static_cast<std::size_t>(last)];
  const Index size = to.offset + to.size() - from.offset;
  return {
      parameters_.values().data() + from.offset, size / from.columns, from.columns, from.columns};
}

template <class T>
bool Transformer<T>::frozen(int block) const {
  return block < 0 || parameters_.blocks()[static_cast<std::size_t>(block)].frozen;
}

template <class T>
MatrixView<T> Transformer<T>::gradient(std::string_view block) {
  const Block& b = parameters_.block(block);
  return {gradient_.data() + b.offset, b.rows, b.columns, b.columns};
}

template <class T>
MatrixView<T> Transformer<T>::dropout_mask(Buffer<T>& buffer,
                                           MatrixView<T> like,
                                           RandomStream* dropout) {
  if (dropout == nullptr) return {};
  const MatrixView<T> keep = buffer.matrix(like.rows, like.columns);
  draw_dropout(shape_.dropout, *dropout, keep);
  apply_dropout<T>(keep, like);
  return keep;
}

namespace {

std::vector<double> weights_of(const Batch& batch) {
  if (!batch.weights.empty()) return batch.weights;
  return std::vector<double>(batch.sites.size(), 1 / static_cast<double>(batch.sites.size()));
}

}  // namespace

template <class T>
void Transformer<T>::begin_pass(const Batch& batch, const RandomStream* dropout) {
  validate(batch, shape_);
  sites_only_ = batch.sites.size() < batch.tokens.size();
  const std::int32_t positions = shape_.position == PositionCode::none ? 1 : shape_.length;
  const Index pairs = Index{shape_.vocabulary} * positions;
  const auto rows = std::ssize(batch.tokens);
  const auto sites = std::ssize(batch.sites);
  paired_ = dropout == nullptr && 2 * pairs < rows;
  // Numbers that a row's projections cost, against those of a site with all it attends to: these
  // products are small, and slower.
  const Index columns = shape_.keys() + shape_.width;
  const Index mixing = 2 * shape_.heads * (rows / std::ssize(batch.offsets));
  absorbed_ = dropout == nullptr && sites_only_ && !paired(shape_.layers - 1) &&
              shape_.attention == AttentionKind::softmax &&
              2 * sites * (columns + mixing) < rows * columns;
  if (!paired_) return;
  if (pairs_.tokens.empty()) {
    for (std::int32_t token = 0; token < shape_.vocabulary; ++token) {
      pairs_.tokens.insert(pairs_.tokens.end(), static_cast<std::size_t>(positions), token);
    }
    set_equal_lengths(pairs_, positions);
  }
  stream_[0] = stream_buffers_[0].matrix(pairs, shape_.width);
  embedding_forward(pairs_, parameter(w_e_), parameter(w_p_), shape_.embedding_scale, stream_[0]);
  project(0);
}

template <class T>
void Transformer<T>::prepare(const Batch& part) {
  sites_ = part.sites;
  all_rows_.resize(part.tokens.size());
  std::iota(all_rows_.begin(), all_rows_.end(), 0);
  weights_ = weights_of(part);
  full_layout_.set<T>(part, all_rows_, shape_.heads);
  site_layout_.set<T>(part, sites_, shape_.heads);
  if (absorbed_) {
    folded_layout_ = site_layout_.folded();
    folded_rows_.clear();
    for (const AttentionLayout::Sequence& s : site_layout_.sequences) {
      for (Index h = 0; h < shape_.heads; ++h) {
        for (Index i = 0; i < s.queries; ++i) {
          folded_rows_.push_back(
              static_cast<std::int32_t>(h * std::ssize(sites_) + s.first_query + i));
        }
      }
    }
  }
  if (!paired_) return;
  const std::int32_t positions = shape_.position == PositionCode::none ? 1 : shape_.length;
  pair_rows_.clear();
  for (std::size_t b = 0; b < part.sequences(); ++b) {
    for (std::int32_t r = part.offsets[b]; r < part.offsets[b + 1]; ++r) {
      const std::int32_t position = positions == 1 ? 0 : r - part.offsets[b];
      pair_rows_.push_back(part.tokens[static_cast<std::size_t>(r)] * positions + position);
    }
  }
  pair_sites_.clear();
  for (const std::int32_t site : sites_) {
    pair_sites_.push_back(pair_rows_[static_cast<std::size_t>(site)]);
  }
}

template <class T>
void Transformer<T>::forward_layers(const Batch& part, RandomStream* dropout) {
  const auto rows = static_cast<Index>(part.tokens.size());
  keep_embedding_ = {};
  if (!paired_) {
    stream_[0] = stream_buffers_[0].matrix(rows, shape_.width);
    embedding_forward(part, parameter(w_e_), parameter(w_p_), shape_.embedding_scale, stream_[0]);
    keep_embedding_ = dropout_mask(keep_embedding_buffer_, stream_[0], dropout);
  }
  for (int l = 0; l < shape_.layers; ++l) {
    forward_attention(l, dropout);
    forward_mlp(l, dropout);
  }
}

/// Normalises what enters a layer, if it is to be, and projects it: keys and values, in one
/// product, and queries too unless these are of the sites alone.
template <class T>
void Transformer<T>::project(int layer) {
  LayerState& s = states_[static_cast<std::size_t>(layer)];
  const LayerBlocks& w = layer_blocks_[static_cast<std::size_t>(layer)];
  const MatrixView<T> x = stream_[static_cast<std::size_t>(layer)];
  const Index n = x.rows;
  const Index d = shape_.width;
  s.attended = x;
  if (shape_.normalisation == Normalisation::pre) {
    s.attended = s.attended_buffer.matrix(n, d);
    s.normed_1 = s.normed_1_buffer.matrix(n, d);
    s.inverse_sd_1 = s.inverse_sd_1_buffer.matrix(n, 1);
    layer_norm_forward<T>(x,
                          parameter(w.gain_1),
                          parameter(w.bias_1),
                          shape_.norm_epsilon,
                          s.normed_1,
                          s.inverse_sd_1,
                          s.attended);
  }
  if (absorbed(layer)) return;
  const bool factored = shape_.attention == AttentionKind::factored;
  const Index keys = factored ? 0 : shape_.keys();
  const bool with_queries = !factored && !last_at_sites(layer);
  const int first = factored ? w.w_v : with_queries ? w.w_q : w.w_k;
  const int first_bias = factored ? w.b_v : with_queries ? w.b_q : w.b_k;
  s.projections = s.projections_buffer.matrix(n, (with_queries ? keys : 0) + keys + d);
  linear_forward<T>(s.attended, stacked(first, w.w_v), stacked(first_bias, w.b_v), s.projections);
}

template <class T>
void Transformer<T>::forward_attention(int layer, RandomStream* dropout) {
  LayerState& s = states_[static_cast<std::size_t>(layer)];
  const LayerBlocks& w = layer_blocks_[static_cast<std::size_t>(layer)];
  const MatrixView<T> x = stream_[static_cast<std::size_t>(layer)];
  const AttentionLayout& lay = layout(layer);
  const Index d = shape_.width;
  const auto m = static_cast<Index>(lay.query_positions.size());
  const bool at_sites = last_at_sites(layer);

  if (!paired(layer)) project(layer);
  s.attended_queries = s.attended;
  if (at_sites && shape_.attention == AttentionKind::softmax) {
    s.attended_queries = s.attended_queries_buffer.matrix(m, d);
    gather_rows<T>(s.attended, input_sites(layer), s.attended_queries);
  }
  MatrixView<T> projections = s.projections;
  if (paired(layer)) {  // at every row of the part
    projections =
        s.spread_buffer.matrix(static_cast<Index>(pair_rows_.size()), projections.columns);
    gather_rows<T>(s.projections, pair_rows_, projections);
  }
  s.weights = s.weights_buffer.matrix(1, lay.weight_count).data;
  s.middle = s.middle_buffer.matrix(m, d);
  s.mixed = shape_.output_projection ? s.mixed_buffer.matrix(m, d) : s.middle;
  if (absorbed(layer)) {
    s.queries = s.queries_buffer.matrix(m, shape_.keys());
    linear_forward<T>(s.attended_queries, parameter(w.w_q), parameter(w.b_q), s.queries);
    forward_absorbed(layer);
  } else if (shape_.attention == AttentionKind::factored) {
    s.values = projections;
    factored_weights_forward<T>(parameter(w.a), seen_, lay, s.weights);
  } else {
    const Index dk = shape_.keys();
    const Index first = at_sites ? 0 : dk;  // columns before the keys
    if (at_sites) {
      s.queries = s.queries_buffer.matrix(m, dk);
      linear_forward<T>(s.attended_queries, parameter(w.w_q), parameter(w.b_q), s.queries);
    } else {
      s.queries = projections.slice(0, dk);
    }
    s.keys = projections.slice(first, dk);
    s.values = projections.slice(first + dk, d);
    softmax_weights_forward<T>(s.queries, s.keys, shape_.score_scale(), seen_, lay, s.weights);
  }
  s.dropped_weights = s.weights;
  if (dropout != nullptr) {
    s.keep_weights = s.keep_weights_buffer.matrix(1, lay.weight_count).data;
    draw_weight_dropout(shape_.dropout, *dropout, lay, s.keep_weights);
    s.dropped_weights = s.dropped_weights_buffer.matrix(1, lay.weight_count).data;
    ArrayMap<T>(s.dropped_weights, lay.weight_count) =
        ArrayMap<T>(s.weights, lay.weight_count) * ArrayMap<T>(s.keep_weights, lay.weight_count);
  }

  if (!absorbed(layer)) mix_forward<T>(s.dropped_weights, s.values, lay, s.mixed);
  if (shape_.output_projection)
    linear_forward<T>(s.mixed, parameter(w.w_o), parameter(w.b_o), s.middle);
  s.keep_attention = dropout_mask(s.keep_attention_buffer, s.middle, dropout);
  if (shape_.residual) {
    if (at_sites || paired(layer)) {
      const std::vector<std::int32_t>& from = at_sites ? input_sites(layer) : pair_rows_;
      for (Index i = 0; i < m; ++i) {
        add_row(d, x.row(from[static_cast<std::size_t>(i)]), s.middle.row(i));
      }
    } else {
      s.middle.map() += x.map();
    }
  }
  if (shape_.normalisation == Normalisation::post) {
    s.normed_1 = s.normed_1_buffer.matrix(m, d);
    s.inverse_sd_1 = s.inverse_sd_1_buffer.matrix(m, 1);
    layer_norm_forward<T>(s.middle,
                          parameter(w.gain_1),
                          parameter(w.bias_1),
                          shape_.norm_epsilon,
                          s.normed_1,
                          s.inverse_sd_1,
                          s.middle);
  }
}

/// From the queries of the sites to what they mix, by the attended input itself.
template <class T>
void Transformer<T>::forward_absorbed(int layer) {
  LayerState& s = states_[static_cast<std::size_t>(layer)];
  const LayerBlocks& w = layer_blocks_[static_cast<std::size_t>(layer)];
  const Index m = s.queries.rows;
  const Index d = shape_.width;
  const Index all = shape_.heads * m;
  const Index dk = shape_.keys() / shape_.heads;
  const Index dv = d / shape_.heads;
  const MatrixView<T> by_head = by_head_.matrix(all, d);
  for (Index h = 0; h < shape_.heads; ++h) {
    multiply(plain<T>(s.queries.slice(h * dk, dk)),
             plain(parameter(w.w_k).block(h * dk, dk)),
             dk,
             by_head.block(h * m, m),
             Into::overwrite);
  }
  // A bias of the keys would move all scores of a query alike.
  absorbed_queries_ = absorbed_queries_buffer_.matrix(all, d);
  gather_rows<T>(by_head, folded_rows_, absorbed_queries_);
  softmax_weights_forward<T>(
      absorbed_queries_, s.attended, shape_.score_scale(), seen_, folded_layout_, s.weights);

  const MatrixView<T> means = folded_.matrix(all, d);
  mix_forward<T>(s.weights, s.attended, folded_layout_, means);
  attended_means_ = attended_means_buffer_.matrix(all, d);
  spread_rows<T>(means, folded_rows_, attended_means_);
  for (Index h = 0; h < shape_.heads; ++h) {
    const MatrixView<const T> bias = parameter(w.b_v);
    linear_forward<T>(attended_means_.block(h * m, m),
                      parameter(w.w_v).block(h * dv, dv),
                      bias.data == nullptr ? bias : bias.block(h * dv, dv),
                      s.mixed.slice(h * dv, dv));
  }
}

template <class T>
void Transformer<T>::forward_mlp(int layer, RandomStream* dropout) {
  LayerState& s = states_[static_cast<std::size_t>(layer)];
  const LayerBlocks& w = layer_blocks_[static_cast<std::size_t>(layer)];
  MatrixView<T>& out = stream_[static_cast<std::size_t>(layer) + 1];
  const Index m = s.middle.rows;
  const Index d = shape_.width;
  if (shape_.mlp_width == 0) {
    out = s.middle;
    return;
  }
  s.mlp_input = s.middle;
  if (shape_.normalisation != Normalisation::none) {
    s.normed_2 = s.normed_2_buffer.matrix(m, d);
    s.inverse_sd_2 = s.inverse_sd_2_buffer.matrix(m, 1);
  }
  if (shape_.normalisation == Normalisation::pre) {
    s.mlp_input = s.mlp_input_buffer.matrix(m, d);
    layer_norm_forward<T>(s.middle,
                          parameter(w.gain_2),
                          parameter(w.bias_2),
                          shape_.norm_epsilon,
                          s.normed_2,
                          s.inverse_sd_2,
                          s.mlp_input);
  }
  s.preactivation = s.preactivation_buffer.matrix(m, shape_.mlp_width);
  // relu'(s) can be read off relu(s): no second matrix is needed.
  const bool in_place = shape_.activation == Activation::relu;
  s.hidden = in_place ? s.preactivation : s.hidden_buffer.matrix(m, shape_.mlp_width);
  linear_forward<T>(s.mlp_input, parameter(w.w_1), parameter(w.b_1), s.preactivation);
  activation_forward<T>(shape_.activation, s.preactivation, s.hidden);
  s.keep_hidden = dropout_mask(s.keep_hidden_buffer, s.hidden, dropout);

  out = stream_buffers_[static_cast<std::size_t>(layer) + 1].matrix(m, d);
  linear_forward<T>(s.hidden, parameter(w.w_2), parameter(w.b_2), out);
  s.keep_mlp = dropout_mask(s.keep_mlp_buffer, out, dropout);
  if (shape_.residual) out.map() += s.middle.map();
  if (shape_.normalisation == Normalisation::post) {
    layer_norm_forward<T>(out,
                          parameter(w.gain_2),
                          parameter(w.bias_2),
                          shape_.norm_epsilon,
                          s.normed_2,
                          s.inverse_sd_2,
                          out);
  }
}

template <class T>
MatrixView<const T> Transformer<T>::forward(const Batch& batch) {
  begin_pass(batch, nullptr);
  return forward_part(batch);
}

template <class T>
MatrixView<const T> Transformer<T>::forward_part(const Batch& part) {
  prepare(part);
  forward_layers(part, nullptr);
  const MatrixView<T> logits = logits_.matrix(static_cast<Index>(sites_.size()), shape_.outputs);
  linear_forward<T>(stream_.back(), parameter(w_dec_), parameter(b_dec_), logits);
  return logits;
}

template <class T>
double Transformer<T>::loss(const Batch& batch) {
  return loss(batch, forward(batch));
}

template <class T>
double Transformer<T>::loss(const Batch& batch, MatrixView<const T> logits) const {
  return loss_forward(shape_.loss,
                      logits,
                      std::span<const std::int32_t>(batch.targets),
                      std::span<const double>(weights_of(batch)));
}

template <class T>
RowMatrix<T> Transformer<T>::logits(const Batch& batch) {
  begin_pass(batch, nullptr);
  RowMatrix<T> all(static_cast<Index>(batch.sites.size()), shape_.outputs);
  Index row = 0;
  std::size_t first = 0;
  for (const std::size_t end : parts(batch)) {
    const MatrixView<const T> some = forward_part(part_of(batch, first, end));
    all.middleRows(row, some.rows) = some.map();
    row += some.rows;
    first = end;
  }
  return all;
}

template <class T>
MatrixView<const T> Transformer<T>::attention(int layer, int head, std::size_t sequence) const {
  const LayerState& s = states_[static_cast<std::size_t>(layer)];
  return layout(layer).weights(static_cast<const T*>(s.weights), sequence, head);
}

template class Transformer<float>;
template class Transformer<double>;

}  // namespace attica::networks
