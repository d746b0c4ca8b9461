#include "attica/sim/potts/body_sampler.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/core/potts/body_ensembles.hpp"

using namespace attica;
using Eigen::Index;

namespace potts_body_sampler_test {

BodyModel three_body() {
  Hyperedges edges = all_hyperedges(4, 3);
  edges.couplings = cosine_body_couplings(edges);
  return {4, std::move(edges), cosine_tensor(3, 3), 0.8};
}

TEST_CASE("BodySampler: frequencies of all states against enumeration", "[sim]") {
  const BodyModel model = three_body();
  const PottsEnumeration all = enumerate(model);
  constexpr Index kChains = 20000;
  BodySampler sampler(model, kChains, {.seed = 11, .id = StreamId::sampler});
  sampler.sweep(30);  // correlations fall by a factor of order 2 a sweep at these couplings
  Eigen::VectorXd counts = Eigen::VectorXd::Zero(all.states.weights.size());
  for (Index k = 0; k < kChains; ++k) {
    Index state = 0;
    for (const std::uint8_t colour : sampler.states().row(k)) state = 3 * state + colour;
    ++counts[state];
  }
  double chi2 = 0;
  for (Index n = 0; n < counts.size(); ++n) {
    const double expected = kChains * all.states.weights[n];
    chi2 += std::pow(counts[n] - expected, 2) / expected;
  }
  // 81 states: mean 80, standard deviation sqrt(160); a fixed seed, within four of them.
  CHECK(std::abs(chi2 - 80) < 4 * std::sqrt(160.0));
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
