#pragma once
/// @file
/// @brief What the studies of ridge regression in Gaussian masked modelling share: the experiment
/// on a grid of sample ratios and penalties, and the wording of their parameters and sources.

#include <string>
#include <vector>

#include "attica/sim/gauss/ridge.hpp"
#include "attica/studies/gauss/model.hpp"
#include "attica/theory/gauss/ridge.hpp"

namespace attica {

/// A quantity as theory and simulation know it.
struct RidgeQuantity {
  const char* name;
  Told (*theory)(const RidgePoint&);                ///< with its allowance on Gaussian samples
  Eigen::VectorXd RidgeFit::*simulation = nullptr;  ///< null: theory only
};

/// Which of the two swept ratios is x; the other is a coordinate of the point.
enum class RidgeAxis { alpha, lambda };

/// @brief Theory and simulation on the grid `sweep.alpha` x `sweep.lambda`. All penalties of a
/// replicate share its data set.
class RidgeSweep : public PointwiseExperiment {
 public:
  RidgeSweep(Configuration& configuration, RidgeAxis axis, std::vector<RidgeQuantity> quantities);

  TheoryResult theory(TheoryGrid grid) const override;
  std::size_t points() const override { return sizes_.count(); }

 protected:
  Outcome run(const Replicate& replicate) const override;
  double flops(std::size_t point) const override;
  const GaussianModel& model() const { return model_; }
  const GaussianRidge& ridge() const { return ridge_; }
  const SampleSizes& sizes() const { return sizes_; }

 private:
  Curves curves(double alpha, double lambda, bool simulated) const;

  GaussianModel model_;
  GaussianRidge ridge_;
  RidgeAxis axis_;
  std::vector<RidgeQuantity> quantities_;
  SampleSizes sizes_;
  std::vector<double> lambdas_;
};

/// @brief Work of drawing M samples and fitting them at some penalties.
double ridge_flops(Eigen::Index samples, Eigen::Index sites, std::size_t lambdas);

/// @name Parameters `sweep.alpha` and `sweep.lambda`
/// @{
Parameter alpha_parameter(const std::vector<double>& fallback);
Parameter lambda_parameter(const std::vector<double>& fallback, bool zero_allowed);
/// `sim.replicates`
Parameter data_sets_parameter(std::int64_t fallback);
/// @}

/// @brief What the leading order leaves out.
inline constexpr const char* kRidgeNeglects =
    "corrections of relative order 1/(M (1 - gamma)) to the limit of many sites and samples; on "
    "data, everything beyond the covariance";

/// @brief The papers behind setting and theory.
std::vector<Source> ridge_sources();

/// @name Axis and legend texts
/// @{
Axis alpha_axis();
Axis lambda_axis(const Configuration& configuration);
std::string lambda_label(const Configuration& configuration);
/// What the unit in these labels is, for the end of a caption; empty for absolute penalties.
std::string lambda_note(const Configuration& configuration);
/// @}

/// @brief Relative margin beside the allowances: 1 % on Gaussian samples. On data the claim is a
/// coarser one, that only the covariance matters (Gaussian universality): 5 %, without allowances.
double ridge_margin(const Configuration& configuration);
/// @brief Test and training error, both with that margin.
std::vector<AgreementRule> ridge_agreement(const Configuration& configuration);

}  // namespace attica
