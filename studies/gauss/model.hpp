#pragma once
/// @file
/// @brief What the Gaussian studies share: the [model] section with its covariance families and
/// users' own data.

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <vector>

#include "attica/core/gauss/mlm.hpp"
#include "attica/core/gauss/observations.hpp"
#include "attica/studies/kit.hpp"

namespace attica {

/// @brief Whether the population is users' own data.
bool on_data(const Configuration& configuration);

/// @brief A covariance and a way to draw training samples with it.
class GaussianModel {
 public:
  /// @brief Builds it from the [model] section and completes `sites` and `lambda_unit` in the
  /// configuration.
  /// @throws Error of kind input naming the parameter
  static GaussianModel from(Configuration& configuration);
  /// @brief The member with that many sites of the family of `model.covariance`, `rho`, `nu` and
  /// `tau`; penalties are absolute.
  /// @throws Error of kind input naming the parameter
  static GaussianModel family(const Configuration& configuration, Eigen::Index sites);

  const GaussianMlm& problem() const { return problem_; }
  /// @brief F with F F^T = covariance.
  const Eigen::MatrixXd& factor() const { return factor_; }
  /// @brief A configured penalty in the units of the covariance.
  double absolute_lambda(double configured) const { return configured * lambda_unit_; }
  /// @brief Refuses penalties with which numbers overflow. @throws Error (input) naming the key
  void require_penalties(const std::vector<double>& configured, const std::string& key) const;
  bool from_data() const { return data_.rows.size() > 0; }
  /// @brief N = L - 1.
  double inputs() const { return static_cast<double>(problem_.sites() - 1); }
  /// @brief Numbers of samples of `sweep.alpha`.
  SampleSizes sizes(const Configuration& configuration) const;

  /// @brief M training samples, one a row: Gaussian, or rows of the data with replacement.
  Eigen::MatrixXd samples(Eigen::Index count, RandomStream& stream) const;

  /// @brief Sites, condition number, and for data the columns' names, excess kurtoses and why a
  /// Gaussian theory may fail on them.
  Table diagnostics() const;
  std::vector<std::string> warnings() const { return warnings_; }

 private:
  GaussianModel(GaussianMlm problem, double lambda_unit);

  GaussianMlm problem_;
  Eigen::MatrixXd factor_;
  bool factor_is_lower_ = false;
  double lambda_unit_ = 1;
  Observations data_;  ///< empty for Gaussian models
  std::vector<std::string> warnings_;
};

}  // namespace attica
