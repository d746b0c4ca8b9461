#pragma once
/// @file
/// @brief Exact mean test error of stochastic gradient descent in Gaussian masked modelling, at any
/// learning rate.
///
/// Row w of the linear attention matrix, for one site with inputs x and label y = w*·x + ξ, moves
/// by
///   w ← (1 - ηλ) w + (η/B) Σ_b mask_b (y_b - w·x_b) x_b,     mask_b = 1 with probability p, else
///   0.
/// Rows share samples, but the moments of each close by themselves. Errors are mean squares without
/// factor 1/2, averaged over everything random; the start is w = 0.
///
/// Fresh samples at every step (online): with s_k, v_k the eigenvalues of the input covariance and
/// the teacher's components, μ_k = E(w_k - v_k), m_k = E(w_k - v_k)², R = Σ s_k m_k, E_test = R +
/// σ², c_k = 1 - η(p s_k + λ), and by Isserlis' theorem
///   m_k ← m_k [c_k² + η² s_k² (2p - p²)/B] + (η² p/B) s_k (R + σ²) - 2ηλ v_k c_k μ_k + (ηλ v_k)²,
///   μ_k ← c_k μ_k - ηλ v_k.
/// The middle term is the sampling noise. Without decay the error settles at
///   E_∞ = σ²/(1-χ),   χ = (η/B) Σ_k s_k/(2 - η s_k (p + (2-p)/B)),
/// and is stable in mean square if and only if η s_max (p + (2-p)/B) < 2 and χ < 1.
///
/// Sources: Bershad 1986 and Feuer and Weinstein 1985 for single samples (LMS); for batches
/// Paquette, Lee, Pedregosa and Paquette 2021, arXiv:2102.04396, Bordelon and Pehlevan 2022,
/// arXiv:2106.02713; masks derived here.

#include <cstdint>
#include <span>
#include <vector>

#include "attica/core/gauss/mlm.hpp"
#include "attica/theory/gauss/site_regression.hpp"

namespace attica {

struct SgdParameters {
  double eta = 0.1;  ///< learning rate η > 0
  double batch = 1;  ///< samples per step B >= 1
  double probability =
      1;  ///< p in (0, 1]: 1 if every site is predicted from every sample, 1/L for one random mask
  double lambda = 0;  ///< weight decay λ >= 0
};

/// @brief Mean test error of one site at the given steps; +inf where the recursion overflows.
/// @param steps numbers of updates made, >= 0, rising
/// @throws Error of kind input naming 'eta', 'batch', 'mask_probability', 'lambda' or 'steps'
std::vector<double> online_sgd_errors(const SiteRegression& site,
                                      const SgdParameters& parameters,
                                      std::span<const std::int64_t> steps);

/// Late times of online SGD without decay.
struct SgdSteadyState {
  double chi = 0;    ///< +inf beyond the first stability bound
  double error = 0;  ///< σ²/(1-χ), +inf if unstable
  bool stable = false;
};
/// @param parameters lambda must be 0
SgdSteadyState online_sgd_steady(const SiteRegression& site, const SgdParameters& parameters);

/// @brief Largest learning rate below which online SGD is stable in mean square. With decay, the
/// conditions are η < 2 d_k/b_k and χ = (ηp/B) Σ s_k²/(2 d_k - η b_k) < 1, where d_k = p s_k + λ
/// and b_k = d_k² + (2p - p²) s_k²/B.
/// @param parameters all but the learning rate
double online_sgd_eta_max(const SiteRegression& site, SgdParameters parameters);

/// @brief Online SGD of all sites: averages over them.
class OnlineSgd {
 public:
  explicit OnlineSgd(const GaussianMlm& problem);

  /// @brief Mean of online_sgd_errors.
  std::vector<double> errors(const SgdParameters& parameters,
                             std::span<const std::int64_t> steps) const;
  /// @brief Mean error, largest chi; stable if all sites are. @param parameters lambda must be 0
  SgdSteadyState steady(const SgdParameters& parameters) const;
  /// @brief Largest learning rate below which all sites are stable.
  double eta_max(const SgdParameters& parameters) const;
  /// @brief Error of the best predictors.
  double bayes_error() const;

 private:
  std::vector<SiteRegression> sites_;
};

/// @brief SGD with replacement on a fixed data set: mean over the choice of batches, exact given
/// the data.
///
/// With ŵ a least-squares solution, r_μ = y_μ - x_μ·ŵ, d = w - ŵ, μ = E d, Q = E d dᵀ, δ = ŵ - w*:
///   Q ← Q - η(ŜQ + QŜ) + η² [(1-1/B) ŜQŜ + (1/BM) Σ_μ (r_μ² - 2 r_μ x_μ·μ + x_μᵀQx_μ) x_μ x_μᵀ],
///   μ ← μ - ηŜμ,   E_test = σ² + tr C (Q + μδᵀ + δμᵀ + δδᵀ).
/// O(MN²) per step: for N up to about 100.
/// @param data Z, M x L, one sample a row
/// @param parameters p must be 1 and lambda 0
/// @return E_test at the given steps; +inf where the recursion overflows
std::vector<double> data_sgd_errors(const GaussianMlm& problem,
                                    Eigen::Index site,
                                    const Eigen::MatrixXd& data,
                                    const SgdParameters& parameters,
                                    std::span<const std::int64_t> steps);

/// @brief Mean of these over all sites.
std::vector<double> data_sgd_errors(const GaussianMlm& problem,
                                    const Eigen::MatrixXd& data,
                                    const SgdParameters& parameters,
                                    std::span<const std::int64_t> steps);

/// @brief Factor by which E|w - ŵ|², within the span of the data, grows per step at late times
/// where no residuals feed it: the largest eigenvalue of the map of Q above, from below. SGD with
/// replacement is stable in mean square if and only if it is below 1.
/// @param data Z, M x L, one sample a row
/// @param parameters p must be 1 and lambda 0
double data_sgd_growth(const Eigen::MatrixXd& data,
                       Eigen::Index site,
                       const SgdParameters& parameters);

/// @brief Whether that factor is below 1 for every site.
bool data_sgd_stable(const Eigen::MatrixXd& data, const SgdParameters& parameters);

}  // namespace attica
