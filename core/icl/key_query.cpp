#include "attica/core/icl/key_query.hpp"

#include <cmath>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The blocks of a head, in weights or in a direction.
struct Head {
  Index v, first, second, rows;
};

Head head(const KeyQueryShape& shape, Index h) {
  const Index rows = shape.kind == KeyQuery::merged ? shape.dimension : shape.rank;
  const Index block = rows * shape.dimension;
  return {h, shape.heads + h * block, shape.heads + (shape.heads + h) * block, rows};
}

Eigen::Map<const Rows> block(const KeyQueryShape& shape,
                             const VectorXd& weights,
                             Index start,
                             Index rows) {
  return {weights.data() + start, rows, shape.dimension};
}

}  // namespace

KeyQueryTask::KeyQueryTask(VectorXd spectrum, double context)
    : spectrum_(std::move(spectrum)), context_(context) {
  require(spectrum_.size() >= 1 && spectrum_.minCoeff() > 0 && spectrum_.allFinite(),
          "spectrum",
          spectrum_.size() == 0 ? 0 : spectrum_.minCoeff(),
          "at least one eigenvalue, all positive");
  require(context >= 1, "context", context, "context >= 1");
  second_ = (1 + 1 / context) * spectrum_.array().square() +
            spectrum_.array() * spectrum_.sum() / context;
}

KeyQueryTask KeyQueryTask::power_law(Index dimension, double power, double context) {
  require(dimension >= 1, "dimension", static_cast<double>(dimension), "dimension >= 1");
  const VectorXd shape =
      Eigen::ArrayXd::LinSpaced(dimension, static_cast<double>(dimension), 1).pow(power);
  return {shape / shape.sum(), context};
}

double KeyQueryTask::mse(const MatrixXd& u) const {
  const double learnt = (u.diagonal().array() * spectrum_.array().square()).sum();
  const double square =
      (u.array().square().colwise() * second_.array()).matrix().colwise().sum() * spectrum_;
  return spectrum_.sum() - 2 * learnt + square;
}

MatrixXd KeyQueryTask::descent(const MatrixXd& u) const {
  MatrixXd g = -(second_.asDiagonal() * u * spectrum_.asDiagonal());
  g.diagonal().array() += spectrum_.array().square();
  return g;
}

double KeyQueryTask::plateau(Index modes) const {
  return spectrum_.sum() - (spectrum_.array().cube() / second_.array()).head(modes).sum();
}

Index KeyQueryShape::size() const {
  const Index per_head = kind == KeyQuery::merged ? dimension * dimension : 2 * rank * dimension;
  return heads * (1 + per_head);
}

MatrixXd effective_matrix(const KeyQueryShape& shape, const VectorXd& weights) {
  MatrixXd u = MatrixXd::Zero(shape.dimension, shape.dimension);
  for (Index h = 0; h < shape.heads; ++h) {
    const Head at = head(shape, h);
    const auto first = block(shape, weights, at.first, at.rows);
    if (shape.kind == KeyQuery::merged) {
      u += weights(at.v) * first;
    } else {
      u.noalias() +=
          weights(at.v) * first.transpose().lazyProduct(block(shape, weights, at.second, at.rows));
    }
  }
  return u;
}

VectorXd weight_direction(const KeyQueryShape& shape,
                          const VectorXd& weights,
                          const MatrixXd& descent) {
  VectorXd direction(weights.size());
  for (Index h = 0; h < shape.heads; ++h) {
    const Head at = head(shape, h);
    const double v = weights(at.v);
    const auto first = block(shape, weights, at.first, at.rows);
    Eigen::Map<Rows> d_first(direction.data() + at.first, at.rows, shape.dimension);
    if (shape.kind == KeyQuery::merged) {
      direction(at.v) = first.cwiseProduct(descent).sum();
      d_first = v * descent;
      continue;
    }
    const auto query = block(shape, weights, at.second, at.rows);
    Eigen::Map<Rows> d_query(direction.data() + at.second, at.rows, shape.dimension);
    const Rows pulled = first.lazyProduct(descent);  // K G
    direction(at.v) = pulled.cwiseProduct(query).sum();
    d_first = v * query.lazyProduct(descent.transpose());
    d_query = v * pulled;
  }
  return direction;
}

VectorXd gaussian_weights(const KeyQueryShape& shape, double scale, RandomStream& stream) {
  VectorXd weights(shape.size());
  for (double& entry : weights) entry = scale * stream.normal();
  return weights;
}

VectorXd white_weights(const KeyQueryShape& shape, double scale, RandomStream& stream) {
  require(shape.kind == KeyQuery::merged, "kind", 1, "merged keys and queries");
  VectorXd weights = VectorXd::Zero(shape.size());
  const auto d = static_cast<double>(shape.dimension);
  for (Index h = 0; h < shape.heads; ++h) {
    const Head at = head(shape, h);
    weights(at.v) = scale * stream.normal();
    const double u = scale * stream.normal();
    for (Index i = 0; i < shape.dimension; ++i) {
      weights(at.first + i * (shape.dimension + 1)) = u / std::sqrt(d);
    }
  }
  return weights;
}

VectorXd aligned_weights(const KeyQueryShape& shape, double scale) {
  require(shape.kind == KeyQuery::separate && shape.rank == 1,
          "rank",
          static_cast<double>(shape.rank),
          "separate keys and queries of rank 1");
  require(shape.heads == shape.dimension,
          "heads",
          static_cast<double>(shape.heads),
          "as many heads as inputs");
  VectorXd weights = VectorXd::Zero(shape.size());
  for (Index h = 0; h < shape.heads; ++h) {
    const Head at = head(shape, h);
    weights(at.v) = weights(at.first + h) = weights(at.second + h) = scale;
  }
  return weights;
}

}  // namespace attica
