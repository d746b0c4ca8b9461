#include "attica/sim/icl/key_query.hpp"

#include <algorithm>
#include <cmath>

#include "attica/core/normal_matrix.hpp"
#include "attica/sim/chi_squared.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Of fixed sequences: -dL/dU = first - Σ_kl second_(ij)(kl) U_kl.
struct Moments {
  MatrixXd first;
  MatrixXd second;
};

Moments moments(const RegressionBatch& batch) {
  constexpr Index kBlock = 512;  // what is stored of the features at a time
  const Index d = batch.beta.rows();
  const Index count = batch.beta.cols();
  Moments sums{MatrixXd::Zero(d, d), MatrixXd::Zero(d * d, d * d)};
  MatrixXd features(d * d, kBlock);
  for (Index start = 0; start < count; start += kBlock) {
    const Index size = std::min(kBlock, count - start);
    for (Index b = 0; b < size; ++b) {
      for (Index j = 0; j < d; ++j) {
        features.col(b).segment(j * d, d) = batch.queries(j, start + b) * batch.beta.col(start + b);
      }
    }
    const auto block = features.leftCols(size);
    const VectorXd first = block * batch.labels.segment(start, size);
    sums.first += Eigen::Map<const MatrixXd>(first.data(), d, d);
    sums.second.noalias() += block * block.transpose();
  }
  sums.first /= static_cast<double>(count);
  sums.second /= static_cast<double>(count);
  return sums;
}

}  // namespace

void draw_batch(const KeyQueryTask& task, RandomStream& stream, RegressionBatch& batch) {
  const Eigen::ArrayXd root = task.spectrum().array().sqrt();
  fill_normal(batch.beta, stream);
  fill_normal(batch.queries, stream);
  VectorXd u(task.dimension());
  for (Index b = 0; b < batch.labels.size(); ++b) {
    // In whitened inputs ξ: y = u·ξ with u = Λ^{1/2} w, Σ y ξ = |u| (c û + √c z⊥), c ~ χ²_N.
    for (Index i = 0; i < u.size(); ++i) u(i) = root(i) * stream.normal();
    const double c = chi_squared(task.context(), stream);
    const double norm = u.norm();
    auto z = batch.beta.col(b);
    batch.labels(b) = u.dot(batch.queries.col(b));
    const double along = z.dot(u) / (norm * norm);
    z = (norm * std::sqrt(c) * (z - along * u) + c * u) / task.context();
  }
  batch.beta.array().colwise() *= root;
  batch.queries.array().colwise() *= root;
}

std::int64_t descend(const KeyQueryTask& task,
                     const KeyQueryShape& shape,
                     VectorXd weights,
                     const KeyQueryDescent& descent,
                     RandomStream& stream,
                     const std::function<bool(std::int64_t, double)>& record) {
  const Index d = task.dimension();
  const bool sampled = descent.data != TrainingData::population;
  const Index count = sampled ? descent.sequences : 0;
  RegressionBatch batch{MatrixXd(d, count), MatrixXd(d, count), VectorXd(count)};
  Moments fixed;
  if (descent.data == TrainingData::fixed) {
    draw_batch(task, stream, batch);
    fixed = moments(batch);
  }
  MatrixXd u = effective_matrix(shape, weights);
  MatrixXd direction(d, d);
  for (std::int64_t step = 0;; ++step) {
    const double mse = task.mse(u);
    if (!std::isfinite(mse)) return step;
    if (!record(step, mse) || step == descent.steps) return 0;
    if (descent.data == TrainingData::population) {
      direction = task.descent(u);
    } else if (descent.data == TrainingData::fixed) {
      const VectorXd pulled = fixed.second * Eigen::Map<const VectorXd>(u.data(), d * d);
      direction = fixed.first - Eigen::Map<const MatrixXd>(pulled.data(), d, d);
    } else {
      draw_batch(task, stream, batch);
      const VectorXd residual =
          batch.labels - batch.beta.cwiseProduct(u * batch.queries).colwise().sum().transpose();
      direction.noalias() = (batch.beta * residual.asDiagonal()) * batch.queries.transpose() /
                            static_cast<double>(count);
    }
    weights += descent.eta * weight_direction(shape, weights, direction);
    u = effective_matrix(shape, weights);
  }
}

}  // namespace attica
