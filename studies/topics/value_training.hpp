#pragma once
/// @file
/// @brief What topics-value-curves and topics-value-map share: SGD on the value matrix under
/// uniform attention against the recursion of its mean. Other losses, optimisers and fixed
/// documents have no theory, only a claim.

#include "attica/studies/topics/model.hpp"

namespace attica {

class ValueTraining : public PointwiseExperiment {
 public:
  /// @param map whether the last recorded step is shown entry by entry, or all are by class
  ValueTraining(const Configuration& configuration, bool map);

  TheoryResult theory(TheoryGrid grid) const override;

 protected:
  double flops(std::size_t point) const override;
  bool deterministic(std::size_t point) const override;
  Outcome run(const Replicate& replicate) const override;

 private:
  /// Whether the first step on a fixed set is looked at as well: in the mean over sets that of
  /// fresh documents.
  bool looks_at_fixed() const;
  double first_fixed_step(const StreamAddress& address) const;

  TopicModel model_;
  CommutantAlgebra algebra_;
  std::vector<std::uint64_t> steps_;
  networks::OptimiserOptions optimiser_;
  double lambda_;
  TopicLoss loss_;
  TopicSourceOptions source_;
  bool map_;
  std::optional<Uncovered> uncovered_;
};

/// @brief The first setting that the recursion of the mean does not cover.
std::optional<Uncovered> uncovered_training(const Configuration& configuration);
/// @brief "SGD", or what else is run.
std::string described_training(const Configuration& configuration);

std::vector<AgreementRule> value_training_agreement(const Configuration& configuration);
/// @brief Without a theory: words of a topic share their columns' large entries in every run.
std::vector<ClaimResult> value_training_claims(const Configuration& configuration,
                                               const Observed& observed);

}  // namespace attica
