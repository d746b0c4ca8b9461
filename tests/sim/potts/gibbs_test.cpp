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
