#include "attica/theory/bigrams/population.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

BigramGradient population_gradient(const BigramModel& model,
                                   const MatrixXd& value,
                                   const MatrixXd& attention) {
  const VectorXd& mu = model.stationary();
  const AttentionSums sums = attention_sums(model, attention);
  const BigramState state = bigram_state(model, value, sums);
  const VectorXd v = value * mu;
  const double nbar = mu.dot(sums.norm2);
  const double obar = mu.dot(sums.overlap);
  BigramGradient g;
  g.value = (mu.dot(sums.sum.cwiseAbs2()) * v - state.mean_sum * mu) * mu.transpose() +
            (nbar * value - obar * model.transition()) * model.covariance();
  const MatrixXd q = model.dense_attention();
  g.attention.resize(model.context(), model.tokens());
  for (Index k = 0; k < model.tokens(); ++k) {
    const double drift = sums.sum[k] * v.squaredNorm() - mu.dot(v);
    g.attention.col(k) = mu[k] * (VectorXd::Constant(model.context(), drift) +
                                  state.k_v * attention.col(k) - state.k_vp * q.col(k));
  }
  return g;
}

BigramGradient population_hat_gradient(const BigramModel& model,
                                       const MatrixXd& value,
                                       const MatrixXd& attention) {
  const VectorXd& mu = model.stationary();
  const auto n = static_cast<double>(model.tokens());
  BigramGradient g = population_gradient(model, value, attention);
  // Right factor D⁻¹ - 11ᵀ, then the mean of every column.
  const VectorXd row_sums = g.value.rowwise().sum();
  g.value = (g.value * mu.cwiseInverse().asDiagonal()).eval();
  g.value.colwise() -= row_sums;
  g.value.rowwise() -= (g.value.colwise().sum() / n).eval();
  g.attention.rowwise() -= g.attention.colwise().mean().eval();
  g.attention *= mu.cwiseInverse().asDiagonal();
  return g;
}

NoiseMoments value_moments(const BigramModel& model, const MatrixXd& value) {
  const VectorXd& mu = model.stationary();
  const MatrixXd vs = value * model.covariance();
  const MatrixXd c = vs * model.transition().transpose();
  const VectorXd v = value * mu;
  const MatrixXd centred = value.colwise() - v;
  const MatrixXd centred_p = model.transition().colwise() - mu;
  const VectorXd open = (1 - 2 * mu.array()).matrix();
  return {.s_v = vs * value.transpose(),
          .cross = c + c.transpose(),
          .v = v,
          .norm2 = centred.squaredNorm(),
          .overlap = centred.cwiseProduct(centred_p).sum(),
          .tilt = centred * open,
          .tilt_p = centred_p * open};
}

void add_value_noise(const BigramModel& model, const MatrixXd& covariance, NoiseMoments& moments) {
  const auto n = static_cast<double>(model.tokens());
  moments.s_v += covariance;
  moments.norm2 += covariance.trace() * (model.stationary().cwiseInverse().sum() - n) / (n - 1);
}

MatrixXd residual_covariance(
    const BigramModel& model, const NoiseMoments& moments, double s, double n, double o) {
  const VectorXd m = s * moments.v - model.stationary();
  return m * m.transpose() + model.covariance() + n * moments.s_v - o * moments.cross;
}

MatrixXd attention_noise(const BigramModel& model,
                         const MatrixXd& value,
                         const NoiseMoments& moments,
                         const AttendedColumn& column) {
  const VectorXd& mu = model.stationary();
  const MatrixXd& p = model.transition();
  const VectorXd& a = column.a;
  const VectorXd& q = column.q;
  const MatrixXd g = value.transpose() * value * model.covariance();
  const MatrixXd h = value.transpose() * p * model.covariance();
  const double k_v = g.trace();
  const double k_vp = h.trace();
  const double k1 = (g * g).trace();
  const double k2 = (g * h).trace();
  const VectorXd m_t = k_v * a - k_vp * q;
  MatrixXd second = m_t * m_t.transpose() + k1 * a * a.transpose() -
                    k2 * (a * q.transpose() + q * a.transpose()) - k_vp * k_vp * q * q.transpose();
  // On the diagonal condition on the token n found at t: r then has mean m and spread from the
  // other positions and from the draw of y.
  const VectorXd m_k = column.sum * moments.v - mu;
  for (Index t = 0; t < a.size(); ++t) {
    second(t, t) = 0;
    const MatrixXd others =
        (column.norm2 - a[t] * a[t]) * moments.s_v - (column.overlap - a[t] * q[t]) * moments.cross;
    for (Index n = 0; n < mu.size(); ++n) {
      VectorXd delta = -mu;
      delta[n] += 1;
      const VectorXd m = m_k + (a[t] * value - q[t] * p) * delta;
      const VectorXd pi = mu + q[t] * p * delta;
      const VectorXd w = value * delta;
      const double spread = w.dot(pi.cwiseProduct(w)) - std::pow(pi.dot(w), 2);
      second(t, t) += mu[n] * (std::pow(m.dot(w), 2) + w.dot(others * w) + spread);
    }
  }
  return second;
}

