#pragma once
/// @file
/// @brief A population whose samples are made of several samples of another one, such as sequences
/// with every site masked in turn.

#include <utility>

#include "attica/core/population_model.hpp"

namespace attica {

/// @brief The loss of a sample is the mean loss of its members, samples of another model with the
/// same parameters.
class GroupedPopulation : public PopulationModel {
 public:
  /// @brief Numbers of samples, a column for each group.
  using Members = Eigen::Matrix<Eigen::Index, Eigen::Dynamic, Eigen::Dynamic>;

  /// @param parts   must outlive it
  /// @param members @shape{members of a group x groups}
  /// @param weights of the groups, positive, with sum 1. @shape{groups}
  GroupedPopulation(const PopulationModel& parts, Members members, Eigen::VectorXd weights)
      : parts_(parts), members_(std::move(members)), weights_(std::move(weights)) {}

  Eigen::Index parameters() const override { return parts_.parameters(); }
  const Eigen::VectorXd& weights() const override { return weights_; }

  void pass(const Eigen::VectorXd& theta,
            Eigen::VectorXd& losses,
            const Eigen::VectorXd* weights = nullptr,
            Eigen::VectorXd* gradient = nullptr) const override {
    const auto share = 1 / static_cast<double>(members_.rows());
    Eigen::VectorXd of_parts;
    if (weights == nullptr) {
      parts_.pass(theta, of_parts);
    } else {
      Eigen::VectorXd shares = Eigen::VectorXd::Zero(parts_.weights().size());
      for (Eigen::Index s = 0; s < members_.cols(); ++s) {
        for (const Eigen::Index part : members_.col(s)) shares[part] += share * (*weights)[s];
      }
      parts_.pass(theta, of_parts, &shares, gradient);
    }
    losses.setZero(members_.cols());
    for (Eigen::Index s = 0; s < members_.cols(); ++s) {
      for (const Eigen::Index part : members_.col(s)) losses[s] += share * of_parts[part];
    }
  }

 private:
  const PopulationModel& parts_;
  Members members_;
  Eigen::VectorXd weights_;
};

}  // namespace attica
