#include "attica/sim/bigrams/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

bool BigramTrainer::diverged() const {
  constexpr double kLargest = 1e6;
  const double v = value().cwiseAbs().maxCoeff();
  const double a2 = sums().norm2.maxCoeff();
  return !(v <= kLargest) || !(a2 <= kLargest * kLargest);
}

VectorXd soft_threshold_sum1(const VectorXd& z, double shrink) {
  // S(ν) = Σ soft(z_t - ν, shrink) falls from large to small; between its kinks z_t ± shrink it is
  // linear. Bisect over the kinks, then solve the linear piece.
  std::vector<double> kinks;
  for (const double x : z) {
    kinks.push_back(x - shrink);
    kinks.push_back(x + shrink);
  }
  std::sort(kinks.begin(), kinks.end());
  const auto sum = [&](double nu) {
    double total = 0;
    for (const double x : z) total += soft_threshold(x - nu, shrink);
    return total;
  };
  kinks.insert(kinks.begin(), kinks.front() - 1);  // S >= 1 there: every term is at least 1
  const auto right =
      std::partition_point(kinks.begin(), kinks.end(), [&](double nu) { return sum(nu) >= 1; });
  // S = 0 at the last kink, so `right` exists; S >= 1 just left of it.
  const double low = *(right - 1);
  const double high = *right;
  const double s_low = sum(low);
  const double s_high = sum(high);
  const double nu = low + (s_low - 1) / (s_low - s_high) * (high - low);
  return z.unaryExpr([&](double x) { return soft_threshold(x - nu, shrink); });
}

RoundedBigram rounded(const BigramTrainer& trainer, double keep) {
  const BigramModel& model = trainer.model();
  const VectorXd& mu = model.stationary();
  RoundedBigram result{trainer.value(), trainer.large_entries(keep), false};
  const double k_v = trainer.value_state().k_v;
  const double shift = trainer.l1() / k_v;
  double c = 0;
  for (Index k = 0; k < model.tokens(); ++k) {
    SparseColumn& column = result.attention[static_cast<std::size_t>(k)];
    for (double& w : column.weights) w += shift;
    const double sum = std::accumulate(column.weights.begin(), column.weights.end(), 0.0);
    if (!(sum > 0) || !std::isfinite(sum)) {
      result.failed = true;
      return result;
    }
    for (double& w : column.weights) w /= sum;
    c += mu[k] * sum;
  }
  result.value = (c * (result.value.colwise() - mu)).colwise() + mu;
  return result;
}

bool found_support(const BigramModel& model, const RoundedBigram& rounded) {
  return !rounded.failed && std::ranges::equal(rounded.attention,
                                               model.attention(),
                                               {},
                                               &SparseColumn::positions,
                                               &SparseColumn::positions);
}

BigramRounding rounding_of(const BigramModel& model, const RoundedBigram& rounded) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (rounded.failed) return {.value = kInfinity, .attention = kInfinity};
  const VectorXd& mu = model.stationary();
  const double value =
      (rounded.value - model.transition()).colwise().squaredNorm().dot(mu.transpose());
  double attention = 0;
  for (Index k = 0; k < model.tokens(); ++k) {
    const SparseColumn& a = rounded.attention[static_cast<std::size_t>(k)];
    const SparseColumn& q = model.attention()[static_cast<std::size_t>(k)];
    double overlap = 0;
    for (std::size_t i = 0; i < a.positions.size(); ++i) {
      const auto j = std::lower_bound(q.positions.begin(), q.positions.end(), a.positions[i]);
      if (j == q.positions.end() || *j != a.positions[i]) continue;
      overlap += a.weights[i] * q.weights[static_cast<std::size_t>(j - q.positions.begin())];
    }
    attention += mu[k] * (a.norm2() - 2 * overlap + q.norm2());
  }
  return {.alpha_v = bigram_value_state(model, rounded.value).alpha_v,
          .value = value / model.k_p(),
          .attention = attention / model.k_q()};
}

}  // namespace attica
