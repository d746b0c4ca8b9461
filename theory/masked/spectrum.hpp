#pragma once
/// @file
/// @brief Spectrum of the predictor of masked ridge regression in the limit of many sites and
/// samples.
///
/// Every coordinate of x ~ N(0, Σ) in R^d is predicted by ridge regression on the others from n
/// samples: row k of A minimises (1/2n)|X_k - X A_k|² + (λ/2)|A_k|² with A_kk = 0. With
/// S = XᵀX/n, G = (S+λ)⁻¹, D = diag G, exactly
///     A = I - D⁻¹G = D^-½ (I - H) D^½,   H = D^-½ G D^-½,
/// so that A's eigenvalues w = 1 - h are real, below 1, and sum to 0. In the proportional limit
/// γ = d/n, κ the effective penalty of all d sites, G_kk -> g_k = (κ/λ) [(Σ+κ)⁻¹]_kk, and H⁻¹ has
/// the spectrum of the sample covariance diag(g)^½ (S+λ) diag(g)^½: z = 1/(1-w) is its eigenvalue.
///
/// Setting: Wortsman Zurich, Gerace, Loureiro, Lu 2026 (arXiv:2601.23208). The formulas here are
/// derived from deterministic equivalents of sample covariances; none is taken from that paper.

#include <Eigen/Core>
#include <complex>
#include <optional>
#include <vector>

namespace attica {

/// Sites of equal variance.
struct SiteGroup {
  double variance = 1;  ///< ψ > 0; a diagonal entry, or an eigenvalue where all g_k are equal
  double share = 1;     ///< of all sites; shares sum to 1
};

/// @brief κ, and what the diagonal of (S+λ)⁻¹ tends to, for Σ diagonal in groups.
struct MaskedEquivalent {
  std::vector<SiteGroup> groups;
  double gamma = 0;       ///< d/n
  double lambda = 0;      ///< penalty, > 0
  double kappa = 0;       ///< λ = κ (1 - (1/n) tr Σ(Σ+κ)⁻¹)
  std::vector<double> g;  ///< (κ/λ)/(ψ+κ), one a group
};

/// @brief Solves for κ.
/// @throws Error (input) naming 'lambda', 'gamma' or 'variance' unless they are positive and finite
MaskedEquivalent masked_equivalent(std::vector<SiteGroup> groups, double gamma, double lambda);

/// @brief The same for a stationary sequence far from its ends, where g_k is one number: `groups`
/// are the eigenvalues of its covariance, and g their mean of (κ/λ)/(ψ+κ).
MaskedEquivalent masked_stationary(std::vector<SiteGroup> groups, double gamma, double lambda);

/// @brief Limit of (1/d) tr (A-w)⁻¹ off the real axis.
/// @param w Im w != 0
std::complex<double> masked_resolvent(const MaskedEquivalent& equivalent, std::complex<double> w);

/// @brief Share of eigenvalues below w, atoms included: minus the phase over π of
/// Σ_k log(ψ_k/(1+e) + λ - z/g_k) + n log(1+e) - n e/(1+e), which is stationary in e.
double masked_cdf(const MaskedEquivalent& equivalent, double w);

/// @brief The ends of the support above the lowest share `below` of the eigenvalues: 1 - 1/γ leaves
/// out an atom of the kernel. To about 1e-5 of its width.
struct MaskedSupport {
  double lower = 0;
  double upper = 0;
};
MaskedSupport masked_support(const MaskedEquivalent& equivalent, double below = 0);

/// @brief Limit of (1/d) tr A²: γ (mean ψ g)² / ((κ/λ)² - γ mean (ψ g)²).
double masked_moment2(const MaskedEquivalent& equivalent);

/// @brief (1/d) tr A² to leading order for any covariance, M = diag(1/g), Ḡ = (κ/λ)(Σ+κ)⁻¹:
/// (1/d) tr M [ḠMḠ + ḠΣḠ (1/n) tr(ΣḠMḠ)/((κ/λ)² - (1/n) tr(ΣḠ)²)] - 1.
/// @param covariance Σ, d x d, positive definite
double masked_moment2(const Eigen::MatrixXd& covariance, double samples, double lambda);

/// Closed forms for Σ = I.
struct IsotropicSpectrum {
  double kappa = 0;
  double g = 0;
  double lower = 0;  ///< edges of the bulk: 1 - 1/(g ((1 ± √γ)² + λ))
  double upper = 0;
  std::optional<double> atom;  ///< γ > 1: where the kernel's d - n eigenvalues are, -1/κ
  double moment2 = 0;          ///< (1/d) tr A²
  double moment3 = 0;          ///< (1/d) tr A³
};
IsotropicSpectrum isotropic_spectrum(double gamma, double lambda);

/// @brief E (1/d) tr A² for Σ = I to order 1/n, from the exact law of a 2 x 2 block of G:
/// A_12 A_21 = B_12²/(B_11 B_22), B = λ + YᵀPY/n. What is left is below 15/n², relatively.
/// @param dimension d >= 3
double isotropic_moment2(double dimension, double samples, double lambda);

/// @brief E (1/d) tr A³ for Σ = I to order 1/n, from the law of a 3 x 3 block B of G⁻¹:
/// A_12 A_23 A_31 = (a-bc)(b-ca)(c-ab)/((1-a²)(1-b²)(1-c²)) of the correlations a, b, c of B = λ +
/// YᵀPY/n, whose moments Wick's rule gives in those of P. What is left is below 25 m₂^{3/2}/n² from
/// λ = 0.3 on.
/// @param dimension d >= 4
double isotropic_moment3(double dimension, double samples, double lambda);

}  // namespace attica
