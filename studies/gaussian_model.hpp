#pragma once
/// @file
/// @brief The [model] section that the Gaussian studies share: covariance families, and users' own
/// data.

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attica/core/gaussian_mlm.hpp"
#include "attica/core/random.hpp"
#include "attica/core/value.hpp"
#include "attica/studies/configuration.hpp"

namespace attica {

/// Number of sites unless a study says otherwise.
inline constexpr std::int64_t kUsualSites = 60;

/// @brief The parameters `model.covariance` ... `model.lambda_unit`.
/// @param sites default of `model.sites`
std::vector<Parameter> gaussian_model_parameters(std::int64_t sites = kUsualSites);

/// @brief Those of a covariance family of any size: `model.covariance` (without files), `rho`,
/// `nu`, `tau`.
std::vector<Parameter> gaussian_family_parameters();

/// @brief A covariance and a way to draw training samples with it.
class GaussianModel {
 public:
  /// @brief Builds it from the [model] section and completes `sites` and `lambda_unit` in the
  /// configuration.
  /// @throws Error of kind input naming the parameter
  static GaussianModel from(Configuration& configuration);
  /// @brief The member with that many sites of the family that gaussian_family_parameters()
  /// describe; penalties are absolute.
  /// @throws Error of kind input naming the parameter
  static GaussianModel family(const Configuration& configuration, Eigen::Index sites);

  const GaussianMlm& problem() const { return problem_; }
  /// @brief F with F F^T = covariance.
  const Eigen::MatrixXd& factor() const { return factor_; }
  /// @brief A configured penalty in the units of the covariance.
  double absolute_lambda(double configured) const { return configured * lambda_unit_; }
  bool from_data() const { return rows_.size() > 0; }

  /// @brief M training samples, one a row: Gaussian, or rows of the data with replacement.
  Eigen::MatrixXd samples(Eigen::Index count, RandomStream& stream) const;

  /// @brief Sites, condition number, and for data the columns' names and excess kurtoses.
  Table diagnostics() const;
  std::vector<std::string> warnings() const { return warnings_; }
  /// @brief For data: why a Gaussian theory may fail on them. Empty for Gaussian models.
  std::string likely_cause() const;

 private:
  GaussianModel(GaussianMlm problem, double lambda_unit);

  GaussianMlm problem_;
  Eigen::MatrixXd factor_;
  bool factor_is_lower_ = false;
  double lambda_unit_ = 1;
  Eigen::MatrixXd rows_;  ///< centred data, n x L; empty for Gaussian models
  std::vector<std::string> columns_;
  Eigen::VectorXd excess_kurtosis_;
  std::vector<std::string> dropped_columns_;
  std::vector<std::string> warnings_;
};

}  // namespace attica
