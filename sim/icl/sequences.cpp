#include "attica/sim/icl/sequences.hpp"

#include <cmath>

#include "attica/core/error.hpp"
#include "attica/core/normal_matrix.hpp"
#include "attica/sim/chi_squared.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Column μ from (h, g), the query and its label.
void write_features(ContextSequences& sequences,
                    Index mu,
                    const VectorXd& query,
                    const VectorXd& hg) {
  const Index d = query.size();
  sequences.queries.col(mu) = query;
  sequences.contexts.col(mu) = hg;
  for (Index j = 0; j <= d; ++j) sequences.features.col(mu).segment(j * d, d) = hg(j) * query;
}

ContextSequences empty_sequences(Index count, Index d) {
  return {.features = MatrixXd(d * (d + 1), count),
          .queries = MatrixXd(d, count),
          .contexts = MatrixXd(d + 1, count),
          .labels = VectorXd(count)};
}

}  // namespace

ContextSequences draw_sequences(const MatrixXd& pool,
                                const ContextNoise& context,
                                Index count,
                                RandomStream& stream) {
  const Index d = pool.cols();
  const auto dim = static_cast<double>(d);
  const double scale = 1 / std::sqrt(dim);
  const VectorXd norms = pool.rowwise().norm();
  ContextSequences sequences = empty_sequences(count, d);
  VectorXd normals(d);
  VectorXd query(d);
  VectorXd hg(d + 1);
  for (Index mu = 0; mu < count; ++mu) {
    const Index task = mu % pool.rows();
    const double s = norms(task) * norms(task) / dim;
    const double q = s + context.rho;
    const double squares = q * chi_squared(context.length, stream);  // Σ y_i²
    fill_normal(normals, stream);
    // Along w, x_i has mean sqrt(s/d) y_i/q and variance ρ/(dq); across it, mean 0 and 1/d.
    hg.head(d) = std::sqrt(squares / dim) * normals;
    if (s > 0) {
      const VectorXd unit = pool.row(task).transpose() / norms(task);
      const double z = unit.dot(normals);
      const double along =
          std::sqrt(s / dim) / q * squares + std::sqrt(context.rho * squares / (dim * q)) * z;
      hg.head(d) += (along - std::sqrt(squares / dim) * z) * unit;
    }
    hg.head(d) *= dim / context.length;
    hg(d) = squares / context.length;
    fill_normal(query, stream);
    query *= scale;
    write_features(sequences, mu, query, hg);
    sequences.labels(mu) = pool.row(task).dot(query) + std::sqrt(context.rho) * stream.normal();
  }
  return sequences;
}

double posterior_mean_error(const MatrixXd& pool,
                            const MatrixXd& tests,
                            const ContextNoise& context,
                            RandomStream& stream) {
  require(context.rho > 0, "rho", context.rho, "rho > 0: a posterior needs noise");
  const Index d = pool.cols();
  const auto length = static_cast<Index>(context.length);
  const double scale = 1 / std::sqrt(static_cast<double>(d));
  MatrixXd x(length, d);
  VectorXd y(length);
  VectorXd query(d);
  double sum = 0;
  for (Index mu = 0; mu < tests.rows(); ++mu) {
    fill_normal(x, stream);
    fill_normal(y, stream);
    fill_normal(query, stream);
    const double noise = stream.normal();
    x *= scale;
    query *= scale;
    y = x * tests.row(mu).transpose() + std::sqrt(context.rho) * y;
    // Sums of squared residuals of all tasks, from the context's moments.
    const MatrixXd second = x.transpose() * x;
    const VectorXd first = x.transpose() * y;
    const VectorXd squares =
        (pool * second).cwiseProduct(pool).rowwise().sum() - 2 * (pool * first);
    const VectorXd weights =
        (-(squares.array() - squares.minCoeff()) / (2 * context.rho)).exp().matrix();
    const double predicted = (pool * query).dot(weights) / weights.sum();
    const double label = tests.row(mu).dot(query) + std::sqrt(context.rho) * noise;
    sum += (label - predicted) * (label - predicted);
  }
  return sum / static_cast<double>(tests.rows());
}

SequenceMoments sequence_moments(const ContextSequences& sequences,
                                 const Eigen::MatrixXd& pool,
                                 const ContextNoise& noise) {
  const Index dimension = pool.cols();
  const auto d = static_cast<double>(dimension);
  const Index n = sequences.labels.size();
  SequenceMoments found;
  double along_task = 0;
  for (Index mu = 0; mu < n; ++mu) {
    const auto task = pool.row(mu % pool.rows());  // in turn
    const double known = task.dot(sequences.queries.col(mu));
    found.label_noise += std::pow(sequences.labels(mu) - known, 2) / static_cast<double>(n);
    const double norm = task.norm();
    const auto context = sequences.contexts.col(mu);
    const double along = task.dot(context.head(dimension)) / norm;
    const double mean = norm / (norm * norm / d + noise.rho) * context(dimension);
    along_task += (along - mean) * (along - mean);
  }
  found.context_noise = along_task / static_cast<double>(n) * noise.length / d;
  found.context_square =
      sequences.contexts.topRows(dimension).squaredNorm() / static_cast<double>(n * dimension);
  found.label_square = sequences.contexts.row(dimension).squaredNorm() / static_cast<double>(n);
  return found;
}

}  // namespace attica
