#include "attica/sim/init/blocks.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;

namespace {

MatrixXd gaussian(Index rows, Index columns, double variance, RandomStream& stream) {
  MatrixXd m(rows, columns);
  stream.fill_normal(std::span(m.data(), static_cast<std::size_t>(m.size())));
  m *= std::sqrt(variance);
  return m;
}

/// What a block keeps for the way back.
struct Block {
  MatrixXd query_matrix, key_matrix, value_matrix, first_matrix, second_matrix;
  MatrixXd input, queries, keys, values;
  std::vector<MatrixXd> attention;  ///< one a head; column t: row t of attention
  MatrixXd attended;                ///< before its normalisation
  MatrixXd middle;                  ///< after it
  MatrixXd hidden;                  ///< W_1 x + b_1
  MatrixXd mixed;                   ///< after the MLP, before the normalisation
};

class Network {
 public:
  Network(const BlockNetwork& network, RandomStream& stream) : n_(network), stream_(stream) {}

  /// @brief The tokens of the input. @shape{d x T}
  MatrixXd input() const {
    const auto d = static_cast<double>(n_.dimension);
    MatrixXd x = MatrixXd::Zero(n_.dimension, n_.context);
    x.row(0).setConstant(std::sqrt(n_.cosine * d));
    for (Index t = 0; t < n_.context; ++t) x(t + 1, t) = std::sqrt((1 - n_.cosine) * d);
    return x;
  }

  /// @brief The tokens after a new block, which is left in `block`.
  MatrixXd forward(MatrixXd x, Block& block) {
    const auto d = static_cast<double>(n_.dimension);
    const auto draw = [&](double variance) {
      return gaussian(n_.dimension, n_.dimension, variance / d, stream_);
    };
    const double logits = n_.beta * std::sqrt(std::log(static_cast<double>(n_.context)));
    block.query_matrix = draw(logits);
    block.key_matrix = draw(logits);
    block.value_matrix = draw(n_.value_variance);
    block.queries.noalias() = block.query_matrix * x;
    block.keys.noalias() = block.key_matrix * x;
    block.values.noalias() = block.value_matrix * x;
    block.values.colwise() += bias();
    block.attention.resize(static_cast<std::size_t>(n_.heads));
    block.attended = n_.skip * x;
    for (Index h = 0; h < n_.heads; ++h) {
      const MatrixXd keys = block.keys.middleRows(h * width(), width());
      const MatrixXd queries = block.queries.middleRows(h * width(), width());
      const MatrixXd products = keys.transpose() * queries;
      MatrixXd& a = block.attention[static_cast<std::size_t>(h)];
      softmax_columns(products, 1 / std::sqrt(static_cast<double>(width())), false, a);
      const MatrixXd values = block.values.middleRows(h * width(), width());
      block.attended.middleRows(h * width(), width()) += values * a;
    }
    block.input = std::move(x);
    block.middle = normalised(block.attended);
    if (!n_.mlp) return block.middle;
    block.first_matrix = draw(n_.mlp_variance);
    block.second_matrix = draw(n_.mlp_variance);
    block.hidden.noalias() = block.first_matrix * block.middle;
    block.hidden.colwise() += bias();
    const MatrixXd active = block.hidden.cwiseMax(0.0);
    block.mixed.noalias() = block.second_matrix * active;
    block.mixed.colwise() += bias();
    block.mixed += n_.mlp_skip * block.middle;
    return normalised(block.mixed);
  }

  /// @brief The gradient with respect to the block's input, of one with respect to its output, and
  /// what is measured of the weights' gradients.
  MatrixXd backward(const Block& block, MatrixXd g, GradientMeasures& measures) const {
    if (n_.mlp) {
      g = through_norm(block.mixed, g);
      MatrixXd hidden = block.second_matrix.transpose() * g;
      hidden = (block.hidden.array() > 0).select(hidden, 0.0);
      const MatrixXd through = block.first_matrix.transpose() * hidden;
      g = n_.mlp_skip * g + through;
    }
    g = through_norm(block.attended, g);
    const double scale = 1 / std::sqrt(static_cast<double>(width()));
    MatrixXd values(n_.dimension, n_.context), queries = values, keys = values;
    for (Index h = 0; h < n_.heads; ++h) {
      const MatrixXd& a = block.attention[static_cast<std::size_t>(h)];
      const auto rows = [&](const MatrixXd& m) {
        return MatrixXd(m.middleRows(h * width(), width()));
      };
      const MatrixXd out = rows(g);
      MatrixXd logits = rows(block.values).transpose() * out;
      const RowVectorXd means = a.cwiseProduct(logits).colwise().sum();
      logits.rowwise() -= means;
      logits = scale * a.cwiseProduct(logits);
      values.middleRows(h * width(), width()) = out * a.transpose();
      queries.middleRows(h * width(), width()) = rows(block.keys) * logits;
      keys.middleRows(h * width(), width()) = rows(block.queries) * logits.transpose();
    }
    const MatrixXd gram = block.input.transpose() * block.input;
    const auto size = static_cast<double>(n_.context * n_.dimension);
    // |D Xᵀ|² = Σ (DᵀD) ∘ (XᵀX)
    const auto norm = [&](const MatrixXd& m) {
      const MatrixXd own = m.transpose() * m;
      return own.cwiseProduct(gram).sum() / size;
    };
    measures.value_weight = norm(values);
    measures.query_weight = norm(queries);
    measures.key_weight = norm(keys);
    MatrixXd back = n_.skip * g;
    back.noalias() += block.value_matrix.transpose() * values;
    back.noalias() += block.query_matrix.transpose() * queries;
    back.noalias() += block.key_matrix.transpose() * keys;
    return back;
  }

