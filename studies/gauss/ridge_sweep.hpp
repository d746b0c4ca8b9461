#pragma once
/// @file
/// @brief What the studies of ridge regression in Gaussian masked modelling share: the experiment
/// on a grid of sample ratios and penalties.

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "attica/sim/gauss/ridge.hpp"
#include "attica/studies/gauss/model.hpp"
#include "attica/studies/gauss/order.hpp"
#include "attica/theory/gauss/ridge.hpp"

namespace attica {

/// @brief Work of drawing M samples and fitting them at some penalties.
double ridge_flops(Eigen::Index samples, Eigen::Index sites, std::size_t lambdas);

/// @brief Mean over the data sets of a replicate of what `measure` says of each.
template <class Set, class Measure>
double mean_over(const std::vector<Set>& sets, const Measure& measure) {
  double sum = 0;
  for (const Set& set : sets) sum += measure(set);
  return sum / static_cast<double>(sets.size());
}

/// A quantity as theory and simulation know it.
struct RidgeQuantity {
  const char* name;
  double RidgePoint::*theory;
  double RidgePoint::*allowance;                    ///< on Gaussian samples
  Eigen::VectorXd RidgeFit::*simulation = nullptr;  ///< null: not one of a fit's own
};

/// Which of the two swept ratios is x; the other is a coordinate of the point.
enum class RidgeAxis { alpha, lambda };

/// @brief Theory and simulation on the grid `sweep.alpha` x `sweep.lambda`. A replicate averages
/// over `sim.data_sets` data sets, which all penalties share.
class RidgeSweep : public PointwiseExperiment {
 public:
  RidgeSweep(Configuration& configuration, RidgeAxis axis, std::vector<RidgeQuantity> quantities);

  TheoryResult theory(TheoryGrid grid) const override;
  std::size_t points() const override { return sizes_.count(); }
  void require_simulable() const override;

 protected:
  Outcome run(const Replicate& replicate) const override;
  /// @brief What else a study observes on a replicate's data sets.
  virtual void observe(const std::vector<RidgeFits>& /*sets*/,
                       const Replicate& /*replicate*/,
                       Outcome& /*outcome*/) const {}
  /// @brief The data sets of a replicate.
  std::vector<RidgeFits> data_sets(const Replicate& replicate) const;
  double flops(std::size_t point) const override;
  /// @brief The value that theory has for a quantity; whether it is compared.
  PredictedValue told(const RidgePoint& point, const RidgeQuantity& quantity) const;
  /// @brief Curves of the quantities that fits have, or of all.
  Curves curves(double alpha, double lambda, bool simulated) const;
  const GaussianModel& model() const { return model_; }
  const GaussianRidge& ridge() const { return ridge_; }
  const SampleSizes& sizes() const { return sizes_; }
  const std::vector<double>& lambdas() const { return lambdas_; }

 private:
  GaussianModel model_;
  GaussianRidge ridge_;
  RidgeAxis axis_;
  std::vector<RidgeQuantity> quantities_;
  SampleSizes sizes_;
  std::vector<double> lambdas_;
  std::int64_t data_sets_;
};

}  // namespace attica
