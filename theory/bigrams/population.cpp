#include "attica/theory/bigrams/population.hpp"

#include <cmath>

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
  const MatrixXd vs = value * model.covariance();
  const MatrixXd c = vs * model.transition().transpose();
  return {vs * value.transpose(), c + c.transpose(), value * model.stationary()};
}

MatrixXd residual_covariance(
    const BigramModel& model, const NoiseMoments& moments, double s, double n, double o) {
  const VectorXd m = s * moments.v - model.stationary();
  return m * m.transpose() + model.covariance() + n * moments.s_v - o * moments.cross;
}

MatrixXd attention_noise(const BigramModel& model,
                         const MatrixXd& value,
                         const MatrixXd& attention,
                         Index token) {
  const VectorXd& mu = model.stationary();
  const MatrixXd& p = model.transition();
  const VectorXd a = attention.col(token);
  const VectorXd q = model.dense_attention().col(token);
  const NoiseMoments moments = value_moments(model, value);
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
  const VectorXd m_k = a.sum() * moments.v - mu;
  for (Index t = 0; t < model.context(); ++t) {
    second(t, t) = 0;
    const MatrixXd others =
        (a.squaredNorm() - a[t] * a[t]) * moments.s_v - (a.dot(q) - a[t] * q[t]) * moments.cross;
    for (Index n = 0; n < model.tokens(); ++n) {
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

MatrixXd value_noise_diagonal(const BigramModel& model,
                              const MatrixXd& value,
                              const MatrixXd& attention) {
  const VectorXd& mu = model.stationary();
  const Index tokens = model.tokens();
  const MatrixXd centred_v = value.colwise() - value * mu;
  const MatrixXd centred_p = model.transition().colwise() - mu;
  const MatrixXd dense_q = model.dense_attention();
  MatrixXd result = MatrixXd::Zero(tokens, tokens);
  for (Index k = 0; k < tokens; ++k) {
    const VectorXd a = attention.col(k);
    const VectorXd q = dense_q.col(k);
    const VectorXd a2 = a.cwiseAbs2();
    const VectorXd m = a.sum() * (value * mu) - mu;
    const double aa = a2.sum();
    for (Index n = 0; n < tokens; ++n) {
      VectorXd h = VectorXd::Constant(tokens, -mu[n]);
      h[n] += 1;
      const double hh = mu.dot(h.cwiseAbs2());
      const auto mean = [&](const VectorXd& f) { return mu.dot(f); };
      // E[(c1·f1(X)) (c2·f2(X)) (a·h(X))²] over independent positions with centred f and h.
      const auto fourth =
          [&](const VectorXd& c1, const VectorXd& f1, const VectorXd& c2, const VectorXd& f2) {
            const double ff = mean(f1.cwiseProduct(f2));
            const double fh1 = mean(f1.cwiseProduct(h));
            const double fh2 = mean(f2.cwiseProduct(h));
            const double all = mean(f1.cwiseProduct(f2).cwiseProduct(h.cwiseAbs2()));
            return c1.dot(c2) * ff * aa * hh + 2 * c1.dot(a) * fh1 * c2.dot(a) * fh2 +
                   c1.cwiseProduct(c2).dot(a2) * (all - ff * hh - 2 * fh1 * fh2);
          };
      for (Index i = 0; i < tokens; ++i) {
        const VectorXd f = centred_v.row(i);
        const VectorXd p = centred_p.row(i);
        const double fhh = mean(f.cwiseProduct(h.cwiseAbs2()));
        const double phh = mean(p.cwiseProduct(h.cwiseAbs2()));
        const double moment = (m[i] * m[i] + mu[i] - mu[i] * mu[i]) * aa * hh +
                              2 * m[i] * (a2.dot(a) * fhh - a2.dot(q) * phh) +
                              (1 - 2 * mu[i]) * q.dot(a2) * phh + fourth(a, f, a, f) -
                              2 * fourth(a, f, q, p);
        result(i, n) += mu[k] / (mu[n] * mu[n]) * moment;
      }
    }
  }
  return result;
}

MatrixXd value_noise_diagonal_kronecker(const BigramModel& model,
                                        const MatrixXd& value,
                                        const AttentionSums& sums) {
  const NoiseMoments moments = value_moments(model, value);
  VectorXd diagonal = VectorXd::Zero(model.tokens());
  for (Index k = 0; k < model.tokens(); ++k) {
    diagonal +=
        model.stationary()[k] * sums.norm2[k] *
        residual_covariance(model, moments, sums.sum[k], sums.norm2[k], sums.overlap[k]).diagonal();
  }
  const VectorXd column = model.stationary().cwiseInverse().array() - 1;
  return diagonal * column.transpose();
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

double attention_rate_limit(const BigramModel& model, const MatrixXd& value, double batch) {
  const MatrixXd s_v = value_moments(model, value).s_v;
  const double k_v = s_v.trace();
  const double mu_min = model.stationary().minCoeff();
  const double noise =
      static_cast<double>(model.context() - 1) * s_v.squaredNorm() + k_v * k_v * (1 - mu_min);
  return 2 * k_v / (k_v * k_v + noise / (mu_min * batch));
}

}  // namespace attica
