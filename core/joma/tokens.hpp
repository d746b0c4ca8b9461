#pragma once
/// @file
/// @brief One query's contexts: classes with a reward, and a law of tokens in each.

#include <Eigen/Core>
#include <vector>

namespace attica {

/// @brief A sample draws a class n, then T_ctx independent tokens from P(l|n); x_l is the share of
/// token l, and the back-propagated gradient is the class's reward g_n.
struct JomaTokens {
  Eigen::VectorXd classes;  ///< P(n), sums to 1
  Eigen::VectorXd rewards;  ///< g_n
  Eigen::MatrixXd tokens;   ///< P(l|n); rows sum to 1; @shape{classes x M}

  /// @brief Delta_l = E[g x_l] = sum_n P(n) g_n P(l|n).
  Eigen::VectorXd delta() const;
  /// @brief Var(g x_l) = sum_n P(n) g_n^2 (p^2 + p(1-p)/T_ctx) - Delta_l^2.
  Eigen::VectorXd variance(double context) const;

  /// @brief Two equally likely classes of rewards g > 0 > -g' whose contexts have the given Delta.
  /// Common words make half of the sum of |Delta|.
  static JomaTokens with_delta(const std::vector<double>& delta);
};

/// @brief Throws Error (input) naming `model.classes`, `model.rewards` or `model.token_law`.
void validate(const JomaTokens& tokens);

}  // namespace attica
