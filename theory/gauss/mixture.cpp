#include "attica/theory/gauss/mixture.hpp"

#include <Eigen/LU>
#include <cmath>
#include <limits>

#include "attica/core/error.hpp"

namespace attica {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Diagonal of Q at these δ.
ArrayXd resolvent(std::span<const InputCluster> clusters, const ArrayXd& delta, double lambda) {
  ArrayXd sum = ArrayXd::Constant(clusters.front().variances.size(), lambda);
  for (std::size_t k = 0; k < clusters.size(); ++k) {
    sum += clusters[k].share / (1 + delta[static_cast<Index>(k)]) * clusters[k].variances;
  }
  return 1 / sum;
}

}  // namespace

MixtureLabels mixture_labels(std::span<const InputCluster> clusters,
                             double samples,
                             double lambda) {
  require(!clusters.empty(), "clusters", 0.0, "one at least");
  require(samples >= 1, "samples", samples, "samples >= 1");
  require(lambda > 0 && std::isfinite(lambda), "lambda", lambda, "lambda > 0");
  double shares = 0;
  for (const InputCluster& cluster : clusters) {
    require(cluster.share >= 0, "share", cluster.share, "share >= 0");
    require(cluster.variances.size() == clusters.front().variances.size() &&
                cluster.variances.size() > 0 && cluster.variances.minCoeff() >= 0,
            "variances",
            static_cast<double>(cluster.variances.size()),
            "as many as of the first cluster, none negative");
    shares += cluster.share;
  }
  constexpr double kRounding = 1e-9;
  require(std::abs(shares - 1) < kRounding, "share", shares, "shares that sum to 1");

  const auto count = static_cast<Index>(clusters.size());
  // The map δ → δ rises in every argument, and less than in proportion: iterates from 0 rise to the
  // only fixed point.
  ArrayXd delta = ArrayXd::Zero(count);
  constexpr int kMost = 1000000;
  bool converged = false;
  for (int step = 0; step < kMost && !converged; ++step) {
    const ArrayXd q = resolvent(clusters, delta, lambda);
    double change = 0;
    for (Index k = 0; k < count; ++k) {
      const double next = (clusters[static_cast<std::size_t>(k)].variances * q).sum() / samples;
      change = std::max(change, std::abs(next - delta[k]) / (1 + next));
      delta[k] = next;
    }
    converged = change < 4 * std::numeric_limits<double>::epsilon();
  }
  if (!converged) {
    throw Error(ErrorKind::numerical, "mixture_labels: no fixed point; take a larger lambda");
  }
  // dδ/dλ: differentiating both equations leaves a linear system.
  const ArrayXd q2 = resolvent(clusters, delta, lambda).square();
  MatrixXd system = MatrixXd::Identity(count, count);
  VectorXd right(count);
  for (Index k = 0; k < count; ++k) {
    const ArrayXd weighted = clusters[static_cast<std::size_t>(k)].variances * q2 / samples;
    right[k] = -weighted.sum();
    for (Index j = 0; j < count; ++j) {
      const InputCluster& other = clusters[static_cast<std::size_t>(j)];
      const double g = 1 / (1 + delta[j]);
      system(k, j) -= other.share * g * g * (weighted * other.variances).sum();
    }
  }
  const VectorXd slope = system.partialPivLu().solve(right);
  MixtureLabels labels;
  double norm = 0;  // E|ŵ|² = d(objective)/dλ
  for (Index k = 0; k < count; ++k) {
    const double g = 1 / (1 + delta[k]);
    const double share = clusters[static_cast<std::size_t>(k)].share;
    labels.objective += share * g;
    norm -= share * g * g * slope[k];
  }
  labels.train_error = labels.objective - lambda * norm;
  return labels;
}

}  // namespace attica
