#include "attica/sim/potts/sequence_data.hpp"

#include <algorithm>
#include <cmath>

#include "attica/core/potts/enumeration.hpp"

namespace attica {

using Eigen::Index;

namespace {

constexpr double kMostDrawnStates = 1 << 18;

MaskedPopulation masked_population(const BodyModel& model, const WeightedSequences& population) {
  if (few_states(model)) return MaskedPopulation::enumerated(model, {.states = population});
  constexpr Index kMostTestSequences = 1000;
  const Index tested = std::min(kMostTestSequences, population.sequences.rows());
  return MaskedPopulation::sampled(model, population.sequences.topRows(tested));
}

}  // namespace

PottsData::PottsData(const PottsModel& model,
                     const GibbsPoolOptions& options,
                     const StreamAddress& address)
    : model_(model),
      population_(potts_states(model) <= kMostDrawnStates ? enumerate(model).states
                                                          : gibbs_pool(model, options, address)),
      sampler_(population_) {}

bool few_states(const BodyModel& model) {
  constexpr double kMost = 1 << 16;
  return std::pow(static_cast<double>(model.colours()), static_cast<double>(model.sites())) <=
         kMost;
}

BodyData::BodyData(const BodyModel& model, const GibbsPoolOptions& options, std::uint64_t seed)
    : population_(few_states(model) ? enumerate(model).states
                                    : gibbs_pool(model, options, {.seed = seed})),
      sampler_(population_),
      masked_(masked_population(model, population_)) {}

}  // namespace attica
