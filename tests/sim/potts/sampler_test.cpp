#include "attica/sim/potts/sampler.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "attica/core/error.hpp"
#include "attica/core/potts/ensembles.hpp"
#include "core/reference_models.hpp"

using namespace attica;
using attica::testing::cosine_model;
using Catch::Matchers::WithinAbs;
using Eigen::Index;

namespace potts_sampler_test {

/// Chi-square statistic of the states' counts against their probabilities, as (X^2 - df)/sqrt(2
/// df).
double chi_square_score(const Sequences& states, Index colours, const Eigen::VectorXd& p) {
  Eigen::VectorXd counts = Eigen::VectorXd::Zero(p.size());
  for (Index n = 0; n < states.rows(); ++n) {
    Index state = 0;
    for (Index i = 0; i < states.cols(); ++i) state = state * colours + states(n, i);
    counts[state] += 1;
  }
  // States with fewer than 5 expected counts are pooled.
  const Eigen::VectorXd expected = p * static_cast<double>(states.rows());
  double pooled_count = 0;
  double pooled = 0;
  double chi2 = 0;
  double cells = 0;
  for (Index s = 0; s < p.size(); ++s) {
    if (expected[s] < 5) {
      pooled += expected[s];
      pooled_count += counts[s];
      continue;
    }
    chi2 += std::pow(counts[s] - expected[s], 2) / expected[s];
    ++cells;
  }
  if (pooled > 0) {
    chi2 += std::pow(pooled_count - pooled, 2) / pooled;
    ++cells;
  }
  const double df = cells - 1;
  return (chi2 - df) / std::sqrt(2 * df);
}

constexpr Index kChains = 40000;

TEST_CASE("PottsSampler: 40000 chains have the enumerated distribution", "[sim][potts][slow]") {
  for (const double beta : {1.2, -0.8}) {
    const PottsModel model = cosine_model(4, 3, beta);
    PottsSampler sampler(model, {.chains = kChains}, {.seed = 11, .id = StreamId::sampler});
    sampler.sweep(60);
    // A fixed seed; four standard deviations of the statistic.
    const auto p = enumerate(model).states.weights;
    CHECK(std::abs(chi_square_score(sampler.states(), 3, p)) < 4);
    // The test has power: the distribution at a slightly different temperature is refused.
    const auto other = enumerate(cosine_model(4, 3, beta * 1.1)).states.weights;
    CHECK(chi_square_score(sampler.states(), 3, other) > 4);
  }
}

TEST_CASE("PottsSampler: replica exchange leaves the distribution alone", "[sim][potts][slow]") {
  const PottsModel model = cosine_model(4, 3, 1.2);
  PottsSampler sampler(model,
                       {.chains = kChains, .ladder = {1, 0.7, 0.4, 0.1}},
                       {.seed = 12, .id = StreamId::sampler});
  sampler.sweep(40);
  CHECK(std::abs(chi_square_score(sampler.states(), 3, enumerate(model).states.weights)) < 4);
}

TEST_CASE("PottsSampler: replica exchange mixes an ordered phase, plain chains do not",
          "[sim][potts]") {
  // Ferromagnet of 2 colours deep in the ordered phase: the sign of the order flips through the
  // hot replicas only.
  const PottsModel model(Eigen::MatrixXd::Ones(12, 12) - Eigen::MatrixXd::Identity(12, 12),
                         potts_colour_couplings(2),
                         0.5);
  const auto flips = [&](std::vector<double> ladder) {
    PottsSampler sampler(
        model, {.chains = 1, .ladder = std::move(ladder)}, {.seed = 4, .id = StreamId::sampler});
    int changes = 0;
    bool up = false;
    for (int n = 0; n < 400; ++n) {
      sampler.sweep(5);
      const bool now = sampler.states().cast<int>().sum() > 6;
      changes += now != up ? 1 : 0;
      up = now;
    }
    return changes;
  };
  CHECK(flips({1.0}) <= 2);
  CHECK(flips({1, 0.85, 0.7, 0.55, 0.4, 0.3, 0.2, 0.1}) > 20);
}

TEST_CASE("PottsSampler: fields and energies stay exact, sweeps may be split", "[sim][potts]") {
  const PottsModel model = cosine_model(6, 4, 0.8);
  const StreamAddress address{.seed = 2, .id = StreamId::sampler};
  PottsSampler once(model, {.chains = 20}, address);
  PottsSampler split(model, {.chains = 20}, address);
  once.sweep(1203);
  split.sweep(700);
  split.sweep(503);
  const Sequences states = once.states();
  CHECK(states == split.states());
  CHECK(states.rows() == 20);
  const Eigen::VectorXd energies = once.reduced_energies();
  for (Index c = 0; c < states.rows(); ++c) {
    // Single precision, 203 sweeps of rounding since the last rebuild.
    CHECK_THAT(energies[c], WithinAbs(model.reduced_energy(states.row(c).data()), 1e-4));
  }
}

TEST_CASE("PopulationSampler: has the population's distribution", "[sim][potts]") {
  const PottsModel model = cosine_model(4, 3, 1.2);
  const WeightedSequences population = enumerate(model).states;
  RandomStream stream({.seed = 8});
  const Sequences states = PopulationSampler(population).draw(kChains, stream);
  CHECK(std::abs(chi_square_score(states, 3, population.weights)) < 4);
}

TEST_CASE("PopulationSampler: states and their shares are those of the single draws",
          "[sim][potts]") {
  const WeightedSequences population =
      enumerate(PottsModel(cosine_couplings(3), cosine_colour_couplings(3), 1)).states;
  const PopulationSampler sampler(population);
  constexpr Index kDraws = 50;
  RandomStream stream({.seed = 4});
  const Sequences draws = sampler.draw(kDraws, stream);
  RandomStream again({.seed = 4});
  const WeightedSequences states = sampler.draw_states(kDraws, again);
  CHECK(states.sequences.rows() < kDraws);
  for (Index k = 0; k < states.sequences.rows(); ++k) {
    Index times = 0;
    for (Index n = 0; n < kDraws; ++n) times += draws.row(n) == states.sequences.row(k);
    CHECK(states.weights[k] == static_cast<double>(times) / kDraws);
  }
  CHECK_THAT(states.weights.sum(), Catch::Matchers::WithinAbs(1, 1e-14));
}

TEST_CASE("PottsSampler: refuses bad options", "[sim][potts]") {
  const PottsModel model = cosine_model(3, 3, 1);
  CHECK_THROWS_AS(PottsSampler(model, {.chains = 0}, {}), Error);
  CHECK_THROWS_AS(PottsSampler(model, {.ladder = {1, 0.5, 0.2}}, {}), Error);
  CHECK_THROWS_AS(PottsSampler(model, {.ladder = {0.5, 1}}, {}), Error);
}

}  // namespace potts_sampler_test
