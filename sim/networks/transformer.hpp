#pragma once
/// @file
/// @brief A transformer of any TransformerShape: parameters, forward pass, loss and gradient.
///
/// Many sequences go through each projection in one product; attention runs per sequence and head.
/// The last layer's queries, MLP and decoder are evaluated only at the sites of the batch, which
/// changes no number. What enters the first layer depends on token and position alone: where a pass
/// has more than twice as many rows as there are pairs of these, norm and projections of that layer
/// are those of the pairs, each once for all parts of the batch (not under dropout). Where sites
/// are few, keys and values of the last layer are not formed: with q . (W_K x) = (W_K^T q) . x and
/// sum_j w_j (W_V x_j) = W_V sum_j w_j x_j its projections are those of the sites. Workspace is
/// kept between calls, so that a training step allocates little once the largest batch has been
/// seen.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "attica/sim/networks/attention.hpp"
#include "attica/sim/networks/batch.hpp"
#include "attica/sim/networks/parameters.hpp"
#include "attica/sim/networks/shape.hpp"

namespace attica::networks {

/// @brief The parameters of a shape, in storage order:
///   W_E vocabulary x width (rows are embeddings), W_P length x width;
///   per layer l, prefixed "layer<l>.": W_Q, W_K key_width x width, W_V width x width, b_Q, b_K,
///   b_V; with factored attention A (heads * length) x length instead of W_Q, W_K; W_O width x
///   width, b_O; gain_1, bias_1 (LayerNorm at the attention); W_1 mlp_width x width, b_1, W_2 width
///   x mlp_width, b_2; gain_2, bias_2 (LayerNorm at the MLP); W_dec outputs x width, b_dec outputs.
/// A matrix acts as y = W x; parts that the shape does not have are absent. One-hot and sinusoidal
/// tables are frozen.
std::vector<Block> parameter_blocks(const TransformerShape& shape);

/// @brief The network with its gradient and workspace. One object per thread.
template <class T>
class Transformer {
 public:
  /// @brief All parameters 0, except LayerNorm gains (1) and the one-hot and sinusoidal tables.
  /// @throws Error (input) naming the field of the shape that is out of its domain
  explicit Transformer(const TransformerShape& shape);
  Transformer(const Transformer&) =
      delete;  // views into the workspace; copy parameters().values() instead
  Transformer& operator=(const Transformer&) = delete;
  Transformer(Transformer&&) noexcept = default;
  Transformer& operator=(Transformer&&) noexcept = default;
  ~Transformer() = default;

  const TransformerShape& shape() const { return shape_; }
  Parameters<T>& parameters() { return parameters_; }
  const Parameters<T>& parameters() const { return parameters_; }
  /// The gradient of the last loss_and_gradient, laid out as parameters().values(); frozen blocks
  /// are 0.
  std::span<T> gradient() { return {gradient_.data(), static_cast<std::size_t>(gradient_.size())}; }
  /// A block of it as a matrix.
  MatrixView<T> gradient(std::string_view block);

  /// @brief Logits without dropout, batch.sites x outputs; valid until the next call on this
  /// object.
  /// @throws Error (input) if the batch does not fit the shape
  MatrixView<const T> forward(const Batch& batch);
  /// @brief The batch's loss without dropout.
  double loss(const Batch& batch);
  /// @brief The same of its logits.
  double loss(const Batch& batch, MatrixView<const T> logits) const;
  /// @brief What `forward` gives, but for rounding in wide networks, from `parts` of the batch: the
  /// way to look at many sequences. Of the last pass only the last part is left.
  RowMatrix<T> logits(const Batch& batch);
  /// @brief The batch's loss and its gradient, with dropout if the shape has it; from parts of the
  /// batch as `logits`.
  /// @param dropout address of the dropout masks; its id should be StreamId::dropout and its step
  /// the training step
  double loss_and_gradient(const Batch& batch,
                           const StreamAddress& dropout = {.id = StreamId::dropout});

