#include "attica/sim/potts/sequence_data.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "attica/core/potts/enumeration.hpp"

namespace attica {

using Eigen::Index;

PottsData::PottsData(const PottsModel& model,
                     const GibbsPoolOptions& options,
                     const StreamAddress& address)
    : model_(model),
      burn_in_(options.burn_in),
      enumerated_(enumerates(potts_states(model))),
      population_(enumerated_ ? enumerate(model).states : gibbs_pool(model, options, address)),
      sampler_(population_) {}

Sequences PottsData::fresh(Index count, const StreamAddress& address) const {
  if (enumerated_) {
    RandomStream stream(address);
    return sampler_.draw(count, stream);
  }
  PottsSampler chains(model_, {.chains = count}, address);
  chains.sweep(burn_in_);
  return chains.states();
}

bool few_states(Index sites, Index colours) {
  constexpr double kMost = 1 << 16;
  return std::pow(static_cast<double>(colours), static_cast<double>(sites)) <= kMost;
}

CountedSampler::CountedSampler(const ExchangeableBody& model) : model_(model) {
  CountedContexts all = counted_contexts(model);
  counts_ = std::move(all.counts);
  bayes_loss_ = all.bayes_loss;
  cumulative_.resize(static_cast<std::size_t>(all.weights.size()));
  std::partial_sum(all.weights.begin(), all.weights.end(), cumulative_.begin());
}

Sequences CountedSampler::draw(Index count, RandomStream& stream) const {
  const Index sites = model_.sites();
  Sequences drawn(count, sites);
  Eigen::VectorXd h(model_.colours());
  for (std::uint8_t* sequence = drawn.data(); sequence < drawn.data() + drawn.size();
       sequence += sites) {
    const auto found = std::ranges::upper_bound(cumulative_, stream.uniform() * cumulative_.back());
    const Index kind = std::min<Index>(found - cumulative_.begin(), counts_.rows() - 1);
    std::uint8_t* next = sequence;
    for (Index a = 0; a < model_.colours(); ++a) {
      next = std::fill_n(next, counts_(kind, a), static_cast<std::uint8_t>(a));
    }
    model_.site_logits(counts_.row(kind).data(), h.data());
    h = (h.array() - h.maxCoeff()).exp();
    double left = stream.uniform() * h.sum();
    Index own = 0;
    while (own + 1 < h.size() && left >= h[own]) left -= h[own++];
    *next = static_cast<std::uint8_t>(own);
    for (Index i = sites - 1; i > 0; --i) {
      std::swap(sequence[i], sequence[stream.below(static_cast<std::uint64_t>(i) + 1)]);
    }
  }
  return drawn;
}

BodyData::BodyData(const BodyModel& model, const GibbsPoolOptions& options, std::uint64_t seed)
    : model_(model) {
  const bool few = few_states(model.sites(), model.colours());
  const auto alike = ExchangeableBody::of(model);
  if (!few && alike && has_few_counts(*alike)) {
    counted_.emplace(*alike);
    return;
  }
  population_ = few ? enumerate(model).states : gibbs_pool(model, options, {.seed = seed});
  sampler_.emplace(population_);
  constexpr Index kOfPool = 1000;
  const Index tested = std::min(kOfPool, population_.sequences.rows());
  shared_test_ = few ? MaskedPopulation::enumerated(model, {.states = population_})
                     : MaskedPopulation::sampled(model, population_.sequences.topRows(tested));
}

Sequences BodyData::draw(Index count, RandomStream& stream) const {
  return counted_ ? counted_->draw(count, stream) : sampler_->draw(count, stream);
}

MaskedPopulation BodyData::drawn_test(RandomStream stream) const {
  constexpr Index kDrawn = 10000;
  return MaskedPopulation::sampled(model_, draw(kDrawn, stream));
}

}  // namespace attica
