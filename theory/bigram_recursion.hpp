#pragma once
/// @file
/// @brief Mean-field recursions of SGD with hat gradients, without l1: the mean follows the
/// population, the gradient noise feeds the squared remainders.
///
/// State α_V, α_A, d_V and d_k for every last token k, with n_k = 1/T + α_A² (|q_k|² - 1/T) + d_k,
/// o_k = 1/T + α_A (|q_k|² - 1/T). Noise of A is white with variance tr(S_V R_k)/(μ_k B), noise of
/// V has total variance (N-1) tr(R_v)/B. Good when SNR >= 4 and η is below half the stability
/// limit; d_V comes out up to twice too large for N = 3. Derivation: docs/bigrams.md.

#include <Eigen/Core>
#include <optional>

#include "attica/core/bigram_model.hpp"
#include "attica/theory/bigram_flow.hpp"

namespace attica {

/// @brief The recursion from the standard start, or from a general mean V with uniform A.
class BigramRecursion {
 public:
  /// @param batch B > 0, need not be whole
  BigramRecursion(const BigramModel& model, const BigramRates& rates, double batch);
  /// @param value the start of V; its mean is then kept as a matrix and only the noise is in d_V
  BigramRecursion(const BigramModel& model,
                  const BigramRates& rates,
                  double batch,
                  const Eigen::MatrixXd& value);

  void step();

  /// @brief d_V counts the noise; for a matrix start also the mean's remainder.
  BigramSignals signals() const;
  double k_v() const;
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
  double alpha_v_ = 0;
  double alpha_a_ = 0;
  double noise_v_ = 0;       ///< d_V of the noise
  Eigen::VectorXd noise_a_;  ///< d_k
  Eigen::MatrixXd psp_;      ///< P Σ Pᵀ
  Eigen::MatrixXd shape_v_;  ///< R̄/tr R̄ of the previous step: shape of V's noise
};

}  // namespace attica
