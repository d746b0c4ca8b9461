#pragma once
/// @file
/// @brief What the studies of interactions beyond pairs share: the [model] section, its data, and
/// the training of deep factored networks.

#include <cstdint>
#include <functional>

#include "attica/core/potts/body_model.hpp"
#include "attica/sim/potts/deep_factored.hpp"
#include "attica/sim/potts/sequence_data.hpp"
#include "attica/sim/potts/transformer.hpp"
#include "attica/studies/kit.hpp"

namespace attica {

/// @brief The model of a configuration with its population, sequences to train on, and where losses
/// are measured.
class BodyProblem {
 public:
  /// @brief Only checks; random parts of the model are drawn from sim.seed.
  /// @throws Error (input) naming the parameter
  explicit BodyProblem(const Configuration& configuration);

  /// @brief Predictions `bayes_loss` and `plateau` (point order = 1 .. the model's order), and the
  /// diagnostic `log_partition`, where states are few enough to enumerate, or counts of colours are
  /// and all sets of sites interact alike; else a warning.
  TheoryResult theory() const;

  const BodyModel& model() const { return model_; }
  /// @brief model.density as the number of interacting sets makes it.
  const RoundedValues& density() const { return density_; }

  /// @brief Trains one network of a replicate and reports how it ended, on stored sequences of its
  /// own or fresh ones. Batches of these larger than the number of states are of counted states.
  /// @param observe called at every recorded step with the record and the loss, nats
  /// @throws Error (numerical) if the model is too large to enumerate and its sampler has not
  /// converged
  Outcome train(const DeepFactoredTraining& plan,
                const Replicate& replicate,
                const std::function<void(const DeepFactoredRecord&, double loss)>& observe) const;

  /// @brief The same of a transformer, on fresh sequences; losses are over all states.
  Outcome train(const TransformerTraining& plan,
                const Replicate& replicate,
                const std::function<void(std::uint64_t step, double loss)>& observe) const;

 private:
  BodyModel model_;
  RoundedValues density_;
  Eigen::Index samples_;  ///< stored, or 0
  Lazy<BodyData> data_;
};

/// @brief How far a measured loss may be below the true one, nats: rounding, or the draw of the
/// sequences it is measured on.
double loss_error(const Configuration& configuration);

/// @brief Training of a network of so many layers; the learning rate falls to a tenth after four
/// fifths of the steps. A list of initial scales belongs to the last layers of the list's length.
/// @throws Error (input, `sim.initial_scale`) if the list is shorter than the network is deep
DeepFactoredTraining body_training(const Configuration& configuration, int layers);

}  // namespace attica
