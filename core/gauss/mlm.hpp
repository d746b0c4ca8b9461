#pragma once
/// @file
/// @brief The problem of Gaussian masked modelling: sequences m ~ N(0, Σ), each site predicted from
/// the others.
///
/// For site i the inputs are x = m_{\i} with covariance C_i = Σ_{\i\i}, the label is y = m_i, and
/// b_i = Σ_{\i,i}. Then y = w*·x + ξ with w* = C_i⁻¹ b_i and an independent ξ ~ N(0, σ_i²),
/// σ_i² = 1/(Σ⁻¹)_ii (Rende, Gerace, Laio, Goldt 2023, arXiv:2304.07235).

#include <Eigen/Core>

namespace attica {

/// What GaussianMlm accepts as a covariance.
enum class Definiteness {
  positive,       ///< smallest eigenvalue above rounding, L·eps·(largest eigenvalue)
  semi_positive,  ///< eigenvalues within rounding of zero are zero; for covariances estimated from
                  ///< data
};

/// @brief An admissible covariance with what follows from it. Immutable.
class GaussianMlm {
 public:
  /// @param covariance Σ, L x L with L >= 2, finite, symmetric to 1e-10 of its largest entry (what
  /// is left of
  ///   asymmetry is averaged away), positive as `definiteness` says. Nothing is added to the
  ///   diagonal.
  /// @throws Error of kind input naming 'covariance', with the smallest eigenvalue where that is
  /// the cause
  explicit GaussianMlm(const Eigen::MatrixXd& covariance,
                       Definiteness definiteness = Definiteness::positive);

  const Eigen::MatrixXd& covariance() const noexcept { return covariance_; }
  /// @brief Number of sites L.
  Eigen::Index sites() const noexcept { return covariance_.rows(); }
  /// @brief Eigenvalues of Σ, ascending; those that are zero within rounding are exactly 0.
  const Eigen::VectorXd& eigenvalues() const noexcept { return eigenvalues_; }
  /// @brief Orthonormal eigenvectors in columns, in the order of the eigenvalues.
  const Eigen::MatrixXd& eigenvectors() const noexcept { return eigenvectors_; }
  /// @brief Number of non-zero eigenvalues.
  Eigen::Index rank() const noexcept { return rank_; }
  /// @brief Largest over smallest eigenvalue; +inf if the rank is deficient.
  double condition_number() const noexcept;
  double mean_eigenvalue() const noexcept { return eigenvalues_.mean(); }

  /// @brief Squared length of each unit vector's projection on the kernel of Σ, exactly 0 where it
  /// is rounding. Non-zero means that the site is a linear function of the others, hence σ_i² = 0.
  const Eigen::VectorXd& kernel_weights() const noexcept { return kernel_weights_; }
  /// @brief σ_i² = 1/(Σ⁻¹)_ii, the Bayes error of each site; 0 for sites determined by the others.
  const Eigen::VectorXd& noise_variances() const noexcept { return noise_variances_; }

  /// @brief F (L x L) with F Fᵀ = Σ, for sampling: the Cholesky factor, or Q√ℓ if the rank is
  /// deficient.
  Eigen::MatrixXd factor() const;

 private:
  Eigen::MatrixXd covariance_;
  Eigen::VectorXd eigenvalues_;
  Eigen::MatrixXd eigenvectors_;
  Eigen::VectorXd kernel_weights_;
  Eigen::VectorXd noise_variances_;
  Eigen::Index rank_ = 0;
};

}  // namespace attica
