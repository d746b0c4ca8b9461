#pragma once
/// @file
/// @brief Mean-field recursions of SGD with hat gradients, without l1: the mean follows the
/// population, the gradient noise feeds the squared remainders.
///
/// State α_V, α_A, d_V and d_k for every last token k, with n_k = 1/T + α_A² (|q_k|² - 1/T) + d_k,
/// o_k = 1/T + α_A (|q_k|² - 1/T). Noise of A is white with variance tr(S_V R_k)/(μ_k B), noise of
/// V has the total variance of `value_noise` over B, of which `value_noise_along` is no remainder.
/// Good when SNR >= 4 and η is below half the stability limit. Derivation: docs/bigrams.md.

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "attica/core/bigrams/model.hpp"
#include "attica/theory/bigrams/population.hpp"

namespace attica {

/// Variance of V's noise: that of sequences, or its leading order, that of the surrogate.
enum class ValueNoise { exact, leading_order };

/// @brief The recursion from uniform A and V = μ1ᵀ + α_V (P - μ1ᵀ), or a general V.
class BigramRecursion {
 public:
  /// @param batch B > 0, need not be whole; infinite: whole steps of descent without noise, for
  /// which the four numbers are exact
  /// @param alpha_v the start of α_V, 0 for the standard start
  /// @param mismatch Vμ - μ of the start V = Vμ 1ᵀ + α_V (P - μ1ᵀ); empty: 0
  BigramRecursion(const BigramModel& model,
                  const BigramRates& rates,
                  double batch,
                  double alpha_v = 0,
                  const Eigen::VectorXd& mismatch = {});
  /// @param value the start of V, 1ᵀV = 1ᵀ; its mean is then kept as a matrix and only the noise is
  /// in d_V. Vμ need not be μ: the hat gradients leave it, and its mismatch adds ½|Vμ - μ|² to the
  /// loss and |Vμ - μ|² to d_V and ‖V - P‖²
  BigramRecursion(const BigramModel& model,
                  const BigramRates& rates,
                  double batch,
                  const Eigen::MatrixXd& value);

  void step();
  /// @brief Adds to α_V what noise along P does to it while it grows: a mean over runs that are
  /// pushed differently has that noise, which V's noise then does not bring to A a second time.
  void push(double signal) {
    alpha_v_ += signal;
    pushed_ = true;
  }
  /// @brief Which noise V has from here on; at first that of sequences.
  void set_value_noise(ValueNoise noise) { value_kind_ = noise; }

  /// @brief Where the mean field stands: means over runs.
  BigramState state() const;
  /// @brief d_V counts the noise; for a matrix start also the mean's remainder.
  BigramSignals signals() const;
  double k_v() const;
  double noise_v() const { return noise_v_; }    ///< ‖·‖²_μ of V's noise
  std::int64_t steps() const { return steps_; }  ///< made so far
  double excess_loss() const;
  double distance_v2() const;  ///< ‖V - P‖²_μ
  double distance_a2() const;  ///< ‖A - Q‖²_μ

 private:
  Eigen::VectorXd norms() const;     ///< n_k
  Eigen::VectorXd overlaps() const;  ///< o_k
  double k_vp() const;
  double mean_k_v() const;  ///< K_V of the mean V

  const BigramModel* model_;
  BigramRates rates_;
  double batch_;
  std::optional<Eigen::MatrixXd> mean_value_;  ///< empty: μ1ᵀ + α_V (P - μ1ᵀ)
  Eigen::VectorXd mismatch_;                   ///< Vμ - μ
  double alpha_v_ = 0;
  double alpha_a_ = 0;
  double noise_v_ = 0;       ///< ‖·‖²_μ of V's noise
  double remainder_v_ = 0;   ///< of what is not along P of it
  bool pushed_ = false;      ///< while α_V grows what is along P of it is in α_V
  Eigen::VectorXd noise_a_;  ///< d_k
  NoiseMoments at_p_;        ///< of V = P
  TruthMoments truth_;
  Eigen::MatrixXd shape_v_;  ///< R̄/tr R̄ of the previous step: shape of V's noise
  ValueNoise value_kind_ = ValueNoise::exact;
  std::int64_t steps_ = 0;
};

/// @brief The recursion from uniform A and V = μ1ᵀ + α_V (P - μ1ᵀ) where the first stage has ended:
/// K_V >= θ² K_P.
/// @param theta in (0, 1]
/// @param alpha_v the start, 0 for the standard one
/// @throws Error (numerical) if it has not after `BoostingTheory::boosting_limit` steps
BigramRecursion boosted_recursion(const BigramModel& model,
                                  const BigramRates& rates,
                                  double batch,
                                  double theta,
                                  double alpha_v = 0);

/// A start that stands for the runs with one boosted amplitude.
struct BoostedAmplitude {
  double alpha_v = 0;  ///< of the start
  double weight = 0;   ///< share of the runs; the shares sum to 1
};

/// @brief The starts whose weighted average is that over runs: the boosted amplitude differs from
/// run to run by a factor 1 + z/snr with z normal, snr of `BoostingTheory`. Five nodes of
/// Gauss-Hermite quadrature, α_V(0) = (η_V/Tω) z/snr: the spread is there right after the boosting
/// stage, too much of it before.
std::array<BoostedAmplitude, 5> boosted_amplitudes(const BigramModel& model,
                                                   const BigramRates& rates,
                                                   double batch);

/// @brief Estimate of how far the probability of the right sign lies below Φ(snr), snr of
/// `BoostingTheory`, because of the noise of A. That noise fills d_A while the signal grows, and
/// V's noise has n̄ = 1/T + d_A in place of 1/T: the variance of the growing amplitude is
/// v = 1 + 2ωT Σ_j d_A(j) e^{-2ωj} times larger, the estimate is Φ(snr) - Φ(snr/√v). d_A is that of
/// the mean field of a run whose amplitude lies one deviation above the mean, until α_V = θ. As
/// d_A ∝ α_V² is treated as independent of the sign, small amplitudes, which decide, are given too
/// much noise: the estimate is too large, by a factor of 1.2 to 4 where it was compared. At a fixed
/// snr it falls like (ln T)/T.
/// @param theta signal at which the sign counts as decided, > 0
double sign_deficit(const BigramModel& model, const BigramRates& rates, double batch, double theta);

/// @brief Averages over `boosted_amplitudes` of what a recursion gives. The recursion itself is the
/// run of the mean amplitude; where it is not linear in it (saturation) the mean of runs differs by
/// O(1/snr²).
/// @param mismatch Vμ - μ of the start; empty: 0
/// @param read columns of numbers of a recursion that stands at one of the rising `steps`
/// @return one row per step
Eigen::MatrixXd averaged_over_amplitudes(
    const BigramModel& model,
    const BigramRates& rates,
    double batch,
    const Eigen::VectorXd& mismatch,
    ValueNoise noise,
    std::span<const std::int64_t> steps,
    const std::function<Eigen::RowVectorXd(const BigramRecursion&)>& read);

}  // namespace attica
