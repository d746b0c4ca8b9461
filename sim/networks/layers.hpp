#pragma once
/// @file
/// @brief The layers of a network as pairs of free functions: x_forward computes, x_backward turns
/// the gradient of the loss by the output (d<output>) into gradients by the inputs and parameters.
///
/// Matrices are row-major, one row per token position. Gradients of parameters are added to; a
/// gradient by an input is written or added as `Into` says. Parameter and gradient views may have
/// data = nullptr where the network has no such part, or where its gradient is not wanted. Shapes
/// of the arguments stand in the first lines.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "attica/core/random.hpp"
#include "attica/sim/networks/batch.hpp"
#include "attica/sim/networks/gemm.hpp"
#include "attica/sim/networks/shape.hpp"

namespace attica::networks {

// ---- embedding: x = scale table[token] + code[position]

/// @param tokens  n ids; sequences start at `offsets`
/// @param table   V x D
/// @param code    length x D; no data: no position code
/// @param x       n x D, written
template <class T>
void embedding_forward(const Batch& batch,
                       MatrixView<const T> table,
                       MatrixView<const T> code,
                       double scale,
                       MatrixView<T> x);
template <class T>
void embedding_backward(MatrixView<const T> dx,
                        const Batch& batch,
                        double scale,
                        MatrixView<T> dtable,
                        MatrixView<T> dcode);
/// @brief The sinusoidal code: code(p, 2i) = sin(p / 10000^(2i/Dp)), code(p, 2i+1) = cos of the
/// same angle.
template <class T>
void sinusoidal_code(MatrixView<T> code);

// ---- linear: y = x w^T + b

/// @param x  n x in
/// @param w  out x in
/// @param b  out x 1, or no data
/// @param y  n x out, written
template <class T>
void linear_forward(MatrixView<const T> x,
                    MatrixView<const T> w,
                    MatrixView<const T> b,
                    MatrixView<T> y);
/// @param dx n x in, or no data
/// @param dw out x in, or no data; @param db out x 1, or no data
template <class T>
void linear_backward(MatrixView<const T> dy,
                     MatrixView<const T> x,
                     MatrixView<const T> w,
                     MatrixView<T> dx,
                     Into into,
                     MatrixView<T> dw,
                     MatrixView<T> db);

// ---- LayerNorm: normed = (x - mean) / sqrt(var + epsilon) over each row, y = gain o normed + bias

/// @param x           n x D
/// @param gain,bias   D x 1
/// @param normed      n x D, written, kept for the backward pass
/// @param inverse_sd  n x 1, written, kept for the backward pass
/// @param y           n x D, written; may be x
template <class T>
void layer_norm_forward(MatrixView<const T> x,
                        MatrixView<const T> gain,
                        MatrixView<const T> bias,
                        double epsilon,
                        MatrixView<T> normed,
                        MatrixView<T> inverse_sd,
                        MatrixView<T> y);
/// @param dx n x D; may be dy with Into::overwrite
template <class T>
void layer_norm_backward(MatrixView<const T> dy,
                         MatrixView<const T> normed,
                         MatrixView<const T> inverse_sd,
                         MatrixView<const T> gain,
                         MatrixView<T> dx,
                         Into into,
                         MatrixView<T> dgain,
                         MatrixView<T> dbias);

// ---- activation: y = phi(s)

/// @param s  n x M, contiguous; @param y n x M, contiguous, written; may be s where it is not
/// needed again
template <class T>
void activation_forward(Activation phi, MatrixView<const T> s, MatrixView<T> y);
/// @param dy n x M on entry, ds = dy o phi'(s) on return
template <class T>
void activation_backward(Activation phi, MatrixView<const T> s, MatrixView<T> dy);

// ---- dropout: y = x o keep

/// @param keep n x M, written row by row: 0 with the given probability, else 1 / (1 - probability)
template <class T>
void draw_dropout(double probability, RandomStream& stream, MatrixView<T> keep);
/// @brief x o keep in place; the backward pass is the same function of dy.
template <class T>
void apply_dropout(MatrixView<const T> keep, MatrixView<T> x);

// ---- loss: sum_s weight_s l(logits_s, target_s)

/// @param logits  n x C, one row per site
/// @param targets n classes; @param weights n numbers
/// @return the weighted sum, accumulated in double
template <class T>
double loss_forward(Loss loss,
                    MatrixView<const T> logits,
                    std::span<const std::int32_t> targets,
                    std::span<const double> weights);
/// @param logits n x C on entry, the gradient of the weighted sum by them on return
/// @return as loss_forward
template <class T>
double loss_backward(Loss loss,
                     MatrixView<T> logits,
                     std::span<const std::int32_t> targets,
                     std::span<const double> weights);

/// @brief Row k of `to` is row rows[k] of `from`.
template <class T>
void gather_rows(MatrixView<const T> from,
                 const std::vector<std::int32_t>& rows,
                 MatrixView<T> to) {
  for (std::size_t k = 0; k < rows.size(); ++k) {
    std::copy_n(from.row(rows[k]), from.columns, to.row(static_cast<Index>(k)));
  }
}
/// @brief The inverse: row rows[k] of `to` is row k of `from`.
template <class T>
void spread_rows(MatrixView<const T> from,
                 const std::vector<std::int32_t>& rows,
                 MatrixView<T> to) {
  for (std::size_t k = 0; k < rows.size(); ++k) {
    std::copy_n(from.row(static_cast<Index>(k)), from.columns, to.row(rows[k]));
  }
}

}  // namespace attica::networks
