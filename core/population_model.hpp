#pragma once
/// @file
/// @brief A differentiable model together with the population that it is trained on: all that the
/// training theory (theory/training) has to be given.

#include <Eigen/Core>

namespace attica {

/// @brief Losses l_s(theta) of n samples s that occur with probabilities p_s.
///
/// A sample is what is drawn independently: a sequence with all its sites if all of them are
/// masked, a pair of sequence and site if one is. theta holds what is trained; frozen parameters
/// are left out. No derivative per sample and no second derivative is ever asked for.
class PopulationModel {
 public:
  virtual ~PopulationModel() = default;

  /// @brief Number of trained parameters, P.
  virtual Eigen::Index parameters() const = 0;
  /// @brief p, positive, with sum 1. @shape{n}
  virtual const Eigen::VectorXd& weights() const = 0;
  /// @brief Losses of all samples and, if asked for, the gradient of sum_s w_s l_s. Called from
  /// several threads at once.
  /// @param theta    parameters; @shape{P}
  /// @param losses   set to l_s(theta); @shape{n}
  /// @param weights  w, of either sign; @shape{n}; null: losses only
  /// @param gradient set if `weights` are given; @shape{P}
  virtual void pass(const Eigen::VectorXd& theta,
                    Eigen::VectorXd& losses,
                    const Eigen::VectorXd* weights = nullptr,
                    Eigen::VectorXd* gradient = nullptr) const = 0;
};

}  // namespace attica
