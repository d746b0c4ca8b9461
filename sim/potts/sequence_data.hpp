#pragma once
/// @file
/// @brief Sequences of a model to train and to test on: exact draws where its states can be
/// enumerated quickly, otherwise from a pool of Gibbs chains, one state each.

#include <cstdint>
#include <optional>
#include <vector>

#include "attica/core/potts/body_model.hpp"
#include "attica/core/potts/exchangeable.hpp"
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
  /// @brief Independent sequences, none of the pool's: of all states, or the ends of chains of
  /// their own after the burn-in that the pool has shown to be long enough. @shape{count x L}
  Sequences fresh(Eigen::Index count, const StreamAddress& address) const;
  /// @brief What is drawn from: all states, or the pool.
  const WeightedSequences& population() const { return population_; }
  bool enumerated() const { return enumerated_; }
  /// @brief Whether so many states C^L are enumerated.
  static bool enumerates(double states) { return states <= kMostDrawnStates; }

 private:
  static constexpr double kMostDrawnStates = 1 << 18;

  PottsModel model_;
  std::int64_t burn_in_;
  bool enumerated_;
  WeightedSequences population_;
  PopulationSampler sampler_;
};

/// @brief Whether a population of a p-body model is enumerated, C^L <= 2^16.
bool few_states(Eigen::Index sites, Eigen::Index colours);

/// @brief Exact independent sequences of a model whose sites are all alike: kinds of contexts by
/// inversion, then one more colour, in random order.
class CountedSampler {
 public:
  /// @throws Error (input, `sites`) for more than kMostCounts kinds
  explicit CountedSampler(const ExchangeableBody& model);
  Sequences draw(Eigen::Index count, RandomStream& stream) const;
  double bayes_loss() const { return bayes_loss_; }

 private:
  ExchangeableBody model_;
  Sequences counts_;
  double bayes_loss_;
  std::vector<double> cumulative_;
};

/// @brief Sequences of a p-body model: of all states where they are few; else exact draws if its
/// sites are all alike and kinds of contexts few enough; else from a pool of Gibbs chains.
class BodyData {
 public:
  /// @throws Error (numerical) if the model is too large to enumerate and its sampler has not
  /// converged
  BodyData(const BodyModel& model, const GibbsPoolOptions& options, std::uint64_t seed);
  BodyData(const BodyData&) = delete;
  BodyData& operator=(const BodyData&) = delete;

  Sequences draw(Eigen::Index count, RandomStream& stream) const;
  /// @brief Whether batches larger than the number of states are better drawn as states.
  bool has_states(Eigen::Index batch) const {
    return !counted_ && population_.weights.size() <= batch;
  }
  /// @brief As many, counted: each different one once, with its share as weight.
  WeightedSequences draw_states(Eigen::Index count, RandomStream& stream) const {
    return sampler_->draw_states(count, stream);
  }
  /// @brief What losses are averaged over where it is the same for all trainings: every site of all
  /// states, or of 1000 sequences of a pool; null where draws are exact.
  const MaskedPopulation* shared_test() const { return shared_test_ ? &*shared_test_ : nullptr; }
  /// @brief Every site of 10 000 sequences that are drawn with the stream.
  MaskedPopulation drawn_test(RandomStream stream) const;
  /// @brief The Bayes loss, nats: exact but for a pool, where it is that of the test.
  double bayes_loss(const MaskedPopulation& test) const {
    return counted_ ? counted_->bayes_loss() : test.bayes_loss();
  }

 private:
  BodyModel model_;
  std::optional<CountedSampler> counted_;
  WeightedSequences population_;  ///< all states, or the pool
  std::optional<PopulationSampler> sampler_;
  std::optional<MaskedPopulation> shared_test_;
};

}  // namespace attica
