#pragma once
/// @file
/// @brief What the studies of interactions beyond pairs share: the [model] section, its data, and
/// the training of deep factored networks.

#include <cstdint>
#include <memory>
#include <vector>

#include "attica/core/body_model.hpp"
#include "attica/core/lazy.hpp"
#include "attica/sim/deep_factored.hpp"
#include "attica/sim/potts_sampler.hpp"
#include "attica/studies/gibbs_pool.hpp"
#include "attica/studies/study.hpp"

namespace attica {

/// @brief The parameters `model.sites` ... `model.order_weights`.
std::vector<Parameter> body_model_parameters();

/// @brief The model of a checked [model] section; random parts are drawn from sim.seed.
/// @throws Error (input) naming the parameter
BodyModel body_model(const Configuration& configuration);

/// @brief The model with its population, sequences to train on, and where losses are measured.
class BodyProblem {
 public:
  /// @throws Error (numerical) if the model is too large to enumerate and its sampler has not
  /// converged
  BodyProblem(BodyModel model, const GibbsPoolOptions& options, std::uint64_t seed);

  const BodyModel& model() const { return model_; }
  /// @brief Whether the population is exact; else it is a pool of Gibbs chains.
  bool exact() const { return exact_; }
  /// ln Z; only where exact.
  double log_partition() const { return log_partition_; }
  const MaskedPopulation& masked() const { return *masked_; }
  Sequences draw(Eigen::Index count, RandomStream& stream) const {
    return sampler_->draw(count, stream);
  }

 private:
  BodyModel model_;
  bool exact_ = false;
  double log_partition_ = 0;
  WeightedSequences population_;
  std::unique_ptr<PopulationSampler> sampler_;
  std::unique_ptr<MaskedPopulation> masked_;
};

/// @brief The same, prepared when first needed.
Lazy<std::unique_ptr<BodyProblem>> lazy_body_problem(const Configuration& configuration);

/// @brief All parameters of a study: the model's, its own, and those of training.
std::vector<Parameter> body_parameters(const std::vector<Parameter>& own);

/// @brief What every such study yields: `test_loss`, `bayes_loss`, `plateau`.
std::vector<SeriesInfo> body_series();

/// @brief The parameters of training: `sim.steps`, `sim.batch`, `sim.eta`,
/// `sim.clip`, `sim.initial_scale`, `sim.residual`, and those of the Gibbs pool.
std::vector<Parameter> body_training_parameters();

/// @brief SGD on a network of so many layers; the learning rate falls to a tenth after four fifths
/// of the steps. A list of initial scales belongs to the last layers of the list's length.
/// @throws Error (input, `sim.initial_scale`) if the list is shorter than the network is deep
DeepFactoredTraining body_training(const Configuration& configuration, int layers);

/// @brief Trains one network of a piece and reports how it ended.
Outcome train_body(const BodyProblem& problem,
                   const DeepFactoredTraining& plan,
                   const Piece& piece,
                   std::uint64_t replicate,
                   const std::function<void(const DeepFactoredRecord&)>& observe);

/// @brief Predictions `bayes_loss` and `plateau` (point order = 1 .. the model's order), and the
/// diagnostic `log_partition`, where the population is exact; else a warning.
TheoryResult body_theory(const BodyProblem& problem);

}  // namespace attica
