#include "attica/theory/bigrams/recursion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/solvers/statistics/distributions.hpp"
#include "attica/theory/bigrams/boosting.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

BigramRecursion::BigramRecursion(const BigramModel& model,
                                 const BigramRates& rates,
                                 double batch,
                                 double alpha_v,
                                 const VectorXd& mismatch)
    : model_(&model),
      rates_(rates),
      batch_(batch),
      mismatch_(mismatch.size() > 0 ? mismatch : VectorXd::Zero(model.tokens())),
      alpha_v_(alpha_v),
      noise_a_(VectorXd::Zero(model.tokens())),
      at_p_(value_moments(model, model.transition())),
      truth_(truth_moments(model)),
      shape_v_(model.covariance() / model.covariance().trace()) {
  require(batch > 0, "batch", batch, "B > 0");
}

BigramRecursion::BigramRecursion(const BigramModel& model,
                                 const BigramRates& rates,
                                 double batch,
                                 const MatrixXd& value)
    : BigramRecursion(model, rates, batch) {
  mean_value_ = value;
  mismatch_ = value * model.stationary() - model.stationary();
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
  const auto t = static_cast<double>(model_->context());
  const VectorXd n = norms();
  const VectorXd o = overlaps();
  const double nbar = mu.dot(n);
  const double obar = mu.dot(o);
  // Along P: all of it about saturated signals, α_V α_A = 1, nothing of it while they grow.
  const double saturated = std::clamp(alpha_v_ * alpha_a_, 0.0, 1.0);
  const double noise_v = pushed_ ? remainder_v_ + saturated * (noise_v_ - remainder_v_) : noise_v_;
  const double kv = mean_k_v() + noise_v;
  const double kvp = k_vp();

  NoiseMoments moments;
  if (mean_value_) {
    moments = value_moments(*model_, *mean_value_);
  } else {
    moments = {.s_v = alpha_v_ * alpha_v_ * at_p_.s_v,
               .cross = alpha_v_ * at_p_.cross,
               .v = mu + mismatch_,
               .norm2 = alpha_v_ * alpha_v_ * at_p_.norm2,
               .overlap = alpha_v_ * at_p_.overlap,
               .tilt = alpha_v_ * at_p_.tilt,
               .tilt_p = at_p_.tilt_p};
  }
  add_value_noise(*model_, noise_v * shape_v_, moments);
  const MatrixXd& s_v = moments.s_v;

  // R_k = m mᵀ + Σ + n_k S_V - o_k (C + Cᵀ), m = Vμ - μ: its trace with S_V, and Σ_k μ_k n_k R_k.
  const VectorXd sigma2 =
      (mismatch_.dot(s_v * mismatch_) + s_v.cwiseProduct(model_->covariance()).sum() +
       s_v.squaredNorm() * n.array() - s_v.cwiseProduct(moments.cross).sum() * o.array())
          .matrix();
  const VectorXd weight = mu.cwiseProduct(n);
  const MatrixXd r_v = nbar * (mismatch_ * mismatch_.transpose() + model_->covariance()) +
                       weight.dot(n) * s_v - weight.dot(o) * moments.cross;
  double trace = static_cast<double>(mu.size() - 1) * r_v.trace();
  // The surrogate's noise is R̄^½ times white noise in the metric of μ.
  double along = r_v.cwiseProduct(truth_.s_p).sum() / model_->k_p();
  if (value_kind_ == ValueNoise::exact) {
    std::vector<AttendedColumn> columns;
    trace = 0;
    for (Index k = 0; k < mu.size(); ++k) {
      const std::vector<double>& q = model_->attention()[static_cast<std::size_t>(k)].weights;
      AttendedColumn column{.a = {},
                            .q = Eigen::Map<const VectorXd>(q.data(), std::ssize(q)),
                            .sum = 1,
                            .norm2 = n[k],
                            .overlap = o[k]};
      column.a = (alpha_a_ * column.q.array() + (1 - alpha_a_) / t).matrix();
      trace += mu[k] * value_noise(*model_, moments, column);
      columns.push_back(std::move(column));
    }
    const MatrixXd g = mean_value_
                           ? (truth_.w.transpose() * (mean_value_->colwise() - moments.v)).eval()
                           : (alpha_v_ * truth_.h).eval();
    along = value_noise_along(*model_, truth_, g, moments, columns);
  }

  if (mean_value_) {
    MatrixXd& v = *mean_value_;
    v -= rates_.eta_v *
         (nbar * (v.colwise() - (mu + mismatch_)) - obar * (model_->transition().colwise() - mu))
             .eval();
  } else {
    alpha_v_ += rates_.eta_v * (1 / t + alpha_a_ * model_->k_q() - nbar * alpha_v_);
  }
  alpha_a_ += rates_.eta_a * (kvp - kv * alpha_a_);
  const double keep_v = 1 - rates_.eta_v * nbar;
  const double keep_a = 1 - rates_.eta_a * kv;
  const double fed = rates_.eta_v * rates_.eta_v / batch_;
  noise_v_ = keep_v * keep_v * noise_v_ + fed * trace;
  remainder_v_ = keep_v * keep_v * remainder_v_ + fed * (trace - along);
  noise_a_ = keep_a * keep_a * noise_a_ +
             rates_.eta_a * rates_.eta_a * (t - 1) / batch_ * sigma2.cwiseQuotient(mu);
  shape_v_ = r_v / r_v.trace();
  ++steps_;
}

