#pragma once
/// @file
/// @brief The populations of masked-spectrum: Gaussian sequences of four covariances or rows of
/// data, what the theory of the predictor's spectrum says of each, and samples of it.

#include <Eigen/Core>

#include "attica/core/gauss/observations.hpp"
#include "attica/studies/kit.hpp"
#include "attica/theory/masked/spectrum.hpp"

namespace attica {

/// @brief The population of a configuration. Sizes are told by α = n/d.
class SpectrumPopulation {
 public:
  enum class Kind {
    identity,  ///< equal variances
    groups,    ///< variances 1 and model.noise_ratio on halves of the sites
    ar1,       ///< correlations ρ^|i-j|
    data,      ///< the rows of a file, drawn with replacement
  };

  /// Completes model.dimension. @throws Error (input) naming the parameter
  explicit SpectrumPopulation(Configuration& configuration);

  Kind kind() const { return kind_; }
  bool on_rows() const { return kind_ == Kind::data; }
  Eigen::Index sites() const { return sites_; }
  double dimension() const { return static_cast<double>(sites_); }
  /// @brief A configured penalty times its unit: of rows the mean eigenvalue of their covariance.
  double absolute(double lambda) const { return lambda * unit_; }

  /// @brief S = XᵀX/n of n samples.
  Eigen::MatrixXd sample_covariance(Eigen::Index samples, RandomStream& stream) const;
  /// @brief The same of n Gaussian samples of the rows' covariance.
  Eigen::MatrixXd gaussian_covariance(Eigen::Index samples, RandomStream& stream) const;

  /// @brief Not of rows: the deterministic equivalent.
  MaskedEquivalent equivalent(double alpha, double lambda) const;
  /// @brief Without the kernel's atom; with two variances the kernel is a band, which belongs to
  /// it. Of rows: wherever their eigenvalues are, few further from 0 than three standard
  /// deviations, none beyond 1.
  /// @param samples n, a real number
  MaskedSupport bulk(double alpha, double samples, double lambda) const;
  /// @brief Place of the kernel's eigenvalues, equal variances and α < 1 alone.
  std::optional<double> atom(double alpha, double lambda) const;
  /// @brief (1/d) tr A²; of rows to leading order, without an allowance: docs/masked.md.
  PredictedValue moment2(double alpha, double samples, double lambda) const;
  /// @brief What finite size may change of a second moment to leading order.
  double first_order(double moment2) const { return 3 / dimension() * moment2; }
  /// @brief Variance of xᵀQx over the rows, Q = (Σ+κ)⁻¹, over 2 tr(ΣQ)², that of Gaussian ones.
  double form_variance(double samples, double lambda) const;
  /// @brief Facts about the rows.
  Table diagnostics() const;

 private:
  void read_rows(Configuration& configuration);

  Kind kind_;
  Eigen::Index sites_ = 0;
  double ratio_;
  double rho_;
  double unit_ = 1;  ///< of the penalty
  // Of rows:
  Observations observed_;
  Eigen::MatrixXd covariance_;
  Eigen::MatrixXd factor_;  ///< F Fᵀ = covariance, for Gaussian samples
};

}  // namespace attica
