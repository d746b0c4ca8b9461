#pragma once
/// @file
/// @brief Errors of full-batch gradient flow, gradient descent and any other linear learning rule
/// on M samples of Gaussian masked modelling, as N, M → ∞ at fixed M/N.
///
/// Start w = 0; rule w(t) = (1 - f(Ŝ)) Ŝ⁺ Xᵀy/M with a residual filter f (flow: e^{-zt}). Errors
/// are mean squares without factor 1/2. Averages over the data of analytic functions of Ŝ are
/// contour integrals of its resolvent, whose deterministic equivalent (z - Ŝ)⁻¹ ≈ -(κ/z)(C_i +
/// κ)⁻¹... holds with
///   z(κ) = -κ (1 - (1/M) Σ s_k/(s_k+κ)).
/// Products of two resolvents follow from their difference, and with H(κ) = Σ s_k v_k²/(s_k+κ), W =
/// f (κ/z) dz/2πi along a contour around the spectrum
///   E_test  = σ² + ∮∮ W W' (H - H')/(z - z') + σ² ∮ ((1-f)/z)² κ dz/2πi,
///   E_train = σ² r - ∮ f² [H + σ² (1/κ + r/z)] dz/2πi,   r = max(0, 1 - N/M).
/// The first is the double contour of the two-point deterministic equivalent: since
///   1 - (1/M) Σ s²/((s+κ)(s+κ')) = -(z-z')/(κ-κ'),  Σ s v²/((s+κ)(s+κ')) = -(H-H')/(κ-κ'),
/// their ratio is (H-H')/(z-z'). Integration is done in the κ plane, on a circle inside the region
/// (1/M) Σ s²/|s+κ|² < 1, where z(κ) is one-to-one.
///
/// At first order (RidgeOrder::first, real Gaussian samples) the resolvent's term of relative order
/// 1/M is integrated along the same contours. With the symbols of ridge_first_order.hpp at complex
/// κ and U = (L/κ) (V_2 + (1-D₂) V_1), W_1 = L (1-D₂) W, the terms added are
///   E_test:  (1/M) ∮∮ [(2 W_1 - W) W' (H - H') - W W' (U - U')]/(z - z')
///            + (σ²/M) ∮ ((1-f)/z)² κ L (γ-D₂) dz/2πi,
///   E_train: (1/M) ∮ f² (L/κ) [V_2 - D₂ V_1 - σ² D₂] dz/2πi.
/// The two-point function behind the first follows from integration by parts of the samples; at
/// equal arguments it is the derivative that gives ridge regression.
///
/// Sources: deterministic equivalents as for ridge regression (Dobriban and Wager 2018,
/// arXiv:1507.03003); gradient flow: Ali, Kolter and Tibshirani 2019, arXiv:1810.10082; contour
/// form in the spirit of Bai and Silverstein 2004, arXiv:math/0408386; setting: Rende, Gerace, Laio
/// and Goldt 2023, arXiv:2304.07235.

#include <span>
#include <vector>

#include "attica/theory/gauss/residual_filter.hpp"
#include "attica/theory/gauss/ridge.hpp"

namespace attica {

enum class FlowStatus {
  converged,
  not_converged,  ///< the values of the last two numbers of nodes differ by more than 1e-9 of the
                  ///< test error
  unstable,  ///< gradient descent whose rate exceeds 2 / (upper edge of the spectrum): no value
};

/// @brief Theory of one site, or of the site average, for one filter.
struct FlowPoint {
  double test_error = 0;
  double train_error = 0;
  double signal_error = 0;  ///< what noiseless labels would give, averaged over the inputs
  double noise_error = 0;   ///< what the noise of the labels adds to the test error
  /// Allowances for the orders beyond the first, absolute; 0 at leading order. For a change r of
  /// the leading order by the first: r²/2 of it, the next term of an exponential, or what ridge
  /// regression has at λ = 1/time if that is more.
  double finite_size_test = 0;
  double finite_size_train = 0;
  double numerical_error = 0;  ///< change of the test error when the nodes last became more
  FlowStatus status = FlowStatus::converged;  ///< of an average: the worst of the sites
};

class GaussianFlow {
 public:
  explicit GaussianFlow(const GaussianMlm& problem, RidgeOrder order = RidgeOrder::leading);
  /// @brief The same from a start w(0) != 0: v_k in H are the components of w* - w(0).
  /// @param start row i is w(0) of site i, its diagonal is not looked at; @shape{L x L}
  GaussianFlow(const GaussianMlm& problem, RidgeOrder order, const Eigen::MatrixXd& start);

  Eigen::Index sites() const noexcept { return weights_.cols(); }
  /// @brief From a start: the error on infinitely many samples, averaged over sites.
  double population_error(const ResidualFilter& filter) const;

  /// @brief One site for any number of filters: they share the contour's kernel.
  /// @param samples M >= 1, not necessarily an integer
  /// @throws Error of kind input naming 'site' or 'samples'
  [[nodiscard]] std::vector<FlowPoint> site(Eigen::Index site,
                                            double samples,
                                            std::span<const ResidualFilter> filters) const;
  /// @brief Site averages, on contours that the sites share. Allowances, numerical error and status
  /// are those of the average.
  [[nodiscard]] std::vector<FlowPoint> average(double samples,
                                               std::span<const ResidualFilter> filters) const;

 private:
  class SiteView;
  class AllSites;

  std::vector<FlowPoint> mean_of_sites(double samples,
                                       std::span<const ResidualFilter> filters) const;

  /// What is to be learnt from a start: s_k of C_i, and s_k v_k².
  struct Target {
    Eigen::ArrayXd s;
    Eigen::ArrayXd power;
  };

  std::vector<Target> targets_;  // of every site; empty: w(0) = 0
  Eigen::ArrayXd spectrum_;      // eigenvalues ℓ of Σ, ascending, the kernel as one eigenvalue 0
  Eigen::ArrayXXd weights_;      // column i: squared i-th components of the eigenvectors
  Eigen::ArrayXd noise_variances_;
  GaussianRidge ridge_;
  RidgeOrder order_;
};

}  // namespace attica