  MatrixXd random_gradient() {
    return gaussian(n_.dimension, n_.context, 1 / static_cast<double>(n_.dimension), stream_);
  }

 private:
  Index width() const { return n_.dimension / n_.heads; }
  VectorXd bias() { return gaussian(n_.dimension, 1, n_.bias_variance, stream_).col(0); }

  MatrixXd normalised(MatrixXd x) const {
    if (n_.layer_norm) x.rowwise() -= RowVectorXd(x.colwise().mean());
    const RowVectorXd scale =
        std::sqrt(static_cast<double>(n_.dimension)) * x.colwise().norm().cwiseInverse();
    return x * scale.asDiagonal();
  }
  /// The derivative of `normalised` at x, applied to g.
  MatrixXd through_norm(MatrixXd x, MatrixXd g) const {
    if (n_.layer_norm) {
      x.rowwise() -= RowVectorXd(x.colwise().mean());
      g.rowwise() -= RowVectorXd(g.colwise().mean());
    }
    const RowVectorXd inverse = x.colwise().norm().cwiseInverse();
    const RowVectorXd along = x.cwiseProduct(g).colwise().sum().cwiseProduct(inverse.cwiseAbs2());
    g -= x * along.asDiagonal();
    return g * (std::sqrt(static_cast<double>(n_.dimension)) * inverse).asDiagonal();
  }

  BlockNetwork n_;
  RandomStream& stream_;
};

}  // namespace

std::vector<BlockMeasures> draw_forward(const BlockNetwork& network, RandomStream& stream) {
  Network drawn(network, stream);
  MatrixXd x = drawn.input();
  const auto t = static_cast<double>(network.context);
  const double pairs = t * (t - 1);
  std::vector<BlockMeasures> all;
  Block block;
  for (int l = 0; l < network.blocks; ++l) {
    x = drawn.forward(std::move(x), block);
    BlockMeasures m;
    for (const MatrixXd& a : block.attention) {
      const double own = a.squaredNorm();
      m.participation += own / t;
      m.shared += (a.rowwise().sum().squaredNorm() - own) / pairs;
    }
    m.participation /= static_cast<double>(network.heads);
    m.shared /= static_cast<double>(network.heads);
    // 1 - cosine as half the squared distance, which keeps its digits where all tokens are alike.
    const VectorXd centre = x.rowwise().mean();
    const MatrixXd apart = x.colwise() - centre;
    const auto d = static_cast<double>(network.dimension);
    m.distance = apart.squaredNorm() / (d * (t - 1));
    const MatrixXd gram = x.transpose() * x / d;
    const double mean = 1 - m.distance;
    m.spread = std::sqrt(std::max(
        0.0,
        ((gram.array() - mean).square().sum() - (gram.diagonal().array() - mean).square().sum()) /
            pairs));
    all.push_back(m);
  }
  return all;
}

std::vector<GradientMeasures> draw_gradients(const BlockNetwork& network, RandomStream& stream) {
  Network drawn(network, stream);
  std::vector<Block> blocks(static_cast<std::size_t>(network.blocks));
  MatrixXd x = drawn.input();
  for (Block& block : blocks) x = drawn.forward(std::move(x), block);
  MatrixXd g = drawn.random_gradient();
  const auto t = static_cast<double>(network.context);
  std::vector<GradientMeasures> all(blocks.size());
  for (std::size_t l = blocks.size(); l-- > 0;) {
    g = drawn.backward(blocks[l], std::move(g), all[l]);
    const double own = g.squaredNorm();
    all[l].own = own / t;
    all[l].overlap = (g.rowwise().sum().squaredNorm() - own) / (t * (t - 1));
  }
  return all;
}

}  // namespace attica
