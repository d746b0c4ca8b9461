#pragma once
/// @file
/// @brief Factored and softmax attention trained on counted masked sequences, with early stopping.

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "attica/core/grouped_population.hpp"
#include "attica/core/population_model.hpp"
#include "attica/sim/potts/transformer.hpp"

namespace attica {

/// @brief Every context once, a sequence with one masked site, and the colours of that site: sample
/// (context k, colour a) has the number k C + a.
class MaskedSamples {
 public:
  /// @brief Of a model that can be enumerated.
  explicit MaskedSamples(PottsModel model);

  const PottsModel& model() const { return model_; }
  const ExcessLoss& excess() const { return excess_; }
  const WeightedSequences& states() const { return excess_.population(); }
  Eigen::Index contexts() const { return std::ssize(inputs_.batch().sites); }
  const networks::Batch& batch() const { return inputs_.batch(); }
  /// Of the samples. @shape{contexts C}
  const Eigen::VectorXd& p() const { return p_; }
  double bayes_loss() const { return excess_.bayes_loss(); }
  /// @brief The sample that a state is with one masked site.
  Eigen::Index sample(Eigen::Index state, Eigen::Index site) const;

  /// @brief The share of each sample among independent draws. @shape{contexts C}
  Eigen::VectorXd draw(std::int64_t count, RandomStream stream) const;

  /// @brief The same samples for a network of softmax attention.
  std::unique_ptr<PopulationModel> network(const networks::TransformerShape& shape) const;

 private:
  PottsModel model_;
  ExcessLoss excess_;
  MaskedInputs inputs_;
  Eigen::VectorXd p_;
  std::vector<double> cumulative_;
};

/// @brief Factored attention: logits sum_j A_ij V[., s_j] at the masked site i. Parameters: A by
/// rows, without its diagonal, then V by columns.
class FactoredMasked : public PopulationModel {
 public:
  /// @param samples must outlive it
  explicit FactoredMasked(const MaskedSamples& samples);

  Eigen::Index parameters() const override { return sites_ * (sites_ - 1) + colours_ * colours_; }
  const Eigen::VectorXd& weights() const override { return samples_.p(); }
  void pass(const Eigen::VectorXd& theta,
            Eigen::VectorXd& losses,
            const Eigen::VectorXd* weights = nullptr,
            Eigen::VectorXd* gradient = nullptr) const override;

  /// @brief Parameters of a student; the diagonal of its A takes no part. @shape{P}
  Eigen::VectorXd parameters_of(const FactoredAttention& student) const;
  FactoredAttention student(const Eigen::VectorXd& theta) const;

  /// @brief The same where a sample is a sequence with all its sites masked in turn.
  GroupedPopulation sequences() const;

 private:
  const MaskedSamples& samples_;
  Eigen::Index sites_;
  Eigen::Index colours_;
};

/// Losses where the one on the held-out samples was lowest.
struct StoppedTraining {
  double held_out = std::numeric_limits<double>::infinity();
  double population = 0;
  bool diverged = true;  ///< no step came below the start
};

/// @brief Adam on all training samples at once, at least 150 steps and one and a half times those
/// to the lowest loss on the held-out samples.
/// @param theta    start. @shape{P}
/// @param shown    share of each sample among those of the training; `held_out`: among others
/// @param length   most steps
StoppedTraining stopped_early(const PopulationModel& model,
                              Eigen::VectorXd theta,
                              const Eigen::VectorXd& shown,
                              const Eigen::VectorXd& held_out,
                              double eta,
                              std::int64_t length,
                              const std::function<bool()>& stopped);

}  // namespace attica