  /// Overwrites the logits of consecutive sites of a batch, the first of which is the batch's site
  /// number `first`, with the gradient by them.
  using LogitsToGradient = std::function<void(Index first, MatrixView<T> logits)>;
  /// @brief The gradient, left in `gradient()`, of a function of the batch's logits; without
  /// dropout. Targets and weights of the batch do not count.
  void backpropagate(const Batch& batch, const LogitsToGradient& head);

  /// Number of sequences of the last pass.
  std::size_t sequences() const { return full_layout_.sequences.size(); }
  /// @brief Attention weights of the last pass, queries x keys. Queries are all positions of the
  /// sequence, in the last layer the sites in it; use set_all_sites to see every query.
  MatrixView<const T> attention(int layer, int head, std::size_t sequence) const;
  /// @brief Hidden units phi(W_1 u + b_1) of the last pass, rows x mlp_width (last layer: sites x
  /// mlp_width).
  MatrixView<const T> hidden(int layer) const {
    return states_[static_cast<std::size_t>(layer)].hidden;
  }
  /// @brief X at the input of a layer in the last pass, rows x width; layer = shape().layers: at
  /// the decoder, sites x width. At layer 0 the rows may be those of all pairs (see above).
  MatrixView<const T> stream(int layer) const { return stream_[static_cast<std::size_t>(layer)]; }

 private:
  /// Indices into parameters().blocks(), -1 where the shape has no such part.
  struct LayerBlocks {
    int w_q = -1, w_k = -1, w_v = -1, b_q = -1, b_k = -1, b_v = -1, a = -1, w_o = -1, b_o = -1;
    int gain_1 = -1, bias_1 = -1, w_1 = -1, b_1 = -1, w_2 = -1, b_2 = -1, gain_2 = -1, bias_2 = -1;
  };
  /// What a layer keeps for its backward pass. n rows (tokens), m queries.
  struct LayerState {
    MatrixView<T> attended;          ///< n x D, input of the projections
    MatrixView<T> attended_queries;  ///< m x D, its rows at the queries
    MatrixView<T> projections;       ///< of the rows of attended
    MatrixView<T> queries, keys, values;
    MatrixView<T> mixed;          ///< m x D
    MatrixView<T> middle;         ///< m x D, the stream between attention and MLP
    MatrixView<T> mlp_input;      ///< m x D
    MatrixView<T> preactivation;  ///< m x M
    MatrixView<T> hidden;         ///< m x M
    MatrixView<T> normed_1, inverse_sd_1, normed_2, inverse_sd_2;
    MatrixView<T> keep_attention, keep_hidden, keep_mlp;
    T* weights = nullptr;          ///< layout.weight_count
    T* dropped_weights = nullptr;  ///< weights after dropout; weights themselves without
    T* keep_weights = nullptr;
    Buffer<T> attended_buffer, attended_queries_buffer, projections_buffer, spread_buffer,
        queries_buffer, mixed_buffer, middle_buffer, mlp_input_buffer, preactivation_buffer,
        hidden_buffer, normed_1_buffer, inverse_sd_1_buffer, normed_2_buffer, inverse_sd_2_buffer,
        keep_attention_buffer, keep_hidden_buffer, keep_mlp_buffer, weights_buffer,
        dropped_weights_buffer, keep_weights_buffer;
  };

  MatrixView<const T> parameter(int block) const;
  MatrixView<T> gradient_of(int block);
  bool frozen(int block) const;
  /// The parameters of consecutive blocks first..last stacked by rows; no data if first is absent.
  MatrixView<const T> stacked(int first, int last) const;

  bool last_at_sites(int layer) const { return layer + 1 == shape_.layers && sites_only_; }
  const AttentionLayout& layout(int layer) const {
    return last_at_sites(layer) ? site_layout_ : full_layout_;
  }

  /// Before the parts of a batch: decides how they go, and projects pairs if they go by pairs.
  void begin_pass(const Batch& batch, const RandomStream* dropout);
  MatrixView<const T> forward_part(const Batch& part);
  void prepare(const Batch& part);
  void forward_layers(const Batch& part, RandomStream* dropout);
  void project(int layer);
  void forward_attention(int layer, RandomStream* dropout);
  void forward_mlp(int layer, RandomStream* dropout);
  MatrixView<T> dropout_mask(Buffer<T>& buffer, MatrixView<T> like, RandomStream* dropout);

