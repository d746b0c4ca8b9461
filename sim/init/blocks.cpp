#include "attica/sim/init/blocks.hpp"

#include <algorithm>
#include <cmath>

#include "attica/core/normal_matrix.hpp"
#include "attica/sim/init/gaussian_matrix.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;

namespace {

/// What a block keeps for the way back.
template <class Weights>
struct Block {
  Weights query_matrix, key_matrix, value_matrix, first_matrix, second_matrix;
  FactoredColumns input;
  MatrixXd queries, keys, values;
  std::vector<MatrixXd> attention;  ///< one a head; column t: row t of attention
  MatrixXd attended;                ///< before its normalisation
  FactoredColumns middle;           ///< after it
  MatrixXd hidden;                  ///< W_1 x + b_1
  FactoredColumns active;           ///< relu of it
  MatrixXd mixed;                   ///< after the MLP, before the normalisation
};

template <class Weights>
class Network {
 public:
  Network(const BlockNetwork& network, RandomStream& stream) : n_(network), stream_(stream) {}

  /// @brief The tokens after a new block, which is left in `block`.
  FactoredColumns forward(FactoredColumns x, Block<Weights>& block) {
    const double logits = n_.beta * std::sqrt(std::log(static_cast<double>(n_.context)));
    block.queries = block.query_matrix.apply(x, logits, stream_);
    block.keys = block.key_matrix.apply(x, logits, stream_);
    block.values = block.value_matrix.apply(x, n_.value_variance, stream_);
    add_bias(block.values);
    block.attention.resize(static_cast<std::size_t>(n_.heads));
    block.attended = n_.skip * x.x;
    for (Index h = 0; h < n_.heads; ++h) {
      const MatrixXd products = rows(block.keys, h).transpose() * rows(block.queries, h);
      MatrixXd& a = block.attention[static_cast<std::size_t>(h)];
      softmax_columns(products, 1 / std::sqrt(static_cast<double>(width())), false, a);
      block.attended.middleRows(h * width(), width()).noalias() += rows(block.values, h) * a;
    }
    block.input = std::move(x);
    block.middle = FactoredColumns(normalised(block.attended));
    if (!n_.mlp) return block.middle;
    block.hidden = block.first_matrix.apply(block.middle, n_.mlp_variance, stream_);
    add_bias(block.hidden);
    block.active = FactoredColumns(block.hidden.cwiseMax(0.0));
    block.mixed = block.second_matrix.apply(block.active, n_.mlp_variance, stream_);
    add_bias(block.mixed);
    block.mixed += n_.mlp_skip * block.middle.x;
    return FactoredColumns(normalised(block.mixed));
  }

  /// @brief The gradient with respect to the block's input, of one with respect to its output, and
  /// what is measured of the weights' gradients.
  MatrixXd backward(const Block<Weights>& block, MatrixXd g, GradientMeasures& measures) const {
    if (n_.mlp) {
      g = through_norm(block.mixed, g);
      MatrixXd hidden = block.second_matrix.transpose_times(g, block.active, stream_);
      hidden = (block.hidden.array() > 0).select(hidden, 0.0);
      g = n_.mlp_skip * g + block.first_matrix.transpose_times(hidden, block.middle, stream_);
    }
    g = through_norm(block.attended, g);
    const double scale = 1 / std::sqrt(static_cast<double>(width()));
    MatrixXd values(n_.dimension, n_.context), queries = values, keys = values;
    for (Index h = 0; h < n_.heads; ++h) {
      const MatrixXd& a = block.attention[static_cast<std::size_t>(h)];
      MatrixXd logits = rows(block.values, h).transpose() * rows(g, h);
      const RowVectorXd means = a.cwiseProduct(logits).colwise().sum();
      logits.rowwise() -= means;
      logits = scale * a.cwiseProduct(logits);
      values.middleRows(h * width(), width()).noalias() = rows(g, h) * a.transpose();
      queries.middleRows(h * width(), width()).noalias() = rows(block.keys, h) * logits;
      keys.middleRows(h * width(), width()).noalias() = rows(block.queries, h) * logits.transpose();
    }
    const auto size = static_cast<double>(n_.context * n_.dimension);
    // |D Xᵀ|² = Σ (DᵀD) ∘ (XᵀX)
    const auto norm = [&](const MatrixXd& m) {
      const MatrixXd own = m.transpose() * m;
      return own.cwiseProduct(block.input.gram).sum() / size;
    };
    measures.value_weight = norm(values);
    measures.query_weight = norm(queries);
    measures.key_weight = norm(keys);
    return n_.skip * g + block.value_matrix.transpose_times(values, block.input, stream_) +
           block.query_matrix.transpose_times(queries, block.input, stream_) +
           block.key_matrix.transpose_times(keys, block.input, stream_);
  }

