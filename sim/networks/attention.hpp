#pragma once
/// @file
/// @brief Multi-head attention as forward and backward functions: weights from scores (softmax) or
/// trained directly (factored), and the mixing of values by weights.

#include <span>
#include <vector>

#include "attica/core/random.hpp"
#include "attica/sim/networks/batch.hpp"
#include "attica/sim/networks/gemm.hpp"

namespace attica::networks {

/// @brief Where sequences, their queries and their weights lie in the matrices of a batch.
///
/// Keys and values have one row per token; queries one row per token or, in the last layer, one per
/// site. The weights of sequence b and head h are a queries x keys matrix with rows padded to full
/// vectors; padding is 0.
struct AttentionLayout {
  struct Sequence {
    Index first_key = 0;
    Index keys = 0;
    Index first_query = 0;
    Index queries = 0;
    Index weights = 0;  ///< offset of head 0's weights
    Index stride = 0;   ///< of a row of weights
  };
  std::vector<Sequence> sequences;
  std::vector<Index> query_positions;  ///< position in its sequence of every query
  Index heads = 1;
  Index weight_count = 0;

  /// @brief Queries at the given ascending rows of the batch.
  template <class T>
  void set(const Batch& batch, std::span<const std::int32_t> query_rows, Index head_count);

  /// @brief The same weights as those of one head that has the queries of all: those of a sequence
  /// one head after the other.
  AttentionLayout folded() const;

  template <class T>
  MatrixView<T> weights(T* all, std::size_t sequence, Index head) const {
    const Sequence& s = sequences[sequence];
    return {all + s.weights + head * s.queries * s.stride, s.queries, s.keys, s.stride};
  }
};

/// @param q       queries x Dk; @param k n x Dk
/// @param seen    length x padded(length) of 0 and 1 by (query position, key position); no data:
/// all are seen
/// @param weights layout.weight_count numbers, written: softmax over the seen keys of scale q.k;
/// every query sees one
template <class T>
void softmax_weights_forward(MatrixView<const T> q,
                             MatrixView<const T> k,
                             double scale,
                             MatrixView<const T> seen,
                             const AttentionLayout& layout,
                             T* weights);
/// @param dweights gradient by the weights on entry, by the scores q.k on return
/// @param dq queries x Dk, written; @param dk n x Dk, written or added to
template <class T>
void softmax_weights_backward(T* dweights,
                              const T* weights,
                              MatrixView<const T> q,
                              MatrixView<const T> k,
                              double scale,
                              const AttentionLayout& layout,
                              MatrixView<T> dq,
                              MatrixView<T> dk,
                              Into into = Into::overwrite);

/// @param a (heads * length) x length: weight of (query position, key position) for each head;
/// unseen pairs give 0
template <class T>
void factored_weights_forward(MatrixView<const T> a,
                              MatrixView<const T> seen,
                              const AttentionLayout& layout,
                              T* weights);
template <class T>
void factored_weights_backward(const T* dweights,
                               MatrixView<const T> seen,
                               const AttentionLayout& layout,
                               MatrixView<T> da);

/// @param v     n x D
/// @param mixed queries x D, written: weights v, head by head on its columns
template <class T>
void mix_forward(const T* weights,
                 MatrixView<const T> v,
                 const AttentionLayout& layout,
                 MatrixView<T> mixed);
/// @param dweights layout.weight_count numbers, written; @param dv n x D, written
template <class T>
void mix_backward(MatrixView<const T> dmixed,
                  const T* weights,
                  MatrixView<const T> v,
                  const AttentionLayout& layout,
                  T* dweights,
                  MatrixView<T> dv);

/// @brief Draws the keep factors (0 or 1 / (1 - probability)) of all weights; padding gets 0.
template <class T>
void draw_weight_dropout(double probability,
                         RandomStream& stream,
                         const AttentionLayout& layout,
                         T* keep);

}  // namespace attica::networks
