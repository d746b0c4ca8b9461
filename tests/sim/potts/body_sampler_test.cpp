#include "attica/sim/potts/body_sampler.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/core/potts/body_ensembles.hpp"
#include "attica/sim/potts/sequence_data.hpp"

using namespace attica;
using Eigen::Index;

namespace potts_body_sampler_test {

BodyModel three_body() {
  Hyperedges edges = all_hyperedges(4, 3);
  edges.couplings = cosine_body_couplings(edges);
  return {4, std::move(edges), cosine_tensor(3, 3), 0.8};
}

/// Of how often all 81 states of four sites of three colours were drawn: mean 80, standard
/// deviation sqrt(160).
double chi_squared(const Sequences& drawn, const PottsEnumeration& all) {
  Eigen::VectorXd counts = Eigen::VectorXd::Zero(all.states.weights.size());
  for (Index k = 0; k < drawn.rows(); ++k) {
    Index state = 0;
    for (const std::uint8_t colour : drawn.row(k)) state = 3 * state + colour;
    ++counts[state];
  }
  const Eigen::ArrayXd expected = static_cast<double>(drawn.rows()) * all.states.weights.array();
  return ((counts.array() - expected).square() / expected).sum();
}

TEST_CASE("BodySampler: frequencies of all states against enumeration", "[sim]") {
  const BodyModel model = three_body();
  constexpr Index kChains = 20000;
  BodySampler sampler(model, kChains, {.seed = 11, .id = StreamId::sampler});
  sampler.sweep(30);  // correlations fall by a factor of order 2 a sweep at these couplings
  // A fixed seed, within four standard deviations.
  CHECK(std::abs(chi_squared(sampler.states(), enumerate(model)) - 80) < 4 * std::sqrt(160.0));
}

TEST_CASE("CountedSampler: frequencies of all states against enumeration", "[sim]") {
  Hyperedges edges = all_hyperedges(4, 3);
  edges.couplings.setConstant(0.8);
  const BodyModel model(4, edges, cosine_tensor(3, 3), 0.8);
  const CountedSampler sampler(ExchangeableBody::of(model).value());
  RandomStream stream({.seed = 12});
  const Sequences drawn = sampler.draw(20000, stream);
  CHECK(std::abs(chi_squared(drawn, enumerate(model)) - 80) < 4 * std::sqrt(160.0));
}

TEST_CASE("BodySampler: sweeps may be split", "[sim]") {
  const BodyModel model = three_body();
  const StreamAddress address{.seed = 4, .id = StreamId::sampler};
  BodySampler once(model, 10, address);
  once.sweep(5);
  BodySampler split(model, 10, address);
  split.sweep(2);
  split.sweep(3);
  CHECK(once.states() == split.states());
  CHECK(once.reduced_energies()[3] == model.reduced_energy(once.states().row(3).data()));
  CHECK_THROWS_WITH(BodySampler(model, 0, address), Catch::Contains("chains"));
}

}  // namespace potts_body_sampler_test
