#pragma once
/// @file
/// @brief Test and training error of ridge regression in Gaussian masked modelling, as N, M → ∞ at
/// fixed M/N.
///
/// Every site i is regressed on the N = L-1 others from M samples with the normalised objective
///   ŵ_i = argmin (1/2M) Σ_μ (y_μ - w·x_μ)² + (λ/2)‖w‖²,   so that a sum-normalised penalty is Mλ.
/// Errors are mean squares without factor 1/2. With s_k, u_k the eigenpairs of C_i, v_k = u_k·w*:
///   λ = κ (1 - df1/M),  df1 = Σ s_k/(s_k+κ)          κ: the largest root
///   γ = (1/M) Σ s_k²/(s_k+κ)²,  B = κ² Σ s_k v_k²/(s_k+κ)²
///   E_test = (B + σ²)/(1-γ),    E_train = (λ/κ)² E_test
/// (deterministic equivalents: Dobriban and Wager 2018, arXiv:1507.03003; Hastie, Montanari, Rosset
/// and Tibshirani 2022, arXiv:1903.08560; for masked Gaussian data Rende, Gerace, Laio and Goldt
/// 2023, arXiv:2304.07235.) λ = 0 is the limit λ → 0⁺, the minimum-norm solution.
///
/// If C_i has rank n < N, n takes the place of N: the threshold is M = n.

#include <Eigen/Core>
#include <span>
#include <vector>

#include "attica/core/gauss/mlm.hpp"
#include "attica/core/gauss/ridge_order.hpp"

namespace attica {

enum class RidgeStatus {
  converged,
  divergent,      ///< λ = 0 at the threshold M = rank C_i: test error, ‖ŵ‖² and q are +inf
  not_converged,  ///< no root κ found, or a number overflowed: the values are not to be used
};

/// @brief The theory of one site.
struct RidgeSite {
  double kappa = 0;
  double one_minus_gamma = 0;
  double bias = 0;               ///< B, squared bias of the mean predictor
  double sampling_variance = 0;  ///< B γ/(1-γ)
  double noise_variance = 0;     ///< σ² γ/(1-γ)
  double bayes_error = 0;        ///< σ²
  double test_error = 0;         ///< B + sampling variance + noise variance + σ²
  double train_error = 0;
  double overlap_m = 0;     ///< E ŵᵀ C w*
  double overlap_q = 0;     ///< E ŵᵀ C ŵ
  double weight_norm2 = 0;  ///< E ‖ŵ‖²
  double signal = 0;        ///< ρ = w*ᵀ C w*, so that q - 2m + ρ + σ² = E_test
  /// Allowances for the orders beyond the first, absolute; 0 at leading order.
  double finite_size_test = 0;
  double finite_size_train = 0;
  double finite_size_overlap_m = 0;
  double finite_size_overlap_q = 0;
  double finite_size_weight_norm2 = 0;
  RidgeStatus status = RidgeStatus::converged;
};

/// @brief Averages over the sites at one (M, λ).
struct RidgePoint {
  double samples = 0;
  double one_minus_gamma = 0;
  double bias = 0;
  double sampling_variance = 0;
  double noise_variance = 0;
  double bayes_error = 0;
  double test_error = 0;
  double train_error = 0;
  double overlap_m = 0;
  double overlap_q = 0;
  double weight_norm2 = 0;
  double signal = 0;
  /// Allowances for finite size, averages over the sites. At leading order 1/(M(1-γ)) of the
  /// quantity, three times that of E_train; at first order those of second_order().
  double finite_size_test = 0;
  double finite_size_train = 0;
  double finite_size_overlap_m = 0;
  double finite_size_overlap_q = 0;
  double finite_size_weight_norm2 = 0;
  RidgeStatus status = RidgeStatus::converged;  ///< the worst of the sites
};

/// @brief Sites that are alike but for rounding, such as mirror images: one of them, and their
/// share of all sites.
struct SiteKind {
  Eigen::Index site = 0;
  double share = 0;
};

/// @brief All sites from one eigendecomposition of Σ: O(L) per site and trial κ instead of one
/// O(L³) decomposition per site. ridge_site is the readable version that this one is tested
/// against.
class GaussianRidge {
 public:
  explicit GaussianRidge(const GaussianMlm& problem, RidgeOrder order = RidgeOrder::leading);

  RidgeOrder order() const noexcept { return order_; }
  Eigen::Index sites() const noexcept { return weights_.cols(); }
  double mean_eigenvalue() const noexcept { return mean_eigenvalue_; }
  /// @brief What averages are made of.
  const std::vector<SiteKind>& kinds() const noexcept { return kinds_; }

  /// @param site    0..L-1
  /// @param samples M >= 1, not necessarily an integer
  /// @param lambda  λ >= 0; below 1e-300 it counts as 0
  /// @throws Error of kind input naming 'site', 'samples' or 'lambda'
  [[nodiscard]] RidgeSite site(Eigen::Index site, double samples, double lambda) const;
  /// @brief Every site at one (M, λ).
  [[nodiscard]] std::vector<RidgeSite> all_sites(double samples, double lambda) const;
  /// @brief Site averages along a curve in M, in the order given (neighbours should be close: each
  /// κ starts from its predecessors).
  [[nodiscard]] std::vector<RidgePoint> curve(std::span<const double> samples, double lambda) const;
  /// @brief Site averages at one (M, λ).
  [[nodiscard]] RidgePoint average(double samples, double lambda) const;

 private:
  class SiteView;
  RidgeSite solve(SiteView& view, double samples, double lambda, double start) const;

  RidgeOrder order_;

  // Eigenvalues ℓ of Σ, ascending. A kernel of any dimension is kept as one eigenvalue 0, because
  // only its projection on the site matters.
  Eigen::ArrayXd spectrum_;
  Eigen::ArrayXd inverse_spectrum_;  // 1/ℓ, and 0 for the kernel
  Eigen::ArrayXXd weights_;          // column i: w_k, squared i-th components of the eigenvectors
  Eigen::ArrayXd variances_;         // Σ_ii
  Eigen::ArrayXd noise_variances_;   // σ_i²
  double mean_eigenvalue_ = 0;
  std::vector<SiteKind> kinds_;
};

/// @brief One site by the formulas above, from the eigendecomposition of C_i: the reference path.
/// @throws Error of kind input as GaussianRidge::site
[[nodiscard]] RidgeSite ridge_site(const GaussianMlm& problem,
                                   Eigen::Index site,
                                   double samples,
                                   double lambda,
                                   RidgeOrder order = RidgeOrder::leading);

}  // namespace attica
