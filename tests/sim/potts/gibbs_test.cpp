#include "attica/sim/potts/gibbs.hpp"

#include <catch2/catch.hpp>

#include "attica/core/potts/ensembles.hpp"
#include "attica/core/potts/enumeration.hpp"
#include "core/reference_models.hpp"
#include "refused.hpp"

using namespace attica;
using Eigen::MatrixXd;

TEST_CASE("gibbs_means: are the enumerated ones", "[sim][potts]") {
  const PottsModel model = testing::cosine_model(4, 3, 0.8);
  const WeightedSequences states = enumerate(model).states;
  double energy = 0;
  for (Eigen::Index n = 0; n < states.sequences.rows(); ++n) {
    energy += states.weights[n] * model.reduced_energy(states.sequences.row(n).data()) / 4;
  }
  const GibbsMeans means =
      gibbs_means(model, {.draws = 4000}, {.seed = 2, .id = StreamId::sampler});
  // 64000 draws: standard errors below 0.003, five of them allowed.
  CHECK(means.energy == Approx(energy).margin(0.015));
  CHECK(means.occupation == Approx(marginals(states, 3).row(0).mean()).margin(0.015));
  CHECK(means.converged);
  CHECK(means.r_hat < 1.01);
  CHECK(means.effective_draws > 400);
  CHECK(testing::refused([&] { (void)gibbs_means(model, {.draws = 2}, {}); }) == "draws");
}

TEST_CASE("gibbs_pool: chains that have not converged are an error unless allowed",
          "[sim][potts]") {
  // A ferromagnet deep in its ordered phase: two colours that never mix.
  const PottsModel frozen(
      MatrixXd::Ones(24, 24) - MatrixXd::Identity(24, 24), MatrixXd::Identity(2, 2), 0.5);
  GibbsPoolOptions options{.chains = 100, .burn_in = 50};
  try {
    (void)gibbs_pool(frozen, options, {.seed = 1});
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::numerical);
  }
  options.allow_unconverged = true;
  CHECK(gibbs_pool(frozen, options, {.seed = 1}).sequences.rows() == 100);
}

TEST_CASE("gibbs_pool: states of one chain are as good as those of many", "[sim][potts]") {
  // Two spins with P(equal) = e^b/(e^b + 1): a chain forgets its state within a sweep or two.
  constexpr double kBeta = 0.7;
  const PottsModel pair(
      MatrixXd::Ones(2, 2) - MatrixXd::Identity(2, 2), MatrixXd::Identity(2, 2), kBeta);
  const GibbsPoolOptions options{.chains = 1000, .burn_in = 40, .draws = 40};
  const Sequences pool = gibbs_pool(pair, options, {.seed = 3}).sequences;
  REQUIRE(pool.rows() == 40000);
  const auto equal = [](const auto& rows) {
    return (rows.col(0).array() == rows.col(1).array()).template cast<double>().mean();
  };
  const double share = std::exp(kBeta) / (std::exp(kBeta) + 1);
  const double deviation = std::sqrt(share * (1 - share));
  CHECK(std::abs(equal(pool) - share) < 4 * deviation / std::sqrt(40000.0));
  // The first states are those of a pool of one draw, the last ones those of no other chain's.
  GibbsPoolOptions one = options;
  one.draws = 1;
  CHECK(gibbs_pool(pair, one, {.seed = 3}).sequences == pool.topRows(1000));
  CHECK(std::abs(equal(pool.bottomRows(1000)) - share) < 4 * deviation / std::sqrt(1000.0));
}