  /// Turns the logits of consecutive sites of a part, from number `first` on, into the gradient by
  /// them, and returns their loss.
  using Head = std::function<double(const Batch& part, Index first, MatrixView<T> logits)>;
  double add_gradients(const Batch& batch, RandomStream* dropout, const Head& head);
  double add_gradient(const Batch& part, RandomStream* dropout, const Head& head);
  double head_backward(const Batch& batch, MatrixView<T> dtop, const Head& head);
  MatrixView<T> backward_mlp(int layer, MatrixView<T> dy);
  MatrixView<T> backward_attention(int layer, MatrixView<T> dmiddle);
  /// What follows from the sums that the parts left to the pairs.
  void backward_pairs();
  void backward_projections(int first,
                            int last,
                            int first_bias,
                            MatrixView<const T> dy,
                            MatrixView<const T> x,
                            MatrixView<T> dx,
                            Into into);
  void backward_embedding(const Batch& batch, MatrixView<T> dx);
  /// Rows of the layer's input: of the part, or of pairs of token and position.
  const std::vector<std::int32_t>& input_sites(int layer) const {
    return paired(layer) ? pair_sites_ : sites_;
  }
  bool paired(int layer) const { return layer == 0 && paired_; }
  /// Whether sites project what they attend to, in place of keys and values.
  bool absorbed(int layer) const { return absorbed_ && layer + 1 == shape_.layers; }
  void forward_absorbed(int layer);
  void backward_absorbed(int layer,
                         MatrixView<const T> dmixed,
                         MatrixView<T> dqueries,
                         MatrixView<T> dattended);

  TransformerShape shape_;
  Parameters<T> parameters_;
  Eigen::Array<T, Eigen::Dynamic, 1> gradient_;
  std::vector<LayerBlocks> layer_blocks_;
  int w_e_ = -1, w_p_ = -1, w_dec_ = -1, b_dec_ = -1;
  Buffer<T> seen_buffer_;
  MatrixView<T> seen_;  ///< length x padded(length), 0 or 1; no data: all keys are seen

  // Of the current batch.
  bool sites_only_ = false;  ///< sites are fewer than rows
  bool paired_ = false;      ///< the first layer's input has the rows of pairs_
  bool absorbed_ = false;
  Batch pairs_;  ///< of every token a sequence that repeats it at all positions
  // Of its current part.
  std::vector<std::int32_t> sites_, all_rows_;
  std::vector<std::int32_t> pair_sites_, pair_rows_;  ///< rows of pairs_
  /// Gradients by what the first layer makes of pairs, summed over parts: by the projections, by
  /// what enters them on other ways, and by the stream.
  MatrixView<T> dpair_projections_, dpair_inputs_, dpair_stream_;
  std::vector<double> weights_;
  AttentionLayout full_layout_, site_layout_, folded_layout_;
  std::vector<std::int32_t> folded_rows_;  ///< of all sites of a head after those of another, in
                                           ///< the order of folded_layout_
  MatrixView<T> absorbed_queries_;         ///< W_K^T q, in the order of folded_layout_
  MatrixView<T> attended_means_;  ///< sum_j w_j x_j, all sites of a head after those of another
  std::vector<LayerState> states_;
  std::vector<MatrixView<T>> stream_;
  std::vector<Buffer<T>> stream_buffers_;
  MatrixView<T> keep_embedding_;
  Buffer<T> keep_embedding_buffer_, logits_, upstream_, branch_, dhidden_, dinput_, dmixed_,
      dprojections_, dqueries_, dattended_queries_, dweights_, dpair_projections_buffer_,
      dpair_inputs_buffer_, dpair_stream_buffer_, absorbed_queries_buffer_, attended_means_buffer_,
      by_head_, folded_, dfolded_;
};

extern template class Transformer<float>;
extern template class Transformer<double>;

}  // namespace attica::networks
