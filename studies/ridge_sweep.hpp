#pragma once
/// @file
/// @brief What the studies of ridge regression in Gaussian masked modelling share: the experiment
/// on a grid of sample ratios and penalties, and the wording of their parameters and sources.

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "attica/sim/gaussian_ridge.hpp"
#include "attica/studies/gaussian_model.hpp"
#include "attica/studies/parameters.hpp"
#include "attica/studies/study.hpp"
#include "attica/theory/gaussian_ridge.hpp"

namespace attica {

/// A quantity as theory and simulation know it.
struct RidgeQuantity {
  const char* name;
  double RidgePoint::*theory;
  Eigen::VectorXd RidgeFit::*simulation = nullptr;  ///< null: theory only
  /// Absolute allowance for finite size on Gaussian samples; null: none.
  double (*finite_size)(const RidgePoint&) = nullptr;
  bool (*compared)(const RidgePoint&) = nullptr;  ///< null: everywhere
};

/// Which of the two swept ratios is x; the other is a coordinate of the point.
enum class RidgeAxis { alpha, lambda };

/// @brief Theory and simulation on the grid `sweep.alpha` x `sweep.lambda`. All penalties of a
/// replicate share its data set.
class RidgeSweep : public Experiment {
 public:
  RidgeSweep(Configuration& configuration, RidgeAxis axis, std::vector<RidgeQuantity> quantities);

  TheoryResult theory(TheoryGrid grid) const override;
  std::size_t points() const override { return sizes_.size(); }
  std::uint64_t replicates_per_piece(std::size_t point) const override;
  std::vector<Outcome> simulate(const Piece& piece) const override;
  Table diagnostics() const override { return model_.diagnostics(); }
  std::vector<std::string> warnings() const override { return model_.warnings(); }

 protected:
  const GaussianModel& model() const { return model_; }
  const GaussianRidge& ridge() const { return ridge_; }
  /// @brief N = L - 1.
  double inputs() const { return inputs_; }
  /// @brief alpha as configured, or as the simulation realises it, ascending.
  /// @throws Error of kind input naming 'sweep.alpha' if there is less than one sample, or if there
  /// are too many to simulate
  std::vector<double> alphas(TheoryGrid grid) const;
  /// @brief M = alpha N.
  double samples(double alpha) const;

 private:
  GaussianModel model_;
  GaussianRidge ridge_;
  RidgeAxis axis_;
  std::vector<RidgeQuantity> quantities_;
  double inputs_;
  std::vector<double> alphas_;
  std::vector<double> lambdas_;
  std::vector<Eigen::Index> sizes_;  ///< realised numbers of samples M
};

/// @brief The realised number of samples: the integer next to alpha N, at least 1.
Eigen::Index realised_samples(double alpha, double inputs);

/// @brief Replicates for a piece of work of about 0.2 s.
std::uint64_t ridge_replicates_per_piece(Eigen::Index samples,
                                         Eigen::Index sites,
                                         std::size_t lambdas);

/// @brief n values from low to high at equal ratios.
std::vector<double> log_grid(double low, double high, int n);

/// @name Parameters `sweep.alpha` and `sweep.lambda`
/// @{
Parameter alpha_parameter(std::vector<double> fallback);
Parameter lambda_parameter(std::vector<double> fallback, bool zero_allowed);
/// @}

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
