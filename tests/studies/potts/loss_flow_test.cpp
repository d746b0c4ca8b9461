#include <catch2/catch.hpp>
#include <cmath>

#include "configured_study.hpp"

using namespace attica;
using attica::testing::curves_of;
using attica::testing::made;
using attica::testing::refusal;
using Catch::Contains;
using Catch::Matchers::WithinRel;

namespace studies_potts_loss_flow_test {

TEST_CASE("potts-loss-flow: the first step of descent, by its own gradient",
          "[studies][potts][study:potts-loss-flow]") {
  // Batches of all: what is left is descent on the population. From a start near 0 logits are small
  // and a network guesses.
  const auto experiment = made(study_named("potts-loss-flow"),
                               {{"sim.steps", List{1, 4}},
                                {"sim.deviation", 1e-3},
                                {"sim.scale_factored", 1e-3},
                                {"theory.pairs", 2}});
  const TheoryResult theory = experiment->theory(TheoryGrid::requested);
  const std::vector<Series> losses = curves_of(theory, "descent_loss");
  REQUIRE(losses.size() == 3);
  for (const Series& loss : losses) {
    CHECK_THAT(loss.y.front(), WithinRel(std::log(3.0), 1e-3));
    CHECK(loss.y.back() < loss.y.front());
  }
  CHECK(curves_of(theory, "slope").size() == 8 + 12);  // of one layer and of two
}

TEST_CASE("potts-loss-flow: bad input names the parameter", "[studies][potts]") {
  const Study study = study_named("potts-loss-flow");
  CHECK_THAT(refusal(study, {{"model.sites", 30}}), Contains("model.sites"));
}

}  // namespace studies_potts_loss_flow_test
