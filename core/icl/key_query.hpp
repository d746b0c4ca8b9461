#pragma once
/// @file
/// @brief Linear attention trained on linear regression in context without noise: population loss,
/// weights with merged or separate keys and queries, and the direction in which they learn.
///
/// x ~ N(0, Λ) with D inputs, w ~ N(0, 1), y = w·x, N pairs of context, β = (1/N) Σ y_n x_n. Output
/// f = βᵀ U x with U = Σ_h v_h U_h (merged) or Σ_h v_h K_hᵀ Q_h (separate, K_h and Q_h of shape r x
/// D). Loss L = (1/2) E (y - f)²; the blocks that start at zero and stay there are left out.
/// @source Zhang, Singh, Latham, Saxe 2025, arXiv:2501.16265

#include <Eigen/Core>

#include "attica/core/random.hpp"

namespace attica {

/// @brief Inputs and context; everything else follows.
class KeyQueryTask {
 public:
  /// @param spectrum eigenvalues λ_i > 0 of Λ
  /// @param context  N >= 1
  /// @throws Error (input) naming spectrum or context
  KeyQueryTask(Eigen::VectorXd spectrum, double context);
  /// @brief Eigenvalues proportional to (D+1-i)^power, of trace 1. @throws Error (input)
  static KeyQueryTask power_law(Eigen::Index dimension, double power, double context);

  Eigen::Index dimension() const { return spectrum_.size(); }
  double context() const { return context_; }
  const Eigen::VectorXd& spectrum() const { return spectrum_; }
  /// @brief Eigenvalues of E ββᵀ: a_i = (1+1/N) λ_i² + λ_i tr Λ/N.
  const Eigen::VectorXd& second() const { return second_; }
  /// @brief E (y - f)² = 2L, exact.
  double mse(const Eigen::MatrixXd& u) const;
  /// @brief -dL/dU = Λ² - E[ββᵀ] U Λ.
  Eigen::MatrixXd descent(const Eigen::MatrixXd& u) const;
  /// @brief E (y - f)² once the first m eigenvectors are learnt, m = 0..D.
  double plateau(Eigen::Index modes) const;

 private:
  Eigen::VectorXd spectrum_;
  double context_;
  Eigen::VectorXd second_;
};

enum class KeyQuery { merged, separate };

/// @brief Where the weights stand in one vector: v, then all U_h, or all K_h and then all Q_h; each
/// matrix row by row.
struct KeyQueryShape {
  KeyQuery kind = KeyQuery::merged;
  Eigen::Index heads = 1;
  Eigen::Index dimension = 1;
  Eigen::Index rank = 1;  ///< separate only

  Eigen::Index size() const;
};

/// @brief U. @param weights @shape{size()}
Eigen::MatrixXd effective_matrix(const KeyQueryShape& shape, const Eigen::VectorXd& weights);
/// @brief The direction of descent in the weights, given -dL/dU.
Eigen::VectorXd weight_direction(const KeyQueryShape& shape,
                                 const Eigen::VectorXd& weights,
                                 const Eigen::MatrixXd& descent);

/// @name Starts
/// @{
/// All entries N(0, scale²).
Eigen::VectorXd gaussian_weights(const KeyQueryShape& shape, double scale, RandomStream& stream);
/// Merged: U_h = u_h 1/√D, v_h and u_h N(0, scale²).
Eigen::VectorXd white_weights(const KeyQueryShape& shape, double scale, RandomStream& stream);
/// Separate, rank 1, as many heads as inputs: v = ‖k‖ = ‖q‖ = scale, head i along eigenvector i.
Eigen::VectorXd aligned_weights(const KeyQueryShape& shape, double scale);
/// @}

}  // namespace attica
