#pragma once
/// @file
/// @brief How attention logits compare with the approximate softmax invariant
///     z = (1/2T) sum_k (v_k^2 - |v_k|^2 bbar) + const,
/// bbar the mean attended context (Tian et al. 2023, arXiv:2310.00535, Theorem 1; the factor 1/2
/// covers both terms).

#include <Eigen/Core>

#include "attica/core/joma/model.hpp"

namespace attica {

/// Agreement of z with the prediction, over tokens.
struct SoftmaxAgreement {
  double correlation = 0;          ///< Pearson correlation of z and the prediction
  double correlation_weights = 0;  ///< with sum_k v_k^2 / 2T alone
  double correlation_norm = 0;     ///< with -|V|^2 bbar / 2T alone
  double slope = 0;                ///< of the regression of z on the prediction
  double residual = 0;             ///< |z - prediction| / |z - z(0)|
};

/// @brief The prediction, with its constant fixed at the start. Uses sum_m z_m.
class SoftmaxInvariant {
 public:
  SoftmaxInvariant(const JomaModel& model, const JomaState& start);

  /// @brief bbar = sum_i weight_i x_i / sum_l x_il.
  const Eigen::VectorXd& mean_context() const { return mean_context_; }
  /// @brief [sum_m z_m]_0^t - (1/2T) [sum_k (v_k^2 - |v_k|^2 bbar)]_0^t
  Eigen::VectorXd defect(const JomaState& state) const;
  SoftmaxAgreement compare(const JomaState& state) const;

 private:
  Eigen::VectorXd weights_part(const JomaState& state) const;
  Eigen::VectorXd norm_part(const JomaState& state) const;

  double temperature_;
  Eigen::VectorXd mean_context_;
  Eigen::VectorXd start_;     ///< sum_m z_m(0)
  Eigen::VectorXd constant_;  ///< start_ less the prediction at the start
};

}  // namespace attica