  /// @brief g_t of the loss.
  MatrixXd random_gradient() {
    return normal_matrix(n_.dimension, n_.context, stream_) /
           std::sqrt(static_cast<double>(n_.dimension));
  }

 private:
  Index width() const { return n_.dimension / n_.heads; }
  auto rows(const MatrixXd& m, Index head) const { return m.middleRows(head * width(), width()); }
  void add_bias(MatrixXd& m) {
    if (n_.bias_variance == 0) return;
    const VectorXd bias = std::sqrt(n_.bias_variance) * normal_matrix(m.rows(), 1, stream_).col(0);
    m.colwise() += bias;
  }

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

template <class Weights>
std::vector<BlockMeasures> forward_measures(const BlockNetwork& network, RandomStream& stream) {
  Network<Weights> drawn(network, stream);
  FactoredColumns x(network.input());
  const auto t = static_cast<double>(network.context);
  const auto d = static_cast<double>(network.dimension);
  const double pairs = t * (t - 1);
  std::vector<BlockMeasures> all;
  Block<Weights> block;
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
    const VectorXd centre = x.x.rowwise().mean();
    m.distance = (x.x.colwise() - centre).squaredNorm() / (d * (t - 1));
    const double mean = 1 - m.distance;
    const auto off = [&](const auto& cosines) { return (cosines / d - mean).square().sum(); };
    m.spread =
        std::sqrt(std::max(0.0, (off(x.gram.array()) - off(x.gram.diagonal().array())) / pairs));
    all.push_back(m);
  }
  return all;
}

template <class Weights>
std::vector<GradientMeasures> gradient_measures(const BlockNetwork& network, RandomStream& stream) {
  Network<Weights> drawn(network, stream);
  std::vector<Block<Weights>> blocks(static_cast<std::size_t>(network.blocks));
  FactoredColumns x(network.input());
  for (auto& block : blocks) x = drawn.forward(std::move(x), block);
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

}  // namespace

MatrixXd BlockNetwork::input() const {
  const auto d = static_cast<double>(dimension);
  MatrixXd x = MatrixXd::Zero(dimension, context);
  x.row(0).setConstant(std::sqrt(cosine * d));
  for (Index t = 0; t < context; ++t) x(t + 1, t) = std::sqrt((1 - cosine) * d);
  return x;
}

std::vector<BlockMeasures> draw_forward(const BlockNetwork& network,
                                        RandomStream& stream,
                                        DrawnWeights weights) {
  return weights == DrawnWeights::action ? forward_measures<LazyGaussian>(network, stream)
                                         : forward_measures<FullGaussian>(network, stream);
}

std::vector<GradientMeasures> draw_gradients(const BlockNetwork& network,
                                             RandomStream& stream,
                                             DrawnWeights weights) {
  return weights == DrawnWeights::action ? gradient_measures<LazyGaussian>(network, stream)
                                         : gradient_measures<FullGaussian>(network, stream);
}

LossAtInput loss_at_input(const BlockNetwork& network, MatrixXd input, RandomStream& stream) {
  Network<FullGaussian> drawn(network, stream);
  std::vector<Block<FullGaussian>> blocks(static_cast<std::size_t>(network.blocks));
  FactoredColumns x(std::move(input));
  for (auto& block : blocks) x = drawn.forward(std::move(x), block);
  MatrixXd g = drawn.random_gradient();
  LossAtInput at{.loss = g.cwiseProduct(x.x).sum(), .gradient = {}};
  GradientMeasures unused;
  for (std::size_t l = blocks.size(); l-- > 0;) g = drawn.backward(blocks[l], std::move(g), unused);
  at.gradient = std::move(g);
  return at;
}

}  // namespace attica
