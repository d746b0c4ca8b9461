#pragma once
/// @file
/// @brief The law of one sequence's features in context, and what ridge regression on many of them
/// comes to when that law is kept.
///
/// Features are H = x uᵀ with the query x ~ N(0, 1/d) and u = (h, g) of the context. Taking one
/// sequence out of n changes the inverse Gram matrix of the others by a factor 1/(1 + q) with
/// q = |x|² uᵀKu, K the inverse Gram matrix's part in u. Were the features Gaussian, q would not
/// fluctuate; here its relative variance is of order 1/d. Keeping it, the equivalents of ridge
/// regression are
///
///     K⁻¹ = (n/d)(λ + E φ uuᵀ),   φ = E_x |x|²/(1 + q),   E Γ = (E φ wuᵀ)(λ + E φ uuᵀ)⁻¹,
///
/// and with r² = |w - EΓ u|²/d |x|² + ρ the covariance of a row of Γ is dK/dε at ε = 0, where K
/// solves the first with 1 + q + ε r² in place of 1 + q. What is still left out (sequences of one
/// task that meet in d dimensions, not d²) is smaller; see docs/in-context.md.
/// @source leave-one-out, as in Karoui 2018 (Probab. Theory Relat. Fields 170, 95) for data whose
/// norms fluctuate; derived here for these features

#include <Eigen/Core>
#include <vector>

#include "attica/core/icl/regression.hpp"

namespace attica {

/// @brief Sequences whose tasks are those of a pool, all equally likely.
class FeatureLaw {
 public:
  /// @param pool a task a row; @shape{k x d}
  FeatureLaw(const Eigen::MatrixXd& pool, const ContextNoise& context);

  /// Means over sequences, weighted by φ.
  struct Weighted {
    Eigen::MatrixXd second;  ///< E φ uuᵀ; @shape{(d+1) x (d+1)}
    Eigen::MatrixXd cross;   ///< E φ wuᵀ; @shape{d x (d+1)}
  };

  /// @brief φ = E_x |x|²/(1 + ε ρ + |x|² a) with a = uᵀKu + ε |w - Γu|²/d.
  /// Given task and label square, u is Gaussian, and 1/(1 + a) a mixture of exponentials of it:
  /// sums over tasks, nodes of the label square and of the mixture's rate, good to about 1e-6, of
  /// contexts of 16 to 4e-5.
  /// @param k positive definite; @shape{(d+1) x (d+1)} @param gamma @shape{d x (d+1)}
  Weighted weighted(const Eigen::MatrixXd& k, double epsilon, const Eigen::MatrixXd& gamma) const;

 private:
  /// Nodes and weights of a mean over a variable of mean 1.
  struct Nodes {
    Eigen::ArrayXd at;
    Eigen::ArrayXd weight;
  };
  static Nodes chi_squared(double degrees, int count);

  /// What every task and the query leave of the weight e^{-τa} at τ = rate over the task's spread,
  /// and of the integral dτ; @shape{rates x k}
  Eigen::ArrayXXd query_shares(const Eigen::ArrayXd& rates, double epsilon) const;

  Eigen::MatrixXd tasks_;                                 ///< a task a column
  double rho_;                                            ///< variance of the noise
  Eigen::Array<double, 1, Eigen::Dynamic> label_square_;  ///< of every task: E y²
  Eigen::Array<double, 1, Eigen::Dynamic> spread_;        ///< variance of h across its task, of E g
  bool alike_;                                            ///< the spread is that of all tasks
  Nodes context_;                                         ///< χ²_l/l: the labels' square
  Nodes query_;                                           ///< χ²_d/d: |x|²
};

/// Mean and covariance of what ridge regression fits.
struct RidgeOfFeatures {
  Eigen::MatrixXd mean;        ///< E Γ; @shape{d x (d+1)}
  Eigen::MatrixXd covariance;  ///< of a row of Γ, mean over rows; @shape{(d+1) x (d+1)}
};

/// @param samples n @param lambda > 0
/// @param moments of the law @param weight a first guess of φ: that of Gaussian features
/// @throws Error (numerical) where the equations' solution is not reached
RidgeOfFeatures ridge_of_features(const FeatureLaw& law,
                                  double samples,
                                  double lambda,
                                  const ContextMoments& moments,
                                  double weight);

}  // namespace attica
