#include "attica/sim/init/attention.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

MatrixXd normals(Index rows, Index columns, RandomStream& stream) {
  MatrixXd m(rows, columns);
  stream.fill_normal(std::span(m.data(), static_cast<std::size_t>(m.size())));
  return m;
}

/// Columns √p c + √(1-p) z_t, c and z_t standard normal. @shape{dimension x tokens}
MatrixXd correlated(Index dimension, Index tokens, double cosine, RandomStream& stream) {
  MatrixXd m = std::sqrt(1 - cosine) * normals(dimension, tokens, stream);
  if (cosine > 0) {
    const MatrixXd common = std::sqrt(cosine) * normals(dimension, 1, stream);
    m.colwise() += common.col(0);
  }
  return m;
}

/// Σ_{t≠s} m_t·m_s and Σ_t |m_t|² of columns.
struct Squares {
  double pairs = 0;
  double own = 0;
};
Squares squares_of(const MatrixXd& m) {
  const double own = m.squaredNorm();
  return {.pairs = m.rowwise().sum().squaredNorm() - own, .own = own};
}

}  // namespace

MatrixXd AttentionLayer::draw_tokens(RandomStream& stream) const {
  MatrixXd x = normals(dimension, tokens, stream);
  x.colwise().normalize();
  if (cosine > 0) {
    const VectorXd common = normals(dimension, 1, stream).col(0).normalized();
    x *= std::sqrt(1 - cosine);
    x.colwise() += std::sqrt(cosine) * common;
    x.colwise().normalize();
  }
  return std::sqrt(static_cast<double>(dimension)) * x;
}

LayerDraw draw_layer(const AttentionLayer& layer, RandomStream& stream) {
  MatrixXd queries, keys;
  LayerDraw draw;
  const Index rows = layer.queries > 0 ? std::min(layer.queries, layer.tokens) : layer.tokens;
  if (layer.random_tokens) {
    const MatrixXd x = layer.draw_tokens(stream);
    const double scale = 1 / std::sqrt(static_cast<double>(layer.dimension));
    const auto through = [&](Index outputs, Index columns) {
      const MatrixXd w = normals(outputs, layer.dimension, stream);
      return MatrixXd(scale * (w * x.leftCols(columns)));
    };
    queries = through(layer.key_dimension, rows);
    keys = through(layer.key_dimension, layer.tokens);
    draw.values = through(layer.dimension, layer.tokens);
  } else {
    queries = correlated(layer.key_dimension, rows, layer.cosine, stream);
    keys = correlated(layer.key_dimension, layer.tokens, layer.cosine, stream);
    if (layer.dimension > 0) {
      draw.values = correlated(layer.dimension, layer.tokens, layer.cosine, stream);
    }
  }
  draw.logits = keys.transpose() * queries;
  draw.logits /= std::sqrt(static_cast<double>(layer.key_dimension));
  return draw;
}

double softmax_columns(const MatrixXd& logits, double scale, bool causal, MatrixXd& attention) {
  attention.setZero(logits.rows(), logits.cols());
  double entropy = 0;
  for (Index t = 0; t < logits.cols(); ++t) {
    const Index seen = causal ? t + 1 : logits.rows();
    const auto x = logits.col(t).head(seen).array();
    const double largest = x.maxCoeff();
    auto row = attention.col(t).head(seen).array();
    row = (scale * (x - largest)).exp();
    const double partition = row.sum();
    row /= partition;
    entropy += std::log(partition) - scale * (row * (x - largest)).sum();
  }
  return entropy / static_cast<double>(logits.cols());
}

AttentionMeasures measure_attention(const MatrixXd& attention, const MatrixXd& values) {
  const Index tokens = attention.cols();
  const auto t = static_cast<double>(tokens);
  AttentionMeasures mean;
  for (Index k = 0; k < tokens; ++k) {
    const auto row = attention.col(k).array();
    const double square = row.square().sum();
    mean.participation += square / t;
    mean.jacobian += (square - 2 * (row.square() * row).sum() + square * square) / t;
    mean.largest += row.maxCoeff() / t;
  }
  mean.shared = squares_of(attention).pairs / (t * (t - 1));
  if (values.size() > 0) {
    const MatrixXd outputs = values * attention;
    const Squares s = squares_of(outputs);
    const auto d = static_cast<double>(values.rows());
    mean.output_norm = s.own / (t * d);
    mean.output_overlap = s.pairs / (t * (t - 1) * d);
  }
  return mean;
}

}  // namespace attica
