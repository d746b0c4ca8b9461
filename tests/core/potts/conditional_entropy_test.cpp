#include "attica/core/potts/conditional_entropy.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/potts/ensembles.hpp"
#include "attica/core/potts/enumeration.hpp"
#include "core/reference_models.hpp"
#include "refused.hpp"

using namespace attica;
using namespace attica::testing;
using Catch::Matchers::WithinAbs;
using Eigen::Index;
using Eigen::MatrixXd;

namespace potts_conditional_entropy_test {

// Entropies of up to 5000 states, differences of numbers below 10.
constexpr double kTolerance = 1e-13;

TEST_CASE("mean_conditional_entropy: is the entropy of the conditionals, state by state",
          "[core][potts]") {
  RandomStream stream({.seed = 2, .id = StreamId::model});
  for (const auto& [sites, colours] : {std::pair<Index, Index>{2, 2}, {5, 3}, {7, 2}, {4, 8}}) {
    for (const double beta : {0.3, 2.0, -1.5, 40.0}) {
      const PottsModel model(
          gaussian_couplings(sites, stream), gaussian_colour_couplings(colours, stream), beta);
      const PottsEnumeration all = enumerate(model);
      INFO("L = " << sites << ", C = " << colours << ", beta = " << beta);
      CHECK_THAT(mean_conditional_entropy(all.states, colours),
                 WithinAbs(bayes_loss(model, all.states), kTolerance));
    }
  }
}

TEST_CASE("mean_conditional_entropy: free sites leave everything open, frozen ones nothing",
          "[core][potts]") {
  const PottsModel free(ring_couplings(5), MatrixXd::Zero(4, 4), 1);
  CHECK_THAT(mean_conditional_entropy(enumerate(free).states, 4),
             WithinAbs(std::log(4.0), kTolerance));
  const PottsModel frozen(ring_couplings(6), potts_colour_couplings(3), 200);
  CHECK_THAT(mean_conditional_entropy(enumerate(frozen).states, 3), WithinAbs(0, kTolerance));
}

TEST_CASE("mean_conditional_entropy: takes all states only", "[core][potts]") {
  WeightedSequences some = enumerate(cosine_model(4, 3, 1)).states;
  some = equally_weighted(some.sequences.topRows(80));
  CHECK(refused([&] { (void)mean_conditional_entropy(some, 3); }) == "states");
}

TEST_CASE("enumerate: the energies of all states, in their order", "[core][potts]") {
  // From the energies of shorter sequences, against one sum for every state: the same additions.
  RandomStream stream({.seed = 4, .id = StreamId::model});
  const PottsModel model(gaussian_couplings(6, stream), gaussian_colour_couplings(3, stream), 1.3);
  const PottsEnumeration all = enumerate(model);
  const PottsEnumeration direct =
      enumerate_states(6, 3, [&](const std::uint8_t* s) { return model.reduced_energy(s); });
  REQUIRE(all.states.sequences.rows() == 729);
  CHECK(all.states.sequences == direct.states.sequences);
  CHECK((all.states.weights - direct.states.weights).cwiseAbs().maxCoeff() < 1e-16);
  CHECK_THAT(all.log_partition, WithinAbs(direct.log_partition, kTolerance));
  // Site 0 is the slowest digit.
  for (Index n = 0; n < 729; ++n) {
    Index number = 0;
    for (Index i = 0; i < 6; ++i) number = 3 * number + all.states.sequences(n, i);
    REQUIRE(number == n);
  }
}

}  // namespace potts_conditional_entropy_test
