#pragma once
/// @file
/// @brief The quadratic form of a loss about its minimum, measured: what estimates from finite data
/// lose to leading order, and the part of it that scatters from data set to data set.

#include <Eigen/Core>
#include <functional>
#include <vector>

#include "attica/core/potts/model.hpp"

namespace attica {

/// Gradient of the mean loss on weighted sequences. @shape{P}
using LossGradient =
    std::function<Eigen::VectorXd(const Eigen::VectorXd& x, const WeightedSequences& data)>;

/// @brief A loss about its minimum: what an estimate from M samples loses to leading order is
/// sᵀH⁺s/2, s being their mean gradient at the minimum, and tr(H⁺K)/2M in the mean.
struct LossQuadratic {
  Eigen::VectorXd minimum;
  Eigen::MatrixXd inverse;  ///< H⁺: H by central differences of the gradient
  double trace = 0;         ///< tr(H⁺K): K from gradients of single states

  LossQuadratic(const WeightedSequences& population,
                Eigen::VectorXd at,
                const LossGradient& gradient);

  /// @brief sᵀH⁺s/2 less its mean over data sets of so many samples: what scatters of an excess
  /// loss.
  double scatter(const Eigen::VectorXd& s, double samples) const;
};

/// @brief Of factored attention and of general couplings at the truth of a Potts model.
class PottsQuadratics {
 public:
  /// @param population all states of the model
  PottsQuadratics(const PottsModel& model, const WeightedSequences& population);

  double factored_trace() const { return factored_.trace; }
  double general_trace() const;
  double factored_scatter(const WeightedSequences& data, double samples) const;
  double general_scatter(const WeightedSequences& data, double samples) const;

 private:
  Eigen::VectorXd student(const PottsModel& model) const;
  LossGradient factored_gradient() const;
  LossGradient site_gradient(Eigen::Index i) const;

  Eigen::Index sites_;
  Eigen::Index colours_;
  LossQuadratic factored_;
  std::vector<LossQuadratic> general_;  ///< of the sites
};

}  // namespace attica
