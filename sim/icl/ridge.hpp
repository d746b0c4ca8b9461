#pragma once
/// @file
/// @brief Linear attention in context fitted to sequences: ridge regression, and gradient descent
/// on the product of its two layers.

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "attica/core/random.hpp"
#include "attica/sim/icl/sequences.hpp"

namespace attica {

/// @brief Fits of one data set at any number of penalties; what they share is computed once: the
/// Gram matrix of features, or that of sequences where these are fewer.
class ContextRidge {
 public:
  /// @param sequences kept, not copied: must outlive this
  explicit ContextRidge(const ContextSequences& sequences);

  /// @brief Γ = argmin Σ_μ (y_μ - <Γ, H_μ>)² + (n/d) λ ‖Γ‖²; λ = 0: of least norm, by a pivoted
  /// orthogonal decomposition. @return @shape{d x (d+1)}
  /// @throws Error (input) naming 'lambda' if negative; (numerical) where λ is lost in rounding
  Eigen::MatrixXd fit(double lambda) const;

  /// @brief Bytes that sequences, features and a Gram matrix with its factor take.
  static double bytes(double dimension, double samples);
  /// @brief Work of drawing n sequences and fitting them at some penalties.
  static double flops(double dimension, double samples, double penalties);

 private:
  const ContextSequences& sequences_;
  Eigen::Index dimension_;
  bool wide_;
  Eigen::MatrixXd gram_;   ///< lower triangle
  Eigen::VectorXd cross_;  ///< Fᵀy; empty if wide
};

/// The two layers of linear attention Γ = v M.
struct ContextLayers {
  double v = 1;
  Eigen::MatrixXd m;  ///< @shape{d x (d+1)}
};

/// How linear attention Γ = v M is trained.
struct ContextDescent {
  double eta = 0.1;        ///< learning rate of M; that of v is eta/d
  double lambda = 0.01;    ///< penalty λ‖vM‖²/2 beside the loss (d/2n) Σ (y - <vM, H>)²
  Eigen::Index batch = 0;  ///< sequences of a step, with replacement, the rate falling as a half
                           ///< cosine; 0: all, at constant rate
  std::vector<std::int64_t> steps = {};     ///< recorded, rising; the last is the length
  std::optional<ContextLayers> start = {};  ///< none: v = 1, M ~ N(0, 0.01²)
};

/// @brief Gradient descent on both layers.
/// @param record called with (step, Γ) at every recorded step; returning false ends the run
/// @return the step after which Γ was no longer finite; 0 if that did not happen
std::int64_t descend(const ContextSequences& sequences,
                     const ContextDescent& descent,
                     RandomStream& stream,
                     const std::function<bool(std::int64_t, const Eigen::MatrixXd&)>& record);

}  // namespace attica
