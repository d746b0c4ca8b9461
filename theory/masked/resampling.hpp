#pragma once
/// @file
/// @brief Masked autoencoders trained on K stored masks per sample, or on fresh masks, in the limit
/// of many coordinates and samples.
///
/// Data: x = √(β/d) s u + diag(γ)^½ z in R^d with s and z standard normal, |u|² = d, noise
/// variances γ_i of mean 1; n = αd samples. One tied unit w: of a mask that hides every coordinate
/// with probability ρ, y = Σ_visible w_i x_i/√d predicts each hidden coordinate by w_i y/√d. The
/// loss of a sample and a mask, minus that of predicting 0, is
///     l = R y² - 2 y t,   R = Σ_hidden w_i²/d,   t = Σ_hidden w_i x_i/√d,
/// and w minimises the sum over samples of the mean of l over masks plus (λ/2)|w|². The mean is
/// over K masks that were drawn once per sample, or over all masks ("fresh": what training with
/// new masks in every step minimises when it is slow).
///
/// The replica-symmetric equations for M = w·u/d, Q = |w|²/d, C = Σγ_i w_i²/d and the response Δ
/// of the field w·x/√d are
///     v(γ) = 1/(λ + 2α(U + γH)),  q(γ) = (αβχM v)² + αγF v²,
///     M = αβχM E v,  Q = E q,  C = E γq,  Δ = E γv,
/// with χ, F, U, H functions of (M, Q, C, Δ) that depend on the masks. They are not proved; a
/// solution is stable where `replicon` is below 1.
///
/// Setting: Medina Moreira, Bardone, Zdeborová 2026, whose solver and tables are public; the
/// formulas here are derived independently of that code.

#include <optional>
#include <vector>

#include "attica/core/masked/noise_law.hpp"

namespace attica {

/// A noise variance γ with its share of the coordinates. Also a node of a quadrature of E over γ.
struct NoiseShare {
  double variance = 1;
  double share = 1;  ///< shares sum to 1
};

/// @brief The law as shares; 64 Gauss-Legendre nodes where it is continuous.
std::vector<NoiseShare> noise_shares(const NoiseVariances& noise);

/// What a unit predicts hidden coordinates by: act(y) in place of y.
enum class MaskActivation { identity, tanh, relu };

/// What the theory is computed for.
struct ResamplingProblem {
  std::vector<NoiseShare> noise = {NoiseShare{}};
  std::optional<double> masks = {};  ///< K >= 1 stored masks per sample; empty: fresh masks
  double alpha = 1;                  ///< n/d
  double beta = 1;                   ///< strength of the signal
  double rho = 0.75;                 ///< probability that a coordinate is hidden
  double lambda = 0;                 ///< penalty
  /// Other than the identity: fresh masks, or one stored mask.
  MaskActivation activation = MaskActivation::identity;
};

/// What w is on average, and what was found on the way.
struct ResamplingPoint {
  double alignment = 0;         ///< M = w·u/d >= 0
  double weight_norm = 0;       ///< Q = |w|²/d
  double noise_norm = 0;        ///< C = Σγ_i w_i²/d
  double response = 0;          ///< Δ
  double cosine = 0;            ///< M/√Q
  double train_loss = 0;        ///< first term of the objective over n
  double test_loss = 0;         ///< mean of l over new samples and new masks
  double accuracy = 0.5;        ///< P(sign w·x = sign s)
  double gain = 0;              ///< αβχ E v of the branch M = 0: recovery where it is above 1
  double replicon = 0;          ///< stable below 1; 1 on the branch M = 0; identity alone, else NaN
  double residual = 0;          ///< largest defect of an equation, relatively
  double alignment_excess = 0;  ///< M = 0: limit of d E cos²; else 0, and 0 unless identity
};

/// @brief Solves the equations: the branch M = 0 where its gain is at most 1, else that of M > 0.
/// @throws Error (input) naming the argument; (numerical) where no solution is found
ResamplingPoint resampled_masks(const ResamplingProblem& problem);

/// @brief α_c, from which on M > 0: where the gain of the branch M = 0 is 1. `alpha` is not used.
double resampling_threshold(const ResamplingProblem& problem);

/// @brief Its limit for a weak signal, (E γ²/β²)(1 + (1/(2ρ(1-ρ)) - 1)/K).
double weak_signal_threshold(const ResamplingProblem& problem);

/// @brief Bayes-optimal cosine for normal u and known γ, β: no estimator of this page does better.
/// 0 up to α = 1/(β² E γ⁻²).
double bayes_cosine(const ResamplingProblem& problem);
double bayes_threshold(const ResamplingProblem& problem);

/// Squared cosines of u with eigenvectors of the same samples (theory/masked/spike.hpp).
struct RivalOverlap {
  double overlap = 0;
  double threshold = 0;  ///< in the strength of the signal, from which on it is not 0
};

/// @brief Of PCA, hollow PCA, and diag(S)^½ times the eigenvector of correlations (whitened PCA).
std::vector<RivalOverlap> rival_overlaps(const ResamplingProblem& problem);

/// @brief Accuracy of sign(b w·x) after a logistic regression without intercept of N labels on the
/// one feature w·x: its slope b has the sign of Σ y_i w·x_i.
/// @param accuracy of sign(w·x)
/// @param labels N >= 1
double few_labels_accuracy(double accuracy, double labels);

}  // namespace attica
