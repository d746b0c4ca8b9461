#pragma once
/// @file
/// @brief Closed forms of the flow of theory/bigrams/flow.hpp and of its discretisation: boosting,
/// saturation, the creep along the valley, and the noise of the growing signal.

#include <cstdint>

#include "attica/core/bigrams/model.hpp"

namespace attica {

/// @brief Closed forms of the flow and of its discretisation, from the standard start.
class BoostingTheory {
 public:
  /// @pre K_P > 0, K_Q > 0 and positive rates
  BoostingTheory(const BigramConstants& c, const BigramRates& rates);

  /// @brief ω = sqrt(η_V η_A K_P K_Q), the growth rate per step.
  double omega() const { return omega_; }
  /// @brief α_V and α_A of the linear regime in continuous time.
  double alpha_v(double time) const;
  double alpha_a(double time) const;
  /// @brief The same after n whole steps.
  double alpha_v_discrete(double steps) const;
  double alpha_a_discrete(double steps) const;
  /// @brief Time at which α_V = θ in the linear regime: asinh(θ ω T/η_V)/ω.
  double boosting_time(double theta) const;
  /// @brief Steps after which a run counts as one that never gets there: three times as many.
  std::int64_t boosting_limit(double theta) const;
  /// @brief Time at which α_V α_A = 1 - δ; +inf where the product comes to rest below that in the
  /// valley, to get there with the slow relaxation only.
  double saturation_time(double delta) const;
  /// @brief α_V where the fast variables have relaxed: (K_Q η_V/(K_P η_A))^¼; α_A is its inverse.
  double plateau_alpha_v() const;
  /// @brief Relaxation rate along the valley to α_V = α_A = 1, per step.
  double slow_rate() const;

  /// @brief Standard deviation of α_V after n steps of SGD with batch B, for per-sample variance
  /// κ_V/T of the first signal gradient.
  double alpha_v_deviation(double steps, double kappa_v, double batch) const;
  /// @brief Mean over standard deviation of the growing mode's amplitude, sqrt(2B/(ω κ_V T)): SGD
  /// with batch B grows the signal with the right sign with probability Φ(snr).
  double snr(double kappa_v, double batch) const;
  /// @brief The batch of that signal-to-noise ratio, snr² ω κ_V T/2; not a whole number.
  double batch_for(double snr, double kappa_v) const;

 private:
  BigramConstants c_;
  BigramRates rates_;
  double omega_;
};

}  // namespace attica
