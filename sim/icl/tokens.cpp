#include "attica/sim/icl/tokens.hpp"

#include <cmath>

#include "attica/core/error.hpp"
#include "attica/core/normal_matrix.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;

namespace {

/// Gram matrix of the columns after normalisation.
MatrixXd gram_of(MatrixXd tokens) {
  tokens.colwise().normalize();
  MatrixXd gram = tokens.transpose() * tokens;
  gram.diagonal().setOnes();
  return gram;
}

}  // namespace

MatrixXd uniform_gram(Index tokens, Index dimension, RandomStream& stream) {
  return gram_of(normal_matrix(dimension, tokens, stream));
}

MatrixXd equiangular_gram(Index tokens, double overlap) {
  MatrixXd gram = MatrixXd::Constant(tokens, tokens, overlap);
  gram.diagonal().setOnes();
  return gram;
}

MatrixXd group_gram(Index tokens,
                    Index dimension,
                    const TokenGroups& groups,
                    RandomStream& stream) {
  require(tokens >= 2 && tokens % 2 == 0, "tokens", static_cast<double>(tokens), "an even number");
  require(dimension >= 2, "dimension", static_cast<double>(dimension), "dimension >= 2");
  MatrixXd x = groups.jitter / std::sqrt(static_cast<double>(dimension)) *
               normal_matrix(dimension, tokens, stream);
  x.row(0).head(tokens / 2).array() += 1;
  x.row(0).tail(tokens / 2).array() += groups.overlap;
  x.row(1).tail(tokens / 2).array() += std::sqrt(1 - groups.overlap * groups.overlap);
  return gram_of(std::move(x));
}

MatrixXd gram_rate(const MatrixXd& gram, const TokenDynamics& dynamics) {
  // G and e^{βG} are symmetric: sums over columns stand for those over rows, and v = Vᵀ.
  const MatrixXd weights = (dynamics.beta * (gram.array() - 1)).exp().matrix();
  MatrixXd v = gram * weights;
  if (dynamics.normalisation == AttentionNormalisation::softmax) {
    v.array().rowwise() /= weights.colwise().sum().array().eval();
  } else {
    v *= std::exp(dynamics.beta) / static_cast<double>(gram.rows());
  }
  const Eigen::VectorXd own = v.diagonal();
  v -= gram * own.asDiagonal();
  return v + v.transpose();
}

double token_step(const TokenDynamics& dynamics, double step) {
  if (dynamics.normalisation == AttentionNormalisation::softmax) return step;
  require(dynamics.beta <= kLargestMeanBeta,
          "beta",
          dynamics.beta,
          "at most 8 where attention is divided by the number of tokens: e^beta is a rate");
  return step * std::exp(-dynamics.beta);
}

void gram_step(MatrixXd& gram, const TokenDynamics& dynamics, double step) {
  const MatrixXd k1 = gram_rate(gram, dynamics);
  const MatrixXd k2 = gram_rate(gram + step / 2 * k1, dynamics);
  const MatrixXd k3 = gram_rate(gram + step / 2 * k2, dynamics);
  const MatrixXd k4 = gram_rate(gram + step * k3, dynamics);
  gram += step / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
}

double mean_overlap(const MatrixXd& gram) {
  const auto n = static_cast<double>(gram.rows());
  return (gram.sum() - gram.trace()) / (n * (n - 1));
}

GroupOverlaps group_overlaps(const MatrixXd& gram) {
  const Index half = gram.rows() / 2;
  const auto h = static_cast<double>(half);
  GroupOverlaps overlaps{.within = 1, .between = gram.topRightCorner(half, half).mean()};
  if (half > 1) {
    const double inner = gram.topLeftCorner(half, half).sum() +
                         gram.bottomRightCorner(half, half).sum() - gram.trace();
    overlaps.within = inner / (2 * h * (h - 1));
  }
  return overlaps;
}

}  // namespace attica