double value_noise(const BigramModel& model,
                   const NoiseMoments& moments,
                   const AttendedColumn& column) {
  const VectorXd& mu = model.stationary();
  const auto n = static_cast<double>(mu.size());
  const auto a = column.a.array();
  const auto q = column.q.array();
  const VectorXd m = column.sum * moments.v - mu;
  const double k_v = moments.s_v.trace();
  const double k_vp = 0.5 * moments.cross.trace();
  // The residual's trace: that of residual_covariance, which is not built for every column and
  // step.
  const double trace =
      m.squaredNorm() + 1 - mu.squaredNorm() + column.norm2 * k_v - 2 * column.overlap * k_vp;
  const double leading = (n - 1) * column.norm2 * trace;
  // What a position that weighs a_t adds: its token is in u and in r, and moves the law of y.
  const double asq = (a.square() * q).sum();
  const double mean = 2 * m.dot(a.cube().sum() * moments.tilt - asq * moments.tilt_p);
  const double next = asq * (1 - 2 * mu.array()).matrix().dot(moments.tilt_p);
  const double pairs = 2 * column.norm2 * (column.norm2 * k_v - 2 * column.overlap * k_vp);
  const double fourth = a.square().square().sum() * (moments.norm2 - (n + 2) * k_v) -
                        2 * (a.cube() * q).sum() * (moments.overlap - (n + 2) * k_vp);
  return leading + mean + next + pairs + fourth;
}

TruthMoments truth_moments(const BigramModel& model) {
  const VectorXd& mu = model.stationary();
  const MatrixXd w = model.transition().colwise() - mu;
  return {.w = w,
          .h = w.transpose() * w,
          .w1 = w.transpose() * mu,
          .w2 = w.cwiseAbs2().transpose() * mu,
          .w3 = w.array().cube().colwise().sum().transpose(),
          .s_p = w * mu.asDiagonal() * w.transpose()};
}

double value_noise_along(const BigramModel& model,
                         const TruthMoments& truth,
                         const MatrixXd& g,
                         const NoiseMoments& moments,
                         std::span<const AttendedColumn> columns) {
  const VectorXd& mu = model.stationary();
  const MatrixXd& h = truth.h;
  const VectorXd& w1 = truth.w1;
  const double k_vp = mu.dot(g.diagonal());
  const double k_p = mu.dot(h.diagonal());
  const double k1 = mu.dot(g.cwiseProduct(g.transpose()) * mu);
  const double k2 = mu.dot(g.cwiseProduct(h) * mu);
  const double spread_v = moments.s_v.cwiseProduct(truth.s_p).sum();
  const double spread_vp = moments.cross.cwiseProduct(truth.s_p).sum();
  const VectorXd along_v = truth.w.transpose() * moments.v;
  double along = 0;
  for (Index k = 0; k < mu.size(); ++k) {
    const AttendedColumn& column = columns[static_cast<std::size_t>(k)];
    const double norm2 = column.norm2;
    const double overlap = column.overlap;
    const VectorXd m = column.sum * along_v - w1;
    // E[(P δ·r)²] of a position, from its token: the mean of r, other positions, the draw of y.
    const auto square = [&](double at, double qt) {
      const VectorXd mean = m + at * g.diagonal() - qt * h.diagonal();
      const VectorXd next = w1 + qt * h.diagonal();
      return mu.dot(mean.cwiseAbs2() + truth.w2 + qt * truth.w3 - next.cwiseAbs2()) +
             (norm2 - at * at) * spread_v - (overlap - at * qt) * spread_vp;
    };
    const double elsewhere = square(0, 0);
    const double mean = norm2 * k_vp - overlap * k_p;
    double second = mean * mean + k1 * norm2 * norm2 - 2 * k2 * norm2 * overlap -
                    k_p * k_p * overlap * overlap + norm2 * elsewhere;
    // A position and itself are no pair.
    for (Index t = 0; t < column.a.size(); ++t) {
      const double at = column.a[t];
      const double qt = column.q[t];
      const double pair =
          std::pow(k_vp * at - k_p * qt, 2) + k1 * at * at - 2 * k2 * at * qt - k_p * k_p * qt * qt;
      second += at * at * (square(at, qt) - elsewhere - pair);
    }
    along += mu[k] * second;
  }
  return along / k_p;
}

