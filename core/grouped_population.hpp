#pragma once
/// @file
/// @brief A population whose samples are made of several samples of another one, such as sequences
/// with every site masked in turn.

#include <utility>

#include "attica/core/population_model.hpp"

namespace attica {

/// @brief The loss of a sample is the mean loss of its members, samples of another model with the
/// same parameters. Members count alike, or by shares.
class GroupedPopulation : public PopulationModel {
 public:
  /// @brief Numbers of samples, a column for each group.
  using Members = Eigen::Matrix<Eigen::Index, Eigen::Dynamic, Eigen::Dynamic>;

  /// @param parts   must outlive it
  /// @param members @shape{members of a group x groups}
  /// @param weights of the groups, positive, with sum 1. @shape{groups}
  GroupedPopulation(const PopulationModel& parts, const Members& members, Eigen::VectorXd weights)
      : GroupedPopulation(
            parts,
            members,
            Eigen::MatrixXd::Constant(
                members.rows(), members.cols(), 1 / static_cast<double>(members.rows())),
            std::move(weights)) {}
  /// @param shares of the members in the mean of their group; columns have sum 1. @shape{as
  /// members}
  GroupedPopulation(const PopulationModel& parts,
                    Members members,
                    Eigen::MatrixXd shares,
                    Eigen::VectorXd weights)
      : parts_(parts),
        members_(std::move(members)),
        shares_(std::move(shares)),
        weights_(std::move(weights)) {}

  Eigen::Index parameters() const override { return parts_.parameters(); }
  const Eigen::VectorXd& weights() const override { return weights_; }

  void pass(const Eigen::VectorXd& theta,
            Eigen::VectorXd& losses,
            const Eigen::VectorXd* weights = nullptr,
            Eigen::VectorXd* gradient = nullptr) const override {
    Eigen::VectorXd of_parts;
    if (weights == nullptr) {
      parts_.pass(theta, of_parts);
    } else {
      Eigen::VectorXd of_members = Eigen::VectorXd::Zero(parts_.weights().size());
      for (Eigen::Index s = 0; s < members_.cols(); ++s) {
        for (Eigen::Index k = 0; k < members_.rows(); ++k) {
          of_members[members_(k, s)] += shares_(k, s) * (*weights)[s];
        }
      }
      parts_.pass(theta, of_parts, &of_members, gradient);
    }
    losses.setZero(members_.cols());
    for (Eigen::Index s = 0; s < members_.cols(); ++s) {
      for (Eigen::Index k = 0; k < members_.rows(); ++k) {
        losses[s] += shares_(k, s) * of_parts[members_(k, s)];
      }
    }
  }

 private:
  const PopulationModel& parts_;
  Members members_;
  Eigen::MatrixXd shares_;
  Eigen::VectorXd weights_;
};

}  // namespace attica
