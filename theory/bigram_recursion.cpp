#include "attica/theory/bigram_recursion.hpp"

#include <cmath>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

BigramRecursion::BigramRecursion(const BigramModel& model, const BigramRates& rates, double batch)
    : model_(&model),
      rates_(rates),
      batch_(batch),
      noise_a_(VectorXd::Zero(model.tokens())),
      psp_(model.transition() * model.covariance() * model.transition().transpose()),
      shape_v_(model.covariance() / model.covariance().trace()) {
  require(batch > 0, "batch", batch, "B > 0");
}

BigramRecursion::BigramRecursion(const BigramModel& model,
                                 const BigramRates& rates,
                                 double batch,
                                 const MatrixXd& value)
    : BigramRecursion(model, rates, batch) {
  mean_value_ = value;
}

VectorXd BigramRecursion::norms() const {
  const double uniform = 1 / static_cast<double>(model_->context());
  return (uniform + alpha_a_ * alpha_a_ * (model_->attention_norm2().array() - uniform)).matrix() +
         noise_a_;
}

VectorXd BigramRecursion::overlaps() const {
  const double uniform = 1 / static_cast<double>(model_->context());
  return (uniform + alpha_a_ * (model_->attention_norm2().array() - uniform)).matrix();
}

double BigramRecursion::mean_k_v() const {
  if (!mean_value_) return alpha_v_ * alpha_v_ * model_->k_p();
  return (*mean_value_ * model_->covariance() * mean_value_->transpose()).trace();
}

double BigramRecursion::k_v() const { return mean_k_v() + noise_v_; }

double BigramRecursion::k_vp() const {
  if (!mean_value_) return alpha_v_ * model_->k_p();
  return (*mean_value_ * model_->covariance() * model_->transition().transpose()).trace();
}

void BigramRecursion::step() {
  const VectorXd& mu = model_->stationary();
  const double t = static_cast<double>(model_->context());
  const VectorXd n = norms();
  const VectorXd o = overlaps();
  const double nbar = mu.dot(n);
  const double obar = mu.dot(o);
  const double kv = k_v();
  const double kvp = k_vp();

  MatrixXd s_v = noise_v_ * shape_v_;
  MatrixXd cross;  // C + Cᵀ
  if (mean_value_) {
    const MatrixXd vs = *mean_value_ * model_->covariance();
    const MatrixXd c = vs * model_->transition().transpose();
    s_v += vs * mean_value_->transpose();
    cross = c + c.transpose();
  } else {
    s_v += alpha_v_ * alpha_v_ * psp_;
    cross = 2 * alpha_v_ * psp_;
  }

  MatrixXd r_v = MatrixXd::Zero(mu.size(), mu.size());
  VectorXd sigma2(mu.size());
  for (Index k = 0; k < mu.size(); ++k) {
    const MatrixXd r = model_->covariance() + n[k] * s_v - o[k] * cross;
    sigma2[k] = s_v.cwiseProduct(r).sum();
    r_v += mu[k] * n[k] * r;
  }

  if (mean_value_) {
    MatrixXd& v = *mean_value_;
    v -= rates_.value *
         (nbar * (v.colwise() - mu) - obar * (model_->transition().colwise() - mu)).eval();
  } else {
    alpha_v_ += rates_.value * (1 / t + alpha_a_ * model_->k_q() - nbar * alpha_v_);
  }
  alpha_a_ += rates_.attention * (kvp - kv * alpha_a_);
  const double keep_v = 1 - rates_.value * nbar;
  const double keep_a = 1 - rates_.attention * kv;
  noise_v_ = keep_v * keep_v * noise_v_ + rates_.value * rates_.value *
                                              static_cast<double>(mu.size() - 1) * r_v.trace() /
                                              batch_;
  noise_a_ = keep_a * keep_a * noise_a_ +
             rates_.attention * rates_.attention * (t - 1) / batch_ * sigma2.cwiseQuotient(mu);
  shape_v_ = r_v / r_v.trace();
}

BigramSignals BigramRecursion::signals() const {
  BigramSignals s{.alpha_v = k_vp() / model_->k_p(), .alpha_a = alpha_a_, .d_v = 0, .d_a = 0};
  // The mean's part of ‖V - μ1ᵀ - α_V (P - μ1ᵀ)‖²_μ, on the set V μ = μ.
  s.d_v = mean_k_v() - s.alpha_v * s.alpha_v * model_->k_p() + noise_v_;
  s.d_a = model_->stationary().dot(noise_a_);
  return s;
}

double BigramRecursion::excess_loss() const {
  const VectorXd& mu = model_->stationary();
  return 0.5 * (mu.dot(norms()) * k_v() - 2 * mu.dot(overlaps()) * k_vp() +
                mu.dot(model_->attention_norm2()) * model_->k_p());
}

double BigramRecursion::distance_v2() const { return k_v() - 2 * k_vp() + model_->k_p(); }

double BigramRecursion::distance_a2() const {
  const VectorXd& mu = model_->stationary();
  return mu.dot(norms() - 2 * overlaps() + model_->attention_norm2());
}

}  // namespace attica