double averaged_value_noise(const BigramModel& model,
                            double eta_v,
                            double batch,
                            std::int64_t steps) {
  const VectorXd& mu = model.stationary();
  const NoiseMoments moments = value_moments(model, model.transition());
  double trace = 0;  // of a sample's noise
  for (Index k = 0; k < mu.size(); ++k) {
    const std::vector<double>& w = model.attention()[static_cast<std::size_t>(k)].weights;
    const VectorXd q = Eigen::Map<const VectorXd>(w.data(), std::ssize(w));
    const double q2 = q.squaredNorm();
    trace += mu[k] * value_noise(model, moments, {q, q, 1, q2, q2});
  }
  // The noise of a step is in the mean over the m steps after it as Σ keep^j, as many as follow.
  const double keep = 1 - eta_v * mu.dot(model.attention_norm2());
  const std::int64_t skipped = steps / 2;
  const auto m = static_cast<double>(steps - skipped);
  double squares = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    const auto late = static_cast<double>(std::max<std::int64_t>(skipped - step, 0));
    const auto left = static_cast<double>(std::min<std::int64_t>(steps - step, steps - skipped));
    const double weight = std::pow(keep, late) * (1 - std::pow(keep, left)) / (1 - keep);
    squares += weight * weight / (m * m);
  }
  return eta_v * eta_v / batch * trace * squares;
}

MatrixXd column_softmax(const MatrixXd& logits) {
  MatrixXd a = (logits.rowwise() - logits.colwise().maxCoeff()).array().exp();
  a.array().rowwise() /= a.colwise().sum().eval().array();
  return a;
}

void softmax_descent_step(
    const BigramModel& model, double eta_v, double eta_w, MatrixXd& value, MatrixXd& logits) {
  const MatrixXd a = column_softmax(logits);
  const BigramGradient hat = population_hat_gradient(model, value, a);
  const BigramGradient plain = population_gradient(model, value, a);
  value -= eta_v * hat.value;
  for (Index k = 0; k < model.tokens(); ++k) {
    const VectorXd g = plain.attention.col(k);
    logits.col(k) -=
        eta_w / model.stationary()[k] * (a.col(k).array() * (g.array() - a.col(k).dot(g))).matrix();
  }
}

namespace {

/// The largest eigenvalue of J = diag q - q qᵀ, q >= 0 of sum 1: where Σ q_i²/(q_i - λ) = 1 between
/// the two largest weights. It rises there from -∞ to +∞; two that are equal leave no room, and one
/// alone has λ = 0.
double largest_of_softmax(std::vector<double> q) {
  q.push_back(0);
  std::ranges::sort(q, std::greater<>());
  double low = q[1];
  double high = q[0];
  constexpr int kHalvings = 60;  // to rounding
  for (int k = 0; k < kHalvings && low > 0; ++k) {
    const double middle = low + (high - low) / 2;
    if (middle == low || middle == high) break;
    double sum = 0;
    for (const double weight : q) sum += weight * weight / (weight - middle);
    (sum < 1 ? low : high) = middle;
  }
  return low > 0 ? high : 0;
}

}  // namespace

double logit_rate_limit(const BigramModel& model) {
  double largest = 0;
  for (const SparseColumn& column : model.attention())
    largest = std::max(largest, largest_of_softmax(column.weights));
  if (largest == 0) return std::numeric_limits<double>::infinity();
  return 2 / (model.k_p() * largest * largest);
}

double attention_rate_limit(const BigramModel& model, const MatrixXd& value, double batch) {
  const MatrixXd s_v = value_moments(model, value).s_v;
  const double k_v = s_v.trace();
  const double mu_min = model.stationary().minCoeff();
  const auto noise =
      static_cast<double>(model.context() - 1) * s_v.squaredNorm() + k_v * k_v * (1 - mu_min);
  return 2 * k_v / (k_v * k_v + noise / (mu_min * batch));
}

}  // namespace attica
