#include "attica/theory/bigrams/boosting.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attica/core/error.hpp"

namespace attica {

BoostingTheory::BoostingTheory(const BigramConstants& c, const BigramRates& rates)
    : c_(c), rates_(rates), omega_(std::sqrt(rates.eta_v * rates.eta_a * c.k_p * c.k_q)) {
  require(c.k_p > 0, "K_P", c.k_p, "K_P > 0: a bigram law that differs from its stationary law");
  require(c.k_q > 0, "K_Q", c.k_q, "K_Q > 0: attention weights that differ from uniform ones");
}

double BoostingTheory::alpha_v(double time) const {
  return rates_.eta_v / (c_.context * omega_) * std::sinh(omega_ * time);
}

double BoostingTheory::alpha_a(double time) const {
  return rates_.eta_a * c_.k_p * rates_.eta_v / (c_.context * omega_ * omega_) *
         (std::cosh(omega_ * time) - 1);
}

double BoostingTheory::alpha_v_discrete(double steps) const {
  return rates_.eta_v / (2 * c_.context * omega_) *
         (std::pow(1 + omega_, steps) - std::pow(1 - omega_, steps));
}

double BoostingTheory::alpha_a_discrete(double steps) const {
  return rates_.eta_a * c_.k_p * rates_.eta_v / (2 * c_.context * omega_ * omega_) *
         (std::pow(1 + omega_, steps) + std::pow(1 - omega_, steps) - 2);
}

double BoostingTheory::boosting_time(double theta) const {
  return std::asinh(theta * omega_ * c_.context / rates_.eta_v) / omega_;
}

std::int64_t BoostingTheory::boosting_limit(double theta) const {
  constexpr double kForever = 1e15;  // a step of rounding eta takes longer than any run
  return std::llround(std::min(3 * boosting_time(theta), kForever)) + 1;
}

double BoostingTheory::saturation_time(double delta) const {
  // In the valley d ln(α_V α_A)/dt = 2ω (1 - α_V α_A) - (η_V/T) (1 - 1/α_V): the product comes to
  // rest this much below 1, or above.
  const double rest = rates_.eta_v * (1 - 1 / plateau_alpha_v()) / (2 * omega_ * c_.context);
  if (rest >= delta) return std::numeric_limits<double>::infinity();
  return (std::log(2 * c_.context * omega_ * plateau_alpha_v() / rates_.eta_v) +
          0.5 * std::log((1 - delta) / (delta - rest))) /
         omega_;
}

double BoostingTheory::plateau_alpha_v() const {
  return std::pow(c_.k_q * rates_.eta_v / (c_.k_p * rates_.eta_a), 0.25);
}

double BoostingTheory::slow_rate() const {
  return rates_.eta_v * rates_.eta_a * c_.k_p /
         (c_.context * (rates_.eta_v * c_.k_q + rates_.eta_a * c_.k_p));
}

double BoostingTheory::alpha_v_deviation(double steps, double kappa_v, double batch) const {
  // Every step adds noise of variance η_V² κ_V/(B T) to α_V, which then grows like cosh.
  double sum = 0;
  double up = 1;
  double down = 1;
  for (double j = 0; j < steps; ++j) {
    sum += 0.25 * (up + down) * (up + down);
    up *= 1 + omega_;
    down *= 1 - omega_;
  }
  return rates_.eta_v * std::sqrt(kappa_v / (batch * c_.context) * sum);
}

double BoostingTheory::snr(double kappa_v, double batch) const {
  return std::sqrt(2 * batch / (omega_ * kappa_v * c_.context));
}

double BoostingTheory::batch_for(double snr, double kappa_v) const {
  return 0.5 * snr * snr * omega_ * kappa_v * c_.context;
}

}  // namespace attica
