#pragma once
/// @file
/// @brief Sequences of a model to train and to test on: exact draws where its states can be
/// enumerated quickly, otherwise from a pool of Gibbs chains, one state each.

#include <cstdint>

#include "attica/core/potts/body_model.hpp"
#include "attica/sim/potts/gibbs.hpp"
#include "attica/sim/potts/sampler.hpp"

namespace attica {

/// @brief Sequences of a model of pairs, enumerated up to 2^18 states.
class PottsData {
 public:
  /// @throws Error (numerical) if the sampler has not converged, unless that is allowed
  PottsData(const PottsModel& model, const GibbsPoolOptions& options, const StreamAddress& address);
  PottsData(const PottsData&) = delete;
  PottsData& operator=(const PottsData&) = delete;

  const PottsModel& model() const { return model_; }
  Sequences draw(Eigen::Index count, RandomStream& stream) const {
    return sampler_.draw(count, stream);
  }
  /// @brief What is drawn from: all states, or the pool.
  const WeightedSequences& population() const { return population_; }

 private:
  PottsModel model_;
  WeightedSequences population_;
  PopulationSampler sampler_;
};

/// @brief Whether a population of a p-body model is enumerated, C^L <= 2^16; else a pool of Gibbs
/// chains stands for it.
bool few_states(const BodyModel& model);

/// @brief Sequences of a p-body model.
class BodyData {
 public:
  /// @throws Error (numerical) if the model is too large to enumerate and its sampler has not
  /// converged
  BodyData(const BodyModel& model, const GibbsPoolOptions& options, std::uint64_t seed);
  BodyData(const BodyData&) = delete;
  BodyData& operator=(const BodyData&) = delete;

  Sequences draw(Eigen::Index count, RandomStream& stream) const {
    return sampler_.draw(count, stream);
  }
  /// @brief As many, counted: each different one once, with its share as weight.
  WeightedSequences draw_states(Eigen::Index count, RandomStream& stream) const {
    return sampler_.draw_states(count, stream);
  }
  /// @brief What is drawn from: all states, or the pool.
  const WeightedSequences& population() const { return population_; }
  /// @brief Every site of the population, or of 1000 sequences of a pool.
  const MaskedPopulation& masked() const { return masked_; }

 private:
  WeightedSequences population_;
  PopulationSampler sampler_;
  MaskedPopulation masked_;
};

}  // namespace attica