BigramSignals BigramRecursion::signals() const {
  BigramSignals s{.alpha_v = k_vp() / model_->k_p(), .alpha_a = alpha_a_, .d_v = 0, .d_a = 0};
  // The mean's part of ‖V - μ1ᵀ - α_V (P - μ1ᵀ)‖²_μ.
  s.d_v =
      mean_k_v() - s.alpha_v * s.alpha_v * model_->k_p() + remainder_v_ + mismatch_.squaredNorm();
  s.d_a = model_->stationary().dot(noise_a_);
  return s;
}

double BigramRecursion::excess_loss() const {
  const VectorXd& mu = model_->stationary();
  return 0.5 * (mu.dot(norms()) * k_v() - 2 * mu.dot(overlaps()) * k_vp() +
                mu.dot(model_->attention_norm2()) * model_->k_p() + mismatch_.squaredNorm());
}

double BigramRecursion::distance_v2() const {
  return k_v() - 2 * k_vp() + model_->k_p() + mismatch_.squaredNorm();
}

double BigramRecursion::distance_a2() const {
  const VectorXd& mu = model_->stationary();
  return mu.dot(norms() - 2 * overlaps() + model_->attention_norm2());
}

BigramState BigramRecursion::state() const {
  const BigramSignals s = signals();
  const double excess = excess_loss();
  return {.loss = model_->bayes_loss() + excess,
          .excess_loss = excess,
          .alpha_v = s.alpha_v,
          .alpha_a = s.alpha_a,
          .d_v = s.d_v,
          .d_a = s.d_a,
          .distance_v2 = distance_v2(),
          .distance_a2 = distance_a2(),
          .k_v = k_v(),
          .k_vp = k_vp(),
          .mean_sum = 1};
}

BigramRecursion boosted_recursion(const BigramModel& model,
                                  const BigramRates& rates,
                                  double batch,
                                  double theta,
                                  double alpha_v) {
  require(theta > 0 && theta <= 1, "theta", theta, "0 < theta <= 1");
  BigramRecursion recursion(model, rates, batch, alpha_v);
  const std::int64_t limit = BoostingTheory(constants(model), rates).boosting_limit(theta);
  while (recursion.k_v() < theta * theta * model.k_p()) {
    if (recursion.steps() > limit) {
      throw Error(ErrorKind::numerical, "the mean field does not leave stage 1");
    }
    recursion.step();
  }
  return recursion;
}

std::array<BoostedAmplitude, 5> boosted_amplitudes(const BigramModel& model,
                                                   const BigramRates& rates,
                                                   double batch) {
  const BoostingTheory boosting(constants(model), rates);
  const double unit = rates.eta_v / (static_cast<double>(model.context()) * boosting.omega()) /
                      boosting.snr(model.kappa_v(), batch);
  // Roots of He_5 = z (z⁴ - 10 z² + 15) and their weights for the standard normal law.
  const double root10 = std::sqrt(10.0);
  const double inner = std::sqrt(5 - root10) * unit;
  const double outer = std::sqrt(5 + root10) * unit;
  const double inner_weight = (7 + 2 * root10) / 60;
  const double outer_weight = (7 - 2 * root10) / 60;
  return {{{0.0, 8.0 / 15},
           {inner, inner_weight},
           {-inner, inner_weight},
           {outer, outer_weight},
           {-outer, outer_weight}}};
}

double sign_deficit(const BigramModel& model,
                    const BigramRates& rates,
                    double batch,
                    double theta) {
  require(theta > 0, "theta", theta, "theta > 0");
  const BoostingTheory boosting(constants(model), rates);
  const double omega = boosting.omega();
  const auto t = static_cast<double>(model.context());
  const double snr = boosting.snr(model.kappa_v(), batch);
  BigramRecursion recursion(model, rates, batch, rates.eta_v / (t * omega * snr));
  const double cap = 10 * boosting.boosting_time(theta);
  constexpr double kMostSteps = 1e8;
  require(cap <= kMostSteps,
          "eta_v",
          rates.eta_v,
          fmt::format("rates that reach theta within {:g} steps", kMostSteps / 10));
  double variance = 1;
  BigramSignals s = recursion.signals();
  for (std::int64_t j = 0; s.alpha_v < theta && static_cast<double>(j) < cap; ++j) {
    variance += 2 * omega * t * s.d_a * std::exp(-2 * omega * static_cast<double>(j));
    recursion.step();
    s = recursion.signals();
  }
  return normal_tail(-snr) - normal_tail(-snr / std::sqrt(variance));
}

MatrixXd averaged_over_amplitudes(
    const BigramModel& model,
    const BigramRates& rates,
    double batch,
    const VectorXd& mismatch,
    ValueNoise noise,
    std::span<const std::int64_t> steps,
    const std::function<Eigen::RowVectorXd(const BigramRecursion&)>& read) {
  // The noise of n steps has the share 1 - (1+ω)^{-2n} of the variance that all will have.
  const double growth = 1 + BoostingTheory(constants(model), rates).omega();
  const auto spread = [&](double n) { return std::sqrt(1 - std::pow(growth, -2 * n)); };
  MatrixXd mean;
  for (const auto& [start, weight] : boosted_amplitudes(model, rates, batch)) {
    BigramRecursion recursion(model, rates, batch, 0, mismatch);
    recursion.set_value_noise(noise);
    for (std::size_t k = 0; k < steps.size(); ++k) {
      while (recursion.steps() < steps[k]) {
        recursion.step();
        const auto n = static_cast<double>(recursion.steps());
        recursion.push(start * std::pow(growth, n) * (spread(n) - spread(n - 1)));
      }
      const Eigen::RowVectorXd row = read(recursion);
      if (mean.size() == 0) mean = MatrixXd::Zero(static_cast<Index>(steps.size()), row.size());
      mean.row(static_cast<Index>(k)) += weight * row;
    }
  }
  return mean;
}

}  // namespace attica
